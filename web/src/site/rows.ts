/** A button beside the entries of the board: their best run is executed again below the row, and shown. */

import { brought } from "./scripts";

interface Shown { runs: Record<string, string | number>[]; blind: string }

function element(name: string, given: Record<string, string | number>): HTMLElement {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(given)) made.setAttribute(key, String(value));
  return made;
}

async function fill(place: HTMLElement, key: string): Promise<void> {
  place.textContent = "bringing what this run needs";
  await Promise.all([brought(`cases/${encodeURIComponent(key)}.js`), brought("assets/run.js")]);
  const shown = (window as unknown as { nbShown: Record<string, Shown> }).nbShown[key]!;
  const best = shown.runs[0]!;
  const list = element("script", { type: "application/json", id: `${key}-runs` });
  list.textContent = JSON.stringify(shown.runs);
  const told = { case: key, session: best["session"]!, run: best["run"]! };
  const words = document.createElement("p");
  const hash = best["record_hash"]!;
  words.textContent = `Your browser executes the ${best["label"]}, by the kernels that made it${hash ? ", and compares both hashes" : ""}.`;
  place.replaceChildren(
    words, list,
    element("nb-run", { ...told, starts: "", label: "Execute it again", "record-hash": hash, "memory-hash": best["memory_hash"]!, marks: best["marks"]! }),
    element("nb-viewer", { ...told, plays: "", runs: `${key}-runs`, ...(shown.blind && { blind: shown.blind }) }),
  );
}

/** Which run is open is part of the address. */
const tell = (button: HTMLButtonElement, key: string): boolean => button.dispatchEvent(new CustomEvent("nb-opened", { bubbles: true, detail: key }));

function toggle(button: HTMLButtonElement, row: HTMLTableRowElement, key: string): void {
  const next = row.nextElementSibling;
  if (next?.classList.contains("replay")) {
    next.remove();
    button.ariaExpanded = "false";
    tell(button, "");
    return;
  }
  const opened = document.createElement("tr");
  opened.className = "replay";
  const cell = opened.insertCell();
  cell.colSpan = row.cells.length;
  const place = document.createElement("div");
  cell.append(place);
  row.after(opened);
  button.ariaExpanded = "true";
  tell(button, key);
  fill(place, key).catch((error: unknown) => (place.textContent = `It cannot be executed here: ${String(error)}`));
}

/** Gives a row its button, if the site has what it needs. */
export function offerRun(row: HTMLTableRowElement): void {
  row.querySelector("button.go")?.remove();
  const key = row.dataset["replay"];
  const name = row.querySelector("th");
  if (!key || !name) return;
  const button = document.createElement("button");
  [button.type, button.className, button.ariaExpanded] = ["button", "go", "false"];
  button.ariaLabel = `Execute the best run of ${name.textContent} on ${row.closest("tbody")?.dataset["task"] ?? "this task"} again, and show it`;
  button.title = "Execute its best run again, and watch it";
  button.addEventListener("click", () => toggle(button, row, key));
  name.append(button);
}

/** Opens the run that an address names. */
export function openRun(key: string): void {
  const row = document.getElementById(key);
  const button = row?.querySelector<HTMLButtonElement>("button.go[aria-expanded=false]");
  button?.click();
  if (button) row!.scrollIntoView({ block: "start" });
}

/** Rows that move would leave what is open below them behind. */
export function closeRuns(table: HTMLTableElement): void {
  for (const opened of table.querySelectorAll("tr.replay")) opened.remove();
  for (const button of table.querySelectorAll<HTMLButtonElement>("button.go[aria-expanded=true]")) button.ariaExpanded = "false";
}
