/** Small helpers for elements: markup without strings that are parsed, and one style for all. */

type Child = Node | string;

/** An element with attributes and children; text is only ever text. */
export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K, given: Record<string, string | number | boolean> = {}, ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(given)) {
    if (typeof value === "boolean") element.toggleAttribute(name, value);
    else element.setAttribute(name, String(value));
  }
  element.append(...children);
  return element;
}

const STYLE = `
:root { --nb-accent: #0072b2; --nb-on-accent: #fff; } :root[data-theme=dark] { --nb-accent: #56b4e9; --nb-on-accent: #111; }
@media (prefers-color-scheme: dark) { :root:not([data-theme=light]) { --nb-accent: #56b4e9; --nb-on-accent: #111; } }
nb-run, nb-viewer, nb-play { display: block; font: inherit; color: inherit; max-width: 100%; } nb-viewer { max-width: 64rem; }
.nb-row { display: flex; flex-wrap: wrap; gap: .5rem .75rem; align-items: center; margin: .4rem 0; }
.nb-row button, .nb-row select, .nb-row input[type=number] { font: inherit; font-size: .9375rem; min-height: 2.25rem; padding: .2rem .7rem;
  border: 1px solid var(--muted, currentColor); border-radius: 5px; background: transparent; color: inherit; max-width: 100%; }
.nb-row select { max-width: 18rem; }
.nb-row option { color: initial; }
.nb-row button { cursor: pointer; } .nb-row button.nb-first { background: var(--nb-accent); border-color: var(--nb-accent); color: var(--nb-on-accent); font-weight: 600; }
.nb-row button:disabled { opacity: .45; cursor: default; }
.nb-row button[aria-pressed=true] { background: color-mix(in srgb, currentColor 18%, transparent); }
.nb-row input[type=range] { flex: 1 1 10rem; min-width: 6rem; accent-color: var(--nb-accent); } nb-viewer input[type=range], nb-play input[type=range] { padding: 0; border: 0; }
.nb-row progress { flex: 1 1 8rem; min-width: 6rem; height: .8rem; }
.nb-quiet { opacity: .75; font-size: .875em; }
.nb-hash { font: .8125em ui-monospace, monospace; overflow-wrap: anywhere; margin: .2rem 0; }
.nb-good { color: #00704f; font-weight: 600; } .nb-bad { color: #b34000; font-weight: 600; }
@media (prefers-color-scheme: dark) { :root:not([data-theme=light]) .nb-good { color: #1fc796 } :root:not([data-theme=light]) .nb-bad { color: #ff7a33 } }
:root[data-theme=dark] .nb-good { color: #1fc796 } :root[data-theme=dark] .nb-bad { color: #ff7a33 }
.nb-stage { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(17rem, 100%), 1fr)); gap: 1rem; }
.nb-stage figure { margin: 0; min-width: 0; } .nb-stage figcaption { margin-bottom: .3rem; font-weight: 600; }
.nb-stage canvas { width: 100%; display: block; border-radius: .4rem; }
.nb-gauges { display: grid; grid-template-columns: minmax(4.5rem, max-content) 1fr max-content; gap: .15rem .6rem; align-items: center;
  font-size: .8125rem; font-variant-numeric: tabular-nums; margin: .4rem 0; }
.nb-gauges p { grid-column: 1 / -1; display: flex; flex-wrap: wrap; gap: 0 1.25rem; margin: 0; } .nb-gauges b { font-weight: 600; }
.nb-bar { position: relative; display: block; height: .5rem; border-radius: .25rem; overflow: hidden; background: color-mix(in srgb, currentColor 12%, transparent); }
.nb-bar i { position: absolute; top: 0; bottom: 0; } .nb-signed { border-radius: 0; }
.nb-signed::after { content: ""; position: absolute; left: 50%; top: 0; bottom: 0; border-left: 1px solid currentColor; opacity: .5; }
.nb-mind { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(19rem, 100%), 1fr)); gap: 1.25rem 2rem; margin: .75rem 0; font-size: .8125rem; }
.nb-mind section { min-width: 0; } .nb-mind section > b { font-weight: 600; display: block; margin-bottom: .35rem; } .nb-chosen { font-weight: 600; }
.nb-raster { width: 100%; display: block; image-rendering: pixelated; border-radius: .2rem; margin-bottom: .4rem; }
.nb-legend { font-size: .8125em; gap: .2rem 1rem; } .nb-swatch { display: inline-block; width: .75em; height: .75em; border-radius: 50%; }
.nb-lines { width: 100%; max-width: 50rem; height: auto; display: block; margin: .5rem 0; }
.nb-sliders { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(15rem, 100%), 1fr)); gap: .6rem 1.2rem; margin: .6rem 0; }
.nb-sliders label { display: grid; gap: .1rem; font-size: .9em; align-content: start; } .nb-sliders input { width: 100%; accent-color: var(--nb-accent); }
`;

export function styled(): void {
  if (!document.getElementById("nb-style")) document.head.append(make("style", { id: "nb-style" }, STYLE));
}

export const said = (error: unknown): string => (error instanceof Error ? error.message : String(error));
