/** The panel of a brain: what it senses, how it decides, what its units did up to now, and its weights. */
import { colour, theme } from "./draw";
import { make } from "./parts";
import { NOTHING, type Case, type Frame, type Mind } from "./types";

const MOST_BARS = 12;
const [MOST_STEPS, MOST_ROWS] = [160, 128];

/** A bar from 0 to a share; `signed` ones begin in the middle. What it says stands beside it in words. */
export function bar(share: number, role = "brain", signed = false): HTMLElement {
  const size = Math.min(1, Math.abs(share)) * (signed ? 50 : 100);
  const left = signed ? (share < 0 ? 50 - size : 50) : 0;
  const fill = make("i");
  [fill.style.left, fill.style.width, fill.style.background] = [`${left}%`, `${size}%`, colour(role)];
  return make("span", { class: signed ? "nb-bar nb-signed" : "nb-bar", "aria-hidden": "true" }, fill);
}

const section = (title: string, ...inside: Node[]): HTMLElement => make("section", {}, make("b", {}, title), ...inside);

/** Named numbers; what was chosen is marked. They share a scale: 1, or the largest of them. */
function bars(title: string, names: string[], values: ArrayLike<number>, isSigned: boolean, chosen = -1): HTMLElement[] {
  const shown = Array.from({ length: Math.min(values.length, names.length, MOST_BARS) }, (_, n) => values[n]!);
  if (!shown.length) return [];
  const scale = Math.max(1, ...shown.map(Math.abs));
  const rows = shown.flatMap((value, n) => {
    const mark: Record<string, string> = n === chosen ? { class: "nb-chosen" } : {};
    return [make("span", mark, names[n]!.replaceAll("_", " ")), bar(value / scale, n === chosen ? "reference" : "brain", isSigned), make("span", mark, value.toFixed(2))];
  });
  return [section(title, make("div", { class: "nb-gauges" }, ...rows))];
}

/** Colours of numbers on a canvas: blue below 0, orange above, the stronger the farther from it. */
function paint(canvas: HTMLCanvasElement, largest: number, numbers: (pixel: (x: number, y: number, value: number) => void) => void): void {
  const pen = canvas.getContext("2d")!;
  pen.fillStyle = theme().surface;
  pen.fillRect(0, 0, canvas.width, canvas.height);
  const [below, above] = [colour("brain"), colour("reference")];
  numbers((x, y, value) => {
    if (!value || !Number.isFinite(value)) return;
    pen.globalAlpha = Math.min(1, Math.abs(value) / largest);
    pen.fillStyle = value < 0 ? below : above;
    pen.fillRect(x, y, 1, 1);
  });
}

function largestOf(lists: Iterable<Float32Array>): number {
  let largest = 1e-9;
  for (const values of lists) for (const value of values) if (Number.isFinite(value)) largest = Math.max(largest, Math.abs(value));
  return largest;
}

/** What units did: a column a step up to now, a row a unit. */
function history(title: string, frames: Frame[], at: number, of: (mind: Mind) => Float32Array | undefined): HTMLElement[] {
  const count = Math.min(MOST_ROWS, of(frames[at]!.mind)?.length ?? 0);
  if (!count) return [];
  const steps = Math.min(MOST_STEPS, frames.length);
  const first = Math.max(0, at - steps + 1);
  const canvas = make("canvas", { class: "nb-raster", width: steps, height: count, role: "img", "aria-label": `${title}: ${count} of them in steps ${first} to ${at}` });
  canvas.style.height = `${Math.min(14, Math.max(4, count * 0.12))}rem`;
  const seen = frames.slice(first, at + 1).map((frame) => of(frame.mind) ?? new Float32Array());
  paint(canvas, largestOf(frames.map((frame) => of(frame.mind) ?? new Float32Array())), (pixel) =>
    seen.forEach((values, t) => values.forEach((value, n) => n < count && pixel(steps - seen.length + t, n, value))),
  );
  return [section(`${title}: a row for each of ${count}, now at the right`, canvas)];
}

function weightMaps(weights: Record<string, Float32Array>, shapes: Map<string, number[]>): HTMLElement[] {
  const maps = Object.entries(weights).filter(([, values]) => values.length).slice(0, 3).map(([name, values]) => {
    const shape = shapes.get(name) ?? [];
    const columns = shape.length === 2 ? Math.min(shape[1]!, 512) : Math.min(values.length, 128);
    const rows = Math.ceil(values.length / columns);
    const canvas = make("canvas", { class: "nb-raster", width: columns, height: rows, role: "img", "aria-label": `${name}: ${values.length} numbers` });
    canvas.style.height = `${Math.min(8, Math.max(1.5, rows * 0.12))}rem`;
    paint(canvas, largestOf([values]), (pixel) => values.forEach((value, n) => pixel(n % columns, Math.floor(n / columns), value)));
    return [make("span", { class: "nb-quiet" }, `${name.replaceAll("_", " ")} (${values.length.toLocaleString("en")})`), canvas];
  });
  return maps.length ? [section("what it has learned: blue below 0, orange above", ...maps.flat())] : [];
}

/** How it decides: chances, expectations or votes, and what it expects of the moment. */
function decision(given: Case, frame: Frame, frames: Frame[]): HTMLElement[] {
  const { mind } = frame;
  const chosen = given.choices ? Math.round(frame.action[0]!) : -1;
  const expects = mind.value === undefined ? [] : bars("what it expects of this moment", ["value"], [mind.value], true);
  if (!given.choices) {
    const names = given.effectors?.length ? given.effectors : Array.from(frame.action, (_, n) => `effector ${n + 1}`);
    return [...bars("what it does", names, frame.action, false), ...levels("how likely each level from 0 to 1 is", names, mind.chances), ...levels("what it expects of each level from 0 to 1", names, mind.worths), ...expects];
  }
  const names = given.choice_names;
  const isSigned = (of: (mind: Mind) => Float32Array | undefined) => frames.some((one) => of(one.mind)?.some((value) => value < 0));
  const told = mind.chances
    ? bars("how likely it does what (done: orange)", names, mind.chances, false, chosen)
    : mind.worths
      ? bars("what it expects of each action (done: orange)", names, mind.worths, isSigned((one) => one.worths), chosen)
      : mind.votes
        ? bars("what speaks for each action (done: orange)", names, mind.votes, isSigned((one) => one.votes), chosen)
        : bars("what it does", names, names.map((_, n) => Number(n === chosen)), false, chosen);
  return [...told, ...expects];
}

/** Effectors are chosen among levels: a row an effector, a cell a level, the darker the likelier or the better. */
function levels(title: string, names: string[], values?: Float32Array): HTMLElement[] {
  const count = values ? values.length / names.length : 0;
  if (!values || !Number.isInteger(count) || count < 2) return [];
  const canvas = make("canvas", { class: "nb-raster", width: count, height: names.length, role: "img", "aria-label": `${title}: ${count} levels of ${names.join(", ")}` });
  canvas.style.height = `${1.2 * names.length}rem`;
  paint(canvas, Math.max(1, largestOf([values])), (pixel) => values.forEach((value, n) => pixel(n % count, Math.floor(n / count), value)));
  return [section(`${title}: ${names.join(", ")}`, canvas)];
}

function believed({ belief }: Mind): HTMLElement[] {
  return belief ? bars("which hidden context it believes to be in", Array.from(belief, (_, n) => `context ${n + 1}`), belief, false) : [];
}

function quantum(mind: Mind): HTMLElement[] {
  if (!mind.basis || !mind.qubits) return [];
  const names = Array.from(mind.qubits, (_, q) => `qubit ${q + 1}`);
  const count = mind.basis.length;
  const canvas = make("canvas", { class: "nb-raster", width: count, height: 1, role: "img", "aria-label": `probabilities of ${count} basis states` });
  canvas.style.height = "1.5rem";
  paint(canvas, Math.max(...mind.basis), (pixel) => mind.basis!.forEach((value, n) => pixel(n, 0, value)));
  return [...bars("expectation of Z", names, mind.qubits, true), section(`how likely each of the ${count} basis states is`, canvas)];
}

export function showMind(panel: HTMLElement, given: Case, frames: Frame[], at: number, weights: Record<string, Float32Array>): void {
  const frame = frames[at]!;
  const isSigned = frames.some((one) => one.obs.some((value) => value < 0));
  const shapes = new Map(given.brain.fields.map((field) => [field.name, field.shape]));
  panel.replaceChildren(
    ...bars("what it senses", given.sensors, frame.obs, isSigned),
    ...decision(given, frame, frames),
    ...believed(frame.mind),
    ...quantum(frame.mind),
    ...history("spikes", frames, at, (mind) => mind.spikes),
    ...history(frame.mind.called ?? "units", frames, at, (mind) => mind.units),
    ...weightMaps(weights, shapes),
    ...(given.brain.learn === NOTHING && !Object.keys(weights).length ? [make("p", { class: "nb-quiet" }, "This brain follows a fixed rule: it learns nothing, so there is nothing else in it to show.")] : []),
  );
}
