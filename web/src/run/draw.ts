/** Draws the rows that a world's scene writes (src/nematodebench/kernels/scene.py says what they mean) on a canvas. */
import palette from "../../../src/nematodebench/drawing/palette.json";
import { disc, drawBody, drawTrail, type Body, type Ground, type Point } from "./bodies";
import type { Frame, Picture } from "./types";

type Role = keyof typeof palette.light.roles;
type Theme = typeof palette.light;
const ROLES: Role[] = ["brain", "reference", "null", "blind", "danger", "food", "wall", "ray", "ink", "muted", "paper"];
const enum Kind { disc, ring, line, rectangle, triangle, label, body, trace, bar, readout }
const COLUMNS = 8;
const SIDE = 64;
/** A longer way, as a share of the view, was not walked. */
const JUMP = 0.3;
const MOVING = new Set([Kind.body, Kind.ring, Kind.line, Kind.triangle]);

export const theme = (): Theme => {
  const told = document.documentElement.dataset["theme"] ?? document.documentElement.dataset["mdColorScheme"];
  const dark = told ? /dark|slate/.test(told) : matchMedia("(prefers-color-scheme: dark)").matches;
  return dark ? palette.dark : palette.light;
};

export const colour = (role: string): string => theme().roles[role as Role] ?? theme().roles.ink;

interface Row { kind: number; role: Role; x: number; y: number; a: number; b: number; c: number; value: number }

function rowAt(frame: Frame, n: number): Row | null {
  const [kind, role, x, y, a, b, c, value] = frame.rows.subarray(n * COLUMNS, (n + 1) * COLUMNS) as unknown as number[];
  return value === undefined ? null : { kind: kind!, role: ROLES[role!] ?? "ink", x: x!, y: y!, a: a!, b: b!, c: c!, value };
}

export const rowsOf = (frame: Frame): Row[] => Array.from({ length: frame.rows.length / COLUMNS }, (_, n) => rowAt(frame, n)!);

/** Bars and numbers stand beside the picture. */
export interface Gauge { word: string; role: Role; share?: number; text?: string }

export function gauges(frame: Frame, picture: Picture): Gauge[] {
  return rowsOf(frame)
    .filter((row) => row.kind === Kind.bar || row.kind === Kind.readout)
    .map((row) => {
      const word = picture.words[row.a] ?? "";
      return row.kind === Kind.bar ? { word, role: row.role, share: row.value } : { word, role: row.role, text: row.value.toFixed(row.b) };
    });
}

const RAMP = palette.field.map((text) => [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16)));
const [LEAST, MOST] = [0.06, 0.62]; // how much of the field's colour is seen where it is 0 and where it is 1

/** The ramp, softened towards the ground so that things on it are seen. What is much stands out from the ground. */
function shade(value: number): [number, number, number] {
  const share = value / 255;
  const place = (theme().field_reversed ? 1 - share : share) * (RAMP.length - 1);
  const [low, high] = [RAMP[Math.floor(place)]!, RAMP[Math.ceil(place)]!];
  const rest = place - Math.floor(place);
  const weight = LEAST + (MOST - LEAST) * share;
  const ground = [1, 3, 5].map((at) => parseInt(theme().surface.slice(at, at + 2), 16));
  return [0, 1, 2].map((n) => weight * (low[n]! * (1 - rest) + high[n]! * rest) + (1 - weight) * ground[n]!) as [number, number, number];
}

/** Of a moment between two frames: what moves is on its way, what is new or gone is not. */
function tween(before: Row[], after: Row[], share: number, jump: Point): Row[] {
  if (!share || before.length !== after.length) return before;
  const near = (one: number, other: number, most: number) => Math.abs(one - other) <= most;
  return before.map((row, n) => {
    const next = after[n]!;
    const moves = MOVING.has(row.kind) && next.kind === row.kind && next.role === row.role && near(row.x, next.x, jump[0]) && near(row.y, next.y, jump[1]);
    if (!moves) return row;
    const mix = (one: number, other: number) => one + share * (other - one);
    const moved = { ...row, x: mix(row.x, next.x), y: mix(row.y, next.y) };
    if (row.kind === Kind.line) return near(row.a, next.a, jump[0]) && near(row.b, next.b, jump[1]) ? { ...moved, a: mix(row.a, next.a), b: mix(row.b, next.b) } : row;
    if (row.kind !== Kind.ring) moved.c = row.c + share * Math.atan2(Math.sin(next.c - row.c), Math.cos(next.c - row.c));
    return moved;
  });
}

const moved = (row: Row, [dx, dy]: Point): Row => ({ ...row, x: row.x + dx, y: row.y + dy, ...(row.kind === Kind.line && { a: row.a + dx, b: row.b + dy }) });
const bodyOf = (row: Row): Body => ({ x: row.x, y: row.y, radius: row.a, length: row.b, heading: row.c, opacity: row.value });

/** Whether two rectangles are slices of one shape: of one width, turned alike, side by side, both translucent. */
function isNextSlice(before: Row, row: Row): boolean {
  if (row.kind !== Kind.rectangle || before.kind !== row.kind || row.value >= 1) return false;
  if (before.role !== row.role || before.a !== row.a || before.c !== row.c || before.value !== row.value) return false;
  const [dx, dy] = [row.x - before.x, row.y - before.y];
  const near = (one: number) => Math.abs(one - row.a) < 1e-3 * row.a;
  return near(dx * Math.cos(row.c) + dy * Math.sin(row.c)) && near(Math.hypot(dx, dy));
}

export class Painter {
  private readonly pen: CanvasRenderingContext2D;
  private readonly raster = document.createElement("canvas");
  private readonly veil = document.createElement("canvas");
  private scale = 1;
  private readonly jump: Point;

  constructor(private readonly canvas: HTMLCanvasElement, private readonly picture: Picture) {
    this.pen = canvas.getContext("2d")!;
    this.raster.width = this.raster.height = SIDE;
    const [left, bottom, right, top] = picture.view;
    this.jump = [JUMP * (right - left), JUMP * (top - bottom)];
  }

  private readonly x = (x: number) => (x - this.picture.view[0]) * this.scale;
  private readonly y = (y: number) => (this.picture.view[3] - y) * this.scale;

  private ground(pen: CanvasRenderingContext2D): Ground {
    return { pen, at: ([x, y]) => [this.x(x), this.y(y)], scale: this.scale, jump: this.jump, surface: theme().surface };
  }

  /**
   * Draws a moment with what lies behind it; ghosts are drawn faintly on top, each in the colour of its role.
   * `at` may lie between two frames.
   */
  draw(frames: Frame[], at: number, ghosts: { frames: Frame[]; role: Role }[] = []): void {
    const now = Math.floor(at);
    const frame = frames[now];
    if (!frame) return;
    this.fit();
    this.pen.globalAlpha = 1;
    this.pen.fillStyle = theme().surface;
    this.pen.fillRect(0, 0, this.canvas.width, this.canvas.height);
    if (this.picture.field && frame.field) this.field(frame.field);
    const rows = tween(rowsOf(frame), rowsOf(frames[Math.min(now + 1, frames.length - 1)]!), at - now, this.jump);
    const courses = rows.map((row, n) => (row.kind === Kind.body ? this.course(row, n, frames, now) : []));
    this.trails(rows, courses, () => 1);
    rows.forEach((row, n) => {
      if (n && isNextSlice(rows[n - 1]!, row)) return; // drawn with the first one
      const slices = [row];
      while (rows[n + slices.length] && isNextSlice(slices.at(-1)!, rows[n + slices.length]!)) slices.push(rows[n + slices.length]!);
      if (slices.length > 1) return this.together(slices);
      if (row.kind === Kind.ring && row.role === "wall") this.clearAround(row);
      for (const by of this.seenFrom(row)) this.row(moved(row, by), n, frames, now, courses[n]!.map(([x, y]): Point => [x + by[0], y + by[1]]));
    });
    for (const ghost of ghosts) this.ghost(ghost.frames, Math.min(at, ghost.frames.length - 1), ghost.role);
    this.pen.globalAlpha = 1;
  }

  /** By how much a row is moved to be seen: not at all, and on a torus also where it comes in on the other side. */
  private seenFrom(row: Row): Point[] {
    if (!this.picture.periodic) return [[0, 0]];
    const [left, bottom, right, top] = this.picture.view;
    const isLine = row.kind === Kind.line;
    const reach = isLine ? 0 : 1.25 * Math.max(row.a, row.kind === Kind.body ? row.b : 0);
    const [xs, ys] = isLine ? [[row.x, row.a], [row.y, row.b]] : [[row.x], [row.y]];
    const inside = (values: number[], by: number, low: number, high: number) => Math.min(...values) + by - reach < high && Math.max(...values) + by + reach > low;
    const shifts = (size: number) => [0, -size, size];
    return shifts(right - left).flatMap((dx) => shifts(top - bottom).map((dy): Point => [dx, dy])).filter(([dx, dy]) => inside(xs!, dx, left, right) && inside(ys!, dy, bottom, top));
  }

  private fit(): void {
    const [left, bottom, right, top] = this.picture.view;
    const width = Math.max(1, Math.round(this.canvas.getBoundingClientRect().width * (window.devicePixelRatio || 1)));
    const height = Math.max(1, Math.round((width * (top - bottom)) / (right - left)));
    for (const one of [this.canvas, this.veil]) if (one.width !== width || one.height !== height) [one.width, one.height] = [width, height];
    this.scale = width / (right - left);
  }

  private field(values: Uint8Array): void {
    const pen = this.raster.getContext("2d")!;
    const image = pen.createImageData(SIDE, SIDE);
    for (let n = 0; n < values.length; n++) {
      const target = 4 * ((SIDE - 1 - Math.floor(n / SIDE)) * SIDE + (n % SIDE));
      image.data.set(shade(values[n]!), target);
      image.data[target + 3] = 255;
    }
    pen.putImageData(image, 0, 0);
    this.pen.imageSmoothingQuality = "high";
    this.pen.drawImage(this.raster, 0, 0, this.canvas.width, this.canvas.height);
  }

  /** Places of a body, the latest first, each once as long as it stayed there. */
  private course(row: Row, n: number, frames: Frame[], now: number): Point[] {
    const found: Point[] = [[row.x, row.y]];
    const most = Math.max(this.picture.trail, 12) + 1;
    for (let t = now; t >= 0 && found.length <= most; t--) {
      const before = rowAt(frames[t]!, n);
      if (!before || before.kind !== Kind.body) break;
      const last = found.at(-1)!;
      if (before.x !== last[0] || before.y !== last[1]) found.push([before.x, before.y]);
    }
    return found;
  }

  /** The trails of all bodies, under everything else. */
  private trails(rows: Row[], courses: Point[][], strength: (row: Row) => number, role?: Role): void {
    const pen = this.veil.getContext("2d")!;
    pen.clearRect(0, 0, this.veil.width, this.veil.height);
    const ground = this.ground(pen);
    rows.forEach((row, n) => {
      if (row.kind === Kind.body && strength(row)) drawTrail(ground, bodyOf(row), courses[n]!, this.picture.trail, theme().roles[role ?? row.role]);
    });
    this.pen.globalAlpha = 1;
    this.pen.drawImage(this.veil, 0, 0);
  }

  private row(row: Row, n: number, frames: Frame[], now: number, course: Point[]): void {
    const { pen, scale } = this;
    const colours = theme().roles[row.role];
    const ground = this.ground(pen);
    pen.globalAlpha = Math.min(1, Math.max(0, row.kind === Kind.label || row.kind === Kind.trace ? 1 : row.value));
    pen.fillStyle = pen.strokeStyle = colours;
    pen.lineCap = pen.lineJoin = "round";
    const [x, y] = [this.x(row.x), this.y(row.y)];
    switch (row.kind) {
      case Kind.disc:
        if (row.value >= 1) disc(ground, [row.x, row.y], 1.25 * row.a, theme().surface, 0.85);
        disc(ground, [row.x, row.y], row.a, colours, row.value);
        break;
      case Kind.ring:
        pen.lineWidth = Math.max(1, row.b * scale);
        pen.beginPath();
        pen.arc(x, y, Math.max(1.6, row.a * scale - pen.lineWidth / 2), 0, 2 * Math.PI);
        pen.stroke();
        break;
      case Kind.line:
        pen.lineWidth = Math.max(1, row.c * scale);
        pen.beginPath();
        pen.moveTo(x, y);
        pen.lineTo(this.x(row.a), this.y(row.b));
        pen.stroke();
        break;
      case Kind.rectangle:
        this.turned(x, y, row.c, () => pen.fillRect((-row.a * scale) / 2, (-row.b * scale) / 2, row.a * scale, row.b * scale));
        break;
      case Kind.triangle:
        this.triangle(row, x, y);
        break;
      case Kind.label:
        this.label(row, x, y);
        break;
      case Kind.body:
        drawBody(ground, bodyOf(row), course, colours);
        break;
      case Kind.trace:
        this.trace(row, n, frames, now);
        break;
    }
    pen.globalAlpha = 1;
  }

  /** Rectangles as one: where they meet they are neither darker nor lighter. */
  private together(rows: Row[]): void {
    const { pen, scale } = this;
    [pen.fillStyle, pen.globalAlpha] = [theme().roles[rows[0]!.role], rows[0]!.value];
    pen.beginPath();
    for (const row of rows) {
      const [c, s] = [Math.cos(row.c) * scale, Math.sin(row.c) * scale];
      const corner = (u: number, v: number): Point => [this.x(row.x) + u * row.a * c - v * row.b * s, this.y(row.y) - u * row.a * s - v * row.b * c];
      pen.moveTo(...corner(-0.5, -0.5));
      for (const [u, v] of [[0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]] as Point[]) pen.lineTo(...corner(u, v));
      pen.closePath();
    }
    pen.fill();
    pen.globalAlpha = 1;
  }

  /** A ring of wall bounds the world: outside of it nothing is to be seen. */
  private clearAround(row: Row): void {
    const { pen } = this;
    [pen.fillStyle, pen.globalAlpha] = [theme().surface, 1];
    pen.beginPath();
    pen.rect(0, 0, this.canvas.width, this.canvas.height);
    pen.arc(this.x(row.x), this.y(row.y), row.a * this.scale, 0, 2 * Math.PI, true);
    pen.fill("evenodd");
  }

  private triangle(row: Row, x: number, y: number): void {
    const { pen } = this;
    const [long, wide] = [Math.max(3.2, row.a * this.scale), Math.max(3.2, row.b * this.scale)];
    const fill = (ahead: number, behind: number, aside: number) => this.turned(x, y, row.c, () => {
      pen.beginPath();
      pen.moveTo(ahead * long, 0);
      pen.lineTo(-behind * long, aside * wide);
      pen.lineTo(-behind * long, -aside * wide);
      pen.fill();
    });
    if (row.value >= 1) {
      [pen.fillStyle, pen.globalAlpha] = [theme().surface, 0.85];
      fill(0.78, 0.5, 0.66);
    }
    [pen.fillStyle, pen.globalAlpha] = [theme().roles[row.role], Math.min(1, row.value)];
    fill(0.6, 0.4, 0.5);
  }

  private label(row: Row, x: number, y: number): void {
    const { pen } = this;
    const number = row.c >= 0 ? row.value.toFixed(row.c) : "";
    pen.font = `${Math.max(9, row.b * this.scale)}px system-ui, sans-serif`;
    [pen.textAlign, pen.textBaseline] = ["center", "middle"];
    pen.fillText([row.a >= 0 ? this.picture.words[row.a] : "", number].filter(Boolean).join(" "), x, y);
  }

  private turned(x: number, y: number, angle: number, draw: () => void): void {
    this.pen.save();
    this.pen.translate(x, y);
    this.pen.rotate(-angle);
    draw();
    this.pen.restore();
  }

  /** The past of a number as a curve that ends where it is now. */
  private trace(row: Row, n: number, frames: Frame[], now: number): void {
    const { pen, scale } = this;
    const count = Math.max(1, Math.round(row.c));
    const past: number[] = [];
    for (let t = Math.max(0, now - count + 1); t <= now; t++) past.push(Math.min(1, Math.max(-1, rowAt(frames[t]!, n)?.value ?? 0)));
    const place = (t: number): Point => [this.x(row.x) - ((past.length - 1 - t) * row.a * scale) / count, this.y(row.y + row.b * past[t]!)];
    pen.lineWidth = Math.max(1.5, 0.04 * row.b * scale);
    pen.globalAlpha = 0.9;
    pen.beginPath();
    past.forEach((_, t) => (t ? pen.lineTo(...place(t)) : pen.moveTo(...place(t))));
    pen.stroke();
    pen.globalAlpha = 1;
    pen.beginPath();
    pen.arc(...place(past.length - 1), Math.max(1.6, 0.07 * row.b * scale), 0, 2 * Math.PI);
    pen.fill();
  }

  /** Only the bodies of another run, each as a ring with its path. */
  private ghost(frames: Frame[], at: number, role: Role): void {
    const { pen } = this;
    const now = Math.floor(at);
    if (!frames[now]) return;
    const rows = tween(rowsOf(frames[now]!), rowsOf(frames[Math.min(now + 1, frames.length - 1)]!), at - now, this.jump);
    const wanted = (row: Row) => row.kind === Kind.body && row.role === "brain";
    const courses = rows.map((row, n) => (wanted(row) ? this.course(row, n, frames, now) : []));
    this.trails(rows, courses, (row) => (wanted(row) ? 1 : 0), role);
    pen.strokeStyle = theme().roles[role];
    pen.lineWidth = 2 * (window.devicePixelRatio || 1);
    for (const row of rows.filter(wanted)) {
      pen.globalAlpha = 0.9;
      pen.beginPath();
      pen.arc(this.x(row.x), this.y(row.y), Math.max(4, row.a * this.scale), 0, 2 * Math.PI);
      pen.stroke();
    }
    pen.globalAlpha = 1;
  }
}
