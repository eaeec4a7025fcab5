/** A table as a picture: what the reader sees of it, as SVG that needs no style sheet. */

const SPACE = 12;
const coloured = (value: string): boolean => value !== "" && value !== "transparent" && !/rgba\(.*, 0\)$/.test(value);
const rounded = (value: number): string => String(Math.round(10 * value) / 10);

function node(name: string, given: Record<string, string | number>, text = ""): SVGElement {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(given)) made.setAttribute(key, typeof value === "number" ? rounded(value) : value);
  made.textContent = text;
  return made;
}

interface Piece { words: string; left: number; right: number; middle: number; inside: Element }

/** Adds the words of a text as they stand on its lines; parts of a name that may be broken are one again. */
function addPieces(text: Text, pieces: Piece[]): void {
  const range = document.createRange();
  for (const { 0: word, index } of text.data.matchAll(/\S+/g)) {
    range.setStart(text, index);
    range.setEnd(text, index + word.length);
    const box = range.getBoundingClientRect();
    if (!box.width) continue;
    const [last, middle, inside] = [pieces.at(-1), (box.top + box.bottom) / 2, text.parentElement!];
    if (last && last.inside === inside && Math.abs(last.middle - middle) < 2) {
      last.words += `${box.left - last.right > 1 ? " " : ""}${word}`;
      last.right = box.right;
    } else pieces.push({ words: word, left: box.left, right: box.right, middle, inside });
  }
}

function drawPiece({ words, left: start, right: end, middle, inside }: Piece, left: number, top: number): SVGElement {
  const style = getComputedStyle(inside);
  const size = Number.parseFloat(style.fontSize);
  const isRight = style.textAlign === "right";
  const at = { x: (isRight ? end : start) - left, "text-anchor": isRight ? "end" : "start" };
  const given = { ...at, y: middle - top + 0.35 * size, "font-size": size, "font-weight": style.fontWeight, "font-family": style.fontFamily, fill: style.color };
  return node("text", given, words);
}

/** Ground, hairline and marks of an element, as its style says. */
function drawBox(element: Element, left: number, top: number): SVGElement[] {
  const [style, box] = [getComputedStyle(element), element.getBoundingClientRect()];
  if (!box.width && !box.height) return [];
  const [x, y] = [box.left - left, box.top - top];
  const made: SVGElement[] = [];
  if (coloured(style.backgroundColor)) {
    const rx = Math.min(box.width / 2, style.borderRadius.endsWith("%") ? box.width / 2 : Number.parseFloat(style.borderRadius) || 0);
    made.push(node("rect", { x, y, width: box.width, height: box.height, rx, fill: style.backgroundColor }));
  }
  const under = Number.parseFloat(style.borderBottomWidth);
  if (under && style.borderBottomStyle !== "none") made.push(node("path", { d: `M${rounded(x)} ${rounded(y + box.height)}h${rounded(box.width)}`, stroke: style.borderBottomColor, "stroke-width": under }));
  const aside = Number.parseFloat(style.borderLeftWidth);
  if (aside && style.borderLeftStyle !== "none") {
    const dashes = { dotted: "1 3", dashed: "4 3" }[style.borderLeftStyle] ?? "none";
    made.push(node("path", { d: `M${rounded(x + aside / 2)} ${rounded(y)}v${rounded(box.height)}`, stroke: style.borderLeftColor, "stroke-width": aside, "stroke-dasharray": dashes }));
  }
  return made;
}

/** The table as it is shown now: sorted, filtered, in the colours of the page. */
export function pictureOf(table: HTMLTableElement): string {
  const whole = table.getBoundingClientRect();
  const [left, top] = [whole.left - SPACE, whole.top - SPACE];
  const [width, height] = [whole.width + 2 * SPACE, whole.height + 2 * SPACE];
  const picture = node("svg", { xmlns: "http://www.w3.org/2000/svg", width, height, viewBox: `0 0 ${rounded(width)} ${rounded(height)}` });
  picture.append(node("rect", { width, height, fill: getComputedStyle(document.documentElement).backgroundColor }));
  const walker = document.createTreeWalker(table, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT, (one) =>
    one instanceof Element && one.matches("tr.replay, script, button.go") ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT,
  );
  const pieces: Piece[] = [];
  for (let one = walker.nextNode(); one; one = walker.nextNode()) {
    if (one instanceof Text) addPieces(one, pieces);
    else picture.append(...drawBox(one as Element, left, top));
  }
  picture.append(...pieces.map((piece) => drawPiece(piece, left, top)));
  return picture.outerHTML;
}
