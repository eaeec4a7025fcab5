/** The entries of a long board that are not rows of the page yet: data, of which rows are made when they are seen. */

import { offerRun } from "./rows";

/** What src/nematodebench/site/board_site.py writes of an entry. */
export interface Entry {
  id: string; file: string; brain: string; class: string; rank: string; group: string; order: number; band: string; status: string;
  dot: { at: number; left: number; width: number } | null; score: string; value: number | null; claimed: string; claimed_value: number | null;
  too_good: boolean; runs: number; contributor: string; verified: string; date: string; replay: boolean;
}

/** A row like the others of its group. Texts of entries are only ever text. */
function rowOf(entry: Entry, pattern: HTMLTableRowElement): HTMLTableRowElement {
  const row = pattern.cloneNode(true) as HTMLTableRowElement;
  row.id = entry.id;
  row.className = entry.band;
  const told = { rank: entry.order, class: entry.class, status: entry.status, score: entry.value, claimed: entry.claimed_value, date: entry.date };
  for (const [name, value] of Object.entries(told)) row.dataset[name] = String(value);
  const [rank, brain, kind, dots, score, claimed, runs, contributor, verified, date] = [...row.cells] as HTMLTableCellElement[];
  const group = Object.assign(document.createElement("small"), { textContent: entry.group });
  rank!.replaceChildren(entry.rank, ...(entry.group ? [" ", group] : []));
  const link = brain!.querySelector("a")!;
  [link.textContent, link.href] = [entry.brain, `submissions/${encodeURIComponent(entry.file)}`];
  const marks = dots!.querySelectorAll<HTMLElement>("b, s");
  for (const mark of marks) {
    if (!entry.dot) mark.remove();
    else if (mark.localName === "s") mark.style.left = `${entry.dot.at}%`;
    else [mark.style.left, mark.style.width] = [`${entry.dot.left}%`, `${entry.dot.width}%`];
  }
  const doubt = Object.assign(document.createElement("strong"), { textContent: "too good" });
  claimed!.replaceChildren(entry.claimed, ...(entry.too_good ? [" ", doubt] : []));
  const texts: [HTMLTableCellElement, string | number][] = [[kind!, entry.class], [score!, entry.score], [runs!, entry.runs], [contributor!, entry.contributor], [verified!, entry.verified], [date!, entry.date]];
  for (const [cell, text] of texts) cell.textContent = String(text);
  const [figures, mark] = entry.score.split(" (!)");
  if (mark === "") {
    const hung = Object.assign(document.createElement("span"), { className: "hang", textContent: figures! });
    hung.append(Object.assign(document.createElement("i"), { textContent: " (!)" }));
    score!.replaceChildren(hung);
  }
  contributor!.title = entry.contributor;
  if (entry.replay) row.dataset["replay"] = entry.id;
  else delete row.dataset["replay"];
  offerRun(row);
  return row;
}

/** The entries behind the rows of a group. */
export function restOf(body: HTMLTableSectionElement, pattern?: HTMLTableRowElement): { entry: Entry; row: () => HTMLTableRowElement; made: () => HTMLTableRowElement | null }[] {
  const data = body.querySelector<HTMLScriptElement>("script[data-rest]");
  if (!data || !pattern) return [];
  return (JSON.parse(data.textContent ?? "[]") as Entry[]).map((entry) => {
    let made: HTMLTableRowElement | null = null;
    return { entry, made: () => made, row: () => (made ??= rowOf(entry, pattern)) };
  });
}
