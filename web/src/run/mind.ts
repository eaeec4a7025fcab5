/** The panel of a brain: what it senses, what it tends to do, what its units do, what its weights are. */
import { colour, theme } from "./draw";
import { make } from "./parts";
import type { Case, Frame } from "./types";

const MOST_BARS = 12;
const UNITS = ["net.units", "activation", "now", "net.potential", "readout.phi"];
const TENDENCIES: [string, string][] = [["choice.votes", "votes"], ["readout.outputs", "preference"]];

function bars(title: string, names: string[], values: ArrayLike<number>, marked = -1): Node[] {
  const shown = Array.from({ length: Math.min(values.length, names.length, MOST_BARS) }, (_, n) => values[n]!);
  const largest = Math.max(1e-9, ...shown.map(Math.abs));
  const scale = largest <= 1 ? 1 : largest;
  const rows = shown.flatMap((value, n) => {
    const meter = make("meter", { min: 0, max: 1, value: Math.min(1, Math.abs(value) / scale), "aria-label": `${names[n]} ${value.toFixed(2)}` });
    const word = make("span", {}, names[n]!);
    if (n === marked) word.style.fontWeight = "700";
    return [word, meter, make("span", {}, value.toFixed(2))];
  });
  return rows.length ? [make("b", {}, title), make("span"), make("span"), ...rows] : [];
}

/** Numbers as a strip of colours: blue below 0, orange above. */
function strip(title: string, values: Float32Array): Node[] {
  if (!values.length) return [];
  const columns = Math.min(values.length, 128);
  const rows = Math.ceil(values.length / columns);
  const canvas = make("canvas", { width: columns, height: rows, role: "img", "aria-label": `${title}: ${values.length} numbers` });
  const pen = canvas.getContext("2d")!;
  let largest = 1e-9;
  for (const value of values) if (Number.isFinite(value)) largest = Math.max(largest, Math.abs(value));
  pen.fillStyle = theme().surface;
  pen.fillRect(0, 0, columns, rows);
  values.forEach((value, n) => {
    if (!Number.isFinite(value)) return;
    pen.globalAlpha = Math.min(1, Math.abs(value) / largest);
    pen.fillStyle = colour(value < 0 ? "brain" : "reference");
    pen.fillRect(n % columns, Math.floor(n / columns), 1, 1);
  });
  return [make("b", {}, title), canvas];
}

/** What a network puts out: a preference for each action and a value, or the value of each action. */
function outputs(given: Case, values: Float32Array, actions: string[], chosen: number): Node[] {
  const title = values.length === given.choices ? "value of" : "preference";
  const expects = values.length === given.choices + 1 ? bars("expects", ["value"], [values[given.choices]!]) : [];
  return [...bars(title, actions, values.subarray(0, given.choices), chosen), ...expects];
}

export function showMind(panel: HTMLElement, given: Case, frame: Frame, weights: Record<string, Float32Array>): void {
  const chosen = given.choices ? Math.round(frame.action[0]!) : -1;
  const actions = given.choices ? given.choice_names : Array.from(frame.action, (_, n) => `effector ${n + 1}`);
  const tendency = TENDENCIES.find(([name]) => frame.mind[name]?.length);
  const units = UNITS.find((name) => frame.mind[name]?.length);
  const count = given.choices || frame.action.length;
  panel.replaceChildren(
    ...bars("senses", given.sensors, frame.obs),
    ...(given.choices && frame.mind["outputs"] ? outputs(given, frame.mind["outputs"], actions, chosen) : []),
    ...(tendency && given.choices ? bars(tendency[1], actions, frame.mind[tendency[0]]!.subarray(0, count), chosen) : []),
    ...(given.choices ? [make("b", {}, "does"), make("span", {}, actions[chosen] ?? String(chosen)), make("span")] : bars("does", actions, frame.action)),
    ...(units ? strip("units", frame.mind[units]!) : []),
    ...Object.entries(weights).slice(0, 3).flatMap(([name, values]) => strip(`weights (${name})`, values)),
  );
}
