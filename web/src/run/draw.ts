/** Draws the rows that a world's scene writes (src/nematodebench/kernels/scene.py says what they mean) on a canvas. */
import palette from "../../../src/nematodebench/drawing/palette.json";
import type { Frame, Picture } from "./types";

type Role = keyof typeof palette.light.roles;
type Theme = typeof palette.light;
const ROLES: Role[] = ["brain", "reference", "null", "blind", "danger", "food", "wall", "ray", "ink", "muted", "paper"];
const enum Kind { disc, ring, line, rectangle, triangle, label, body, trace, bar, readout }
const COLUMNS = 8;
const SIDE = 64;

export const theme = (): Theme => {
  const told = document.documentElement.dataset["theme"] ?? document.documentElement.dataset["mdColorScheme"];
  const dark = told ? /dark|slate/.test(told) : matchMedia("(prefers-color-scheme: dark)").matches;
  return dark ? palette.dark : palette.light;
};

export const colour = (role: string): string => theme().roles[role as Role] ?? theme().roles.ink;

interface Row { kind: number; role: Role; x: number; y: number; a: number; b: number; c: number; value: number }

export function rowsOf(frame: Frame): Row[] {
  const found: Row[] = [];
  for (let at = 0; at < frame.rows.length; at += COLUMNS) {
    const [kind, role, x, y, a, b, c, value] = frame.rows.subarray(at, at + COLUMNS) as unknown as number[];
    found.push({ kind: kind!, role: ROLES[role!] ?? "ink", x: x!, y: y!, a: a!, b: b!, c: c!, value: value! });
  }
  return found;
}

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

export class Painter {
  private readonly pen: CanvasRenderingContext2D;
  private readonly raster = document.createElement("canvas");
  private scale = 1;
  private left = 0;
  private top = 0;

  constructor(private readonly canvas: HTMLCanvasElement, private readonly picture: Picture) {
    this.pen = canvas.getContext("2d")!;
    this.raster.width = this.raster.height = SIDE;
  }

  private readonly x = (x: number) => this.left + (x - this.picture.view[0]) * this.scale;
  private readonly y = (y: number) => this.top + (this.picture.view[3] - y) * this.scale;

  /** Draws a moment with what lies behind it; ghosts are drawn faintly on top, each in the colour of its role. */
  draw(frames: Frame[], at: number, ghosts: { frames: Frame[]; role: Role }[] = []): void {
    const frame = frames[at];
    if (!frame) return;
    const [left, bottom, right, top] = this.picture.view;
    const box = this.canvas.getBoundingClientRect();
    const dots = window.devicePixelRatio || 1;
    const width = Math.max(1, Math.round(box.width * dots));
    const height = Math.max(1, Math.round((width * (top - bottom)) / (right - left)));
    if (this.canvas.width !== width || this.canvas.height !== height) [this.canvas.width, this.canvas.height] = [width, height];
    this.scale = width / (right - left);
    this.left = this.top = 0;
    this.pen.globalAlpha = 1;
    this.pen.fillStyle = theme().surface;
    this.pen.fillRect(0, 0, width, height);
    if (this.picture.field && frame.field) this.field(frame.field, width, height);
    rowsOf(frame).forEach((row, n) => this.row(row, n, frames, at));
    for (const ghost of ghosts) this.ghost(ghost.frames, Math.min(at, ghost.frames.length - 1), ghost.role);
  }

  private field(values: Uint8Array, width: number, height: number): void {
    const pen = this.raster.getContext("2d")!;
    const image = pen.createImageData(SIDE, SIDE);
    for (let n = 0; n < values.length; n++) {
      const target = 4 * ((SIDE - 1 - Math.floor(n / SIDE)) * SIDE + (n % SIDE));
      image.data.set(shade(values[n]!), target);
      image.data[target + 3] = 255;
    }
    pen.putImageData(image, 0, 0);
    this.pen.drawImage(this.raster, 0, 0, width, height);
  }

  private row(row: Row, n: number, frames: Frame[], at: number): void {
    const { pen, scale } = this;
    const colours = theme().roles[row.role];
    pen.globalAlpha = Math.min(1, Math.max(0, row.kind === Kind.label || row.kind === Kind.trace ? 1 : row.value));
    pen.fillStyle = pen.strokeStyle = colours;
    pen.lineCap = pen.lineJoin = "round";
    const [x, y] = [this.x(row.x), this.y(row.y)];
    switch (row.kind) {
      case Kind.disc:
      case Kind.ring:
        pen.lineWidth = Math.max(1, row.b * scale);
        pen.beginPath();
        pen.arc(x, y, Math.max(1, row.a * scale), 0, 2 * Math.PI);
        if (row.kind === Kind.disc) pen.fill();
        else pen.stroke();
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
        this.turned(x, y, row.c, () => {
          pen.beginPath();
          pen.moveTo((row.a * scale) / 2, 0);
          pen.lineTo((-row.a * scale) / 2, (row.b * scale) / 2);
          pen.lineTo((-row.a * scale) / 2, (-row.b * scale) / 2);
          pen.fill();
        });
        break;
      case Kind.label: {
        const number = row.c >= 0 ? row.value.toFixed(row.c) : "";
        pen.font = `${Math.max(9, row.b * scale)}px system-ui, sans-serif`;
        pen.textAlign = "center";
        pen.textBaseline = "middle";
        pen.fillText([row.a >= 0 ? this.picture.words[row.a] : "", number].filter(Boolean).join(" "), x, y);
        break;
      }
      case Kind.body:
        this.body(row, n, frames, at);
        break;
      case Kind.trace:
        this.trace(row, n, frames, at);
        break;
    }
    pen.globalAlpha = 1;
  }

  private turned(x: number, y: number, angle: number, draw: () => void): void {
    this.pen.save();
    this.pen.translate(x, y);
    this.pen.rotate(-angle);
    draw();
    this.pen.restore();
  }

  /** Rows of the same kind at the same place among all rows, in the past. */
  private past(n: number, frames: Frame[], at: number, count: number): Row[] {
    const found: Row[] = [];
    for (let t = Math.max(0, at - count); t <= at; t++) {
      const row = rowsOf(frames[t]!)[n];
      if (row) found.push(row);
    }
    return found;
  }

  private body(row: Row, n: number, frames: Frame[], at: number): void {
    const { pen } = this;
    const radius = Math.max(2.5 * (window.devicePixelRatio || 1), row.a * this.scale);
    const past = this.past(n, frames, at, this.picture.trail).filter((one) => one.kind === Kind.body);
    const far = (this.picture.view[2] - this.picture.view[0]) / 2;
    for (let t = 1; t < past.length; t++) {
      const [from, to] = [past[t - 1]!, past[t]!];
      if (Math.hypot(to.x - from.x, to.y - from.y) > far) continue;
      pen.globalAlpha = 0.5 * (t / past.length) * row.value;
      pen.lineWidth = Math.max(1.5, radius * 0.4);
      pen.beginPath();
      pen.moveTo(this.x(from.x), this.y(from.y));
      pen.lineTo(this.x(to.x), this.y(to.y));
      pen.stroke();
    }
    pen.globalAlpha = row.value;
    if (row.b > 0) this.worm(past, row, radius, far);
    pen.beginPath();
    pen.arc(this.x(row.x), this.y(row.y), radius, 0, 2 * Math.PI);
    pen.fill();
    if (row.b < 0) return; // a ball has no front
    pen.lineWidth = Math.max(1, radius * 0.35);
    pen.strokeStyle = theme().background;
    pen.beginPath();
    pen.moveTo(this.x(row.x), this.y(row.y));
    pen.lineTo(this.x(row.x) + 0.85 * radius * Math.cos(row.c), this.y(row.y) - 0.85 * radius * Math.sin(row.c));
    pen.stroke();
  }

  /** The body follows the head along its path; before there is one it lies straight behind. */
  private worm(past: Row[], row: Row, radius: number, far: number): void {
    const { pen } = this;
    const points: [number, number][] = [[row.x, row.y]];
    let left = row.b;
    for (let t = past.length - 2; t >= 0 && left > 0; t--) {
      const [px, py] = points.at(-1)!;
      const [dx, dy] = [past[t]!.x - px, past[t]!.y - py];
      const length = Math.hypot(dx, dy);
      if (length > far) break;
      if (length === 0) continue;
      const part = Math.min(1, left / length);
      points.push([px + part * dx, py + part * dy]);
      left -= length;
    }
    const [px, py] = points.at(-1)!;
    if (left > 0) points.push([px - left * Math.cos(row.c), py - left * Math.sin(row.c)]);
    pen.lineWidth = 1.5 * radius;
    pen.beginPath();
    points.forEach(([x, y], n) => (n ? pen.lineTo(this.x(x), this.y(y)) : pen.moveTo(this.x(x), this.y(y))));
    pen.stroke();
  }

  private trace(row: Row, n: number, frames: Frame[], at: number): void {
    const { pen, scale } = this;
    const past = this.past(n, frames, at, Math.max(1, Math.round(row.c)));
    pen.lineWidth = Math.max(1.5, 1.5 * (window.devicePixelRatio || 1));
    pen.beginPath();
    past.forEach((one, t) => {
      const x = this.x(row.x) - ((past.length - 1 - t) * row.a * scale) / Math.max(1, row.c);
      const y = this.y(row.y + one.b * one.value);
      if (t) pen.lineTo(x, y);
      else pen.moveTo(x, y);
    });
    pen.stroke();
  }

  /** Only the bodies of another run, each as a ring with its path. */
  private ghost(frames: Frame[], at: number, role: Role): void {
    const { pen } = this;
    const frame = frames[at];
    if (!frame) return;
    pen.strokeStyle = theme().roles[role];
    rowsOf(frame).forEach((row, n) => {
      if (row.kind !== Kind.body || row.role !== "brain") return;
      pen.globalAlpha = 0.6;
      pen.lineWidth = 2 * (window.devicePixelRatio || 1);
      const far = (this.picture.view[2] - this.picture.view[0]) / 2;
      const past = this.past(n, frames, at, this.picture.trail);
      pen.beginPath();
      past.forEach((one, t) => {
        const jump = t > 0 && Math.hypot(one.x - past[t - 1]!.x, one.y - past[t - 1]!.y) > far;
        if (t && !jump) pen.lineTo(this.x(one.x), this.y(one.y));
        else pen.moveTo(this.x(one.x), this.y(one.y));
      });
      pen.stroke();
      pen.beginPath();
      pen.arc(this.x(row.x), this.y(row.y), Math.max(4, row.a * this.scale), 0, 2 * Math.PI);
      pen.stroke();
    });
    pen.globalAlpha = 1;
  }
}
