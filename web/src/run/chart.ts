/** A learning curve with the lines it is read against, as SVG. */
import { colour, theme } from "./draw";

export interface Line { name: string; role: string; value: number }

const SVG = "http://www.w3.org/2000/svg";
const [WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT] = [640, 260, 52, 34, 12, 12];

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

export function chart(title: string, of: number, points: [number, number][], lines: Line[]): SVGElement {
  const all = [...points.map(([, y]) => y), ...lines.map((line) => line.value)];
  const [least, most] = [Math.min(...all, 0), Math.max(...all, 0.001)];
  const room = 0.06 * (most - least);
  const [low, high] = [least - room, most + room];
  const x = (n: number) => LEFT + ((WIDTH - LEFT - RIGHT) * n) / Math.max(1, of);
  const y = (v: number) => TOP + ((HEIGHT - TOP - BOTTOM) * (high - v)) / (high - low);
  const svg = node("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "nb-lines", role: "img", "aria-label": title, "font-size": 13, "font-family": "system-ui, sans-serif" });
  const ink = theme().roles.ink;
  svg.append(node("line", { x1: LEFT, x2: WIDTH - RIGHT, y1: HEIGHT - BOTTOM, y2: HEIGHT - BOTTOM, stroke: theme().hairline }));
  for (const value of [least, (least + most) / 2, most]) {
    svg.append(node("text", { x: LEFT - 6, y: y(value) + 4, "text-anchor": "end", fill: ink }, value.toFixed(Math.abs(most - least) < 5 ? 2 : 0)));
  }
  svg.append(node("text", { x: LEFT, y: HEIGHT - 10, fill: ink }, "1"), node("text", { x: WIDTH - RIGHT, y: HEIGHT - 10, "text-anchor": "end", fill: ink }, `episode ${of}`));
  let above = Infinity;
  for (const line of [...lines].sort((a, b) => a.value - b.value)) {
    const at = y(line.value);
    const place = Math.min(at - 4, above - 14);
    above = place;
    svg.append(
      node("line", { x1: LEFT, x2: WIDTH - RIGHT, y1: at, y2: at, stroke: colour(line.role), "stroke-dasharray": "5 4", "stroke-width": 1.5 }),
      node("text", { x: WIDTH - RIGHT, y: Math.max(TOP, place), "text-anchor": "end", fill: colour(line.role) }, line.name),
    );
  }
  svg.append(node("polyline", { points: points.map(([n, v]) => `${x(n).toFixed(1)},${y(v).toFixed(1)}`).join(" "), fill: "none", stroke: colour("brain"), "stroke-width": 2.5, "stroke-linejoin": "round" }));
  return svg;
}
