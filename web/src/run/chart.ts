/** A learning curve with the lines it is read against, as SVG. */
import { colour, theme } from "./draw";

export interface Line { name: string; role: string; value: number }

const SVG = "http://www.w3.org/2000/svg";
const [HEIGHT, LEFT, BOTTOM, TOP, RIGHT] = [280, 46, 34, 40, 12];
/** A chart is as wide as its place, so that its letters keep their size on a phone. */
const [NARROWEST, WIDEST] = [280, 800];
const STEPS = [1, 2, 5, 10];

function node(tag: string, given: Record<string, string | number>, text = ""): SVGElement {
  const found = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(given)) found.setAttribute(name, String(value));
  found.textContent = text;
  return found;
}

/** Means over a window that ends at each episode. */
export function smoothed(values: number[], width: number): number[] {
  let sum = 0;
  return values.map((value, n) => {
    sum += value - (n >= width ? values[n - width]! : 0);
    return sum / Math.min(n + 1, width);
  });
}

/** Round numbers between two ends, about four of them. */
export function ticks(low: number, high: number): number[] {
  const rough = (high - low) / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * STEPS.find((one) => one * power >= rough * 0.999)!;
  const first = Math.ceil(low / step - 1e-9);
  return Array.from({ length: Math.floor(high / step + 1e-9) - first + 1 }, (_, n) => Number(((first + n) * step).toPrecision(6)));
}

export function chart(title: string, of: number, points: [number, number][], lines: Line[], room: number): SVGElement {
  const width = Math.round(Math.min(WIDEST, Math.max(NARROWEST, room)));
  const all = [...points.map(([, y]) => y), ...lines.map((line) => line.value)];
  const [least, most] = [Math.min(...all, 0), Math.max(...all, 0.001)];
  const space = 0.06 * (most - least);
  const [low, high] = [least - space, most + space];
  const x = (n: number) => LEFT + ((width - LEFT - RIGHT) * n) / Math.max(1, of);
  const y = (v: number) => TOP + ((HEIGHT - TOP - BOTTOM) * (high - v)) / (high - low);
  const svg = node("svg", { viewBox: `0 0 ${width} ${HEIGHT}`, class: "nb-lines", role: "img", "aria-label": title, "font-size": 13, "font-family": "system-ui, sans-serif" });
  const [ink, hair] = [theme().roles.ink, theme().hairline];
  const text = (words: string, given: Record<string, string | number>) => svg.append(node("text", { fill: ink, ...given }, words));
  svg.append(node("line", { x1: LEFT, x2: width - RIGHT, y1: HEIGHT - BOTTOM, y2: HEIGHT - BOTTOM, stroke: hair }));
  for (const value of ticks(low, high)) {
    svg.append(node("line", { x1: LEFT, x2: width - RIGHT, y1: y(value), y2: y(value), stroke: hair, "stroke-opacity": 0.6 }));
    text(String(value), { x: LEFT - 6, y: y(value) + 4, "text-anchor": "end" });
  }
  text("reward of an episode", { x: 0, y: 14 });
  text("1", { x: LEFT, y: HEIGHT - 12 });
  text(`episode ${of}`, { x: width - RIGHT, y: HEIGHT - 12, "text-anchor": "end" });
  let above = Infinity;
  for (const line of [...lines].sort((a, b) => a.value - b.value)) {
    const at = y(line.value);
    const place = Math.min(at - 5, above - 16);
    above = place;
    svg.append(node("line", { x1: LEFT, x2: width - RIGHT, y1: at, y2: at, stroke: colour(line.role), "stroke-dasharray": "5 4", "stroke-width": 1.5 }));
    text(line.name, { x: width - RIGHT, y: place, "text-anchor": "end", stroke: theme().background, "stroke-width": 4, "paint-order": "stroke" });
  }
  svg.append(node("polyline", { points: points.map(([n, v]) => `${x(n).toFixed(1)},${y(v).toFixed(1)}`).join(" "), fill: "none", stroke: colour("brain"), "stroke-width": 2.5, "stroke-linejoin": "round" }));
  return svg;
}
