/**
 * Bodies: a worm that bends along the way it came, a disc with a nose, a ball; behind each a trail that fades.
 * They look as src/nematodebench/drawing/bodies.py draws them.
 */

export type Point = [number, number];

/** What bodies are drawn on: a pen, and where places and lengths of the world lie on it. */
export interface Ground {
  pen: CanvasRenderingContext2D;
  at: (place: Point) => Point;
  scale: number;
  /** Places farther apart than this were not walked: the body came back on the other side, or began anew. */
  jump: Point;
  surface: string;
}

export interface Body { x: number; y: number; radius: number; length: number; heading: number; opacity: number }

const TAIL = 0.4;
const SMOOTHINGS = 3;
const TRAIL_OPACITY = 0.55;

const between = (from: Point, to: Point, share: number): Point => [from[0] + share * (to[0] - from[0]), from[1] + share * (to[1] - from[1])];
const distance = (one: Point, other: Point): number => Math.hypot(one[0] - other[0], one[1] - other[1]);
const walked = (ground: Ground, one: Point, other: Point): boolean => Math.abs(one[0] - other[0]) <= ground.jump[0] && Math.abs(one[1] - other[1]) <= ground.jump[1];

export function disc(ground: Ground, place: Point, radius: number, colour: string, opacity = 1): void {
  const { pen } = ground;
  pen.globalAlpha = Math.min(1, Math.max(0, opacity));
  pen.fillStyle = colour;
  pen.beginPath();
  pen.arc(...ground.at(place), Math.max(1.6, radius * ground.scale), 0, 2 * Math.PI);
  pen.fill();
}

/** Points from the head to the tail along the way it came; where that is too short, straight on behind it. */
function spine(ground: Ground, body: Body, course: Point[]): Point[] {
  const points: Point[] = [course[0]!];
  let left = body.length;
  for (const place of course.slice(1)) {
    const last = points.at(-1)!;
    const step = distance(last, place);
    if (!walked(ground, last, place)) break;
    points.push(step >= left ? between(last, place, left / step) : place);
    left -= step;
    if (left <= 0) break;
  }
  if (left > 0) {
    const [last, before] = [points.at(-1)!, points.at(-2)];
    const way = before ? distance(last, before) : 0;
    const back: Point = before && way > 1e-9 ? [(last[0] - before[0]) / way, (last[1] - before[1]) / way] : [-Math.cos(body.heading), -Math.sin(body.heading)];
    points.push([last[0] + left * back[0], last[1] + left * back[1]]);
  }
  return even(smooth(points), 0.25 * body.radius);
}

/** Cuts corners (Chaikin), keeping both ends. */
function smooth(points: Point[]): Point[] {
  for (let n = 0; n < SMOOTHINGS; n++) {
    const cut = points.slice(1).flatMap((late, k): Point[] => [between(points[k]!, late, 0.25), between(points[k]!, late, 0.75)]);
    points = [points[0]!, ...cut, points.at(-1)!];
  }
  return points;
}

/** Points at even distances along a line. */
function even(points: Point[], spacing: number): Point[] {
  const found: Point[] = [points[0]!];
  let needed = spacing;
  for (let n = 1; n < points.length; n++) {
    let [from, to] = [points[n - 1]!, points[n]!];
    let step = distance(from, to);
    while (step >= needed && step > 0) {
      from = between(from, to, needed / step);
      step = distance(from, to);
      found.push(from);
      needed = spacing;
    }
    needed -= step;
  }
  return found;
}

/** A tapering body with a halo and two eyes. */
function worm(ground: Ground, body: Body, course: Point[], colour: string): void {
  const { radius, heading, opacity } = body;
  const line = spine(ground, body, course);
  const width = (n: number) => radius * (1 - ((1 - TAIL) * n) / Math.max(1, line.length - 1));
  line.forEach((place, n) => disc(ground, place, width(n) + 0.22 * radius, ground.surface, opacity));
  for (let n = line.length - 1; n >= 0; n--) disc(ground, line[n]!, width(n), colour, opacity);
  const [x, y] = line[0]!;
  disc(ground, [x, y], 1.12 * radius, colour, opacity);
  for (const side of [0.7, -0.7]) {
    const eye: Point = [x + 0.62 * radius * Math.cos(heading + side), y + 0.62 * radius * Math.sin(heading + side)];
    if (0.3 * radius * ground.scale < 1.6) continue;
    disc(ground, eye, 0.3 * radius, ground.surface, opacity);
    disc(ground, [eye[0] + 0.08 * radius * Math.cos(heading), eye[1] + 0.08 * radius * Math.sin(heading)], 0.15 * radius, "#000", opacity);
  }
}

export function drawBody(ground: Ground, body: Body, course: Point[], colour: string): void {
  const { x, y, radius, heading, opacity } = body;
  if (body.length > 0) return worm(ground, body, course, colour);
  disc(ground, [x, y], 1.2 * radius, ground.surface, 0.85 * opacity);
  disc(ground, [x, y], radius, colour, opacity);
  if (body.length < 0) return; // a ball has no front
  const corner = (ahead: number, aside: number): Point => ground.at([
    x + radius * (ahead * Math.cos(heading) - aside * Math.sin(heading)), y + radius * (ahead * Math.sin(heading) + aside * Math.cos(heading)),
  ]);
  const { pen } = ground;
  pen.globalAlpha = opacity;
  pen.fillStyle = ground.surface;
  pen.beginPath();
  pen.moveTo(...corner(0.85, 0));
  pen.lineTo(...corner(0, 0.5));
  pen.lineTo(...corner(0, -0.5));
  pen.fill();
}

/** Pieces of a trail cover each other instead of adding up; the oldest are the faintest. */
export function drawTrail(ground: Ground, body: Body, course: Point[], length: number, colour: string): void {
  const { pen } = ground;
  pen.strokeStyle = colour;
  pen.lineCap = "round";
  pen.lineWidth = Math.max(1.5, 0.5 * body.radius * ground.scale);
  for (let age = Math.min(course.length - 1, length) - 1; age >= 0; age--) {
    const [to, from] = [course[age]!, course[age + 1]!];
    if (!walked(ground, to, from)) continue;
    pen.beginPath();
    pen.moveTo(...ground.at(from));
    pen.lineTo(...ground.at(to));
    pen.globalCompositeOperation = "destination-out";
    pen.globalAlpha = 1;
    pen.stroke();
    pen.globalCompositeOperation = "source-over";
    pen.globalAlpha = TRAIL_OPACITY * (1 - age / length) * body.opacity;
    pen.stroke();
  }
}
