/** Tables: rows are sorted within their group, filtered, and their state is part of the address. */
import { restOf, type Entry } from "./rest";
import { closeRuns, offerRun } from "./rows";

export type State = Map<string, string>;

/** What the address says after its #: key=value pairs. A plain name is the anchor of a row. */
export function readState(): State {
  const text = location.hash.slice(1);
  return new Map(text.includes("=") ? new URLSearchParams(text) : []);
}

/** Writes the state into the address, without a new entry in the history and without moving the page. */
export function writeState(state: State): void {
  const kept = new URLSearchParams([...state].filter(([, value]) => value !== ""));
  const text = kept.toString();
  history.replaceState(null, "", text ? `#${text}` : location.pathname + location.search);
}

/** A row of a table: one that is in the page, or an entry of a long board that becomes a row when somebody sees it. */
interface Line {
  readonly words: string;
  readonly place: number;
  readonly kind: string;
  readonly status: string;
  /** What it is sorted by, as text. */
  readonly text: (name: string, column: number) => string;
  /** The row; made if it is not there yet. */
  readonly row: () => HTMLTableRowElement;
  /** The row, if it is there. */
  readonly made: () => HTMLTableRowElement | null;
}

type Key = number | string;

function lineOf(row: HTMLTableRowElement, place: number): Line {
  return {
    place,
    words: (row.textContent ?? "").toLowerCase(),
    kind: row.dataset["class"] ?? "",
    status: row.dataset["status"] ?? "",
    text: (name, column) => row.dataset[name] ?? row.cells[column]?.textContent?.trim() ?? "",
    row: () => row,
    made: () => row,
  };
}

/** What a line is sorted by: a number where its text is one, else the text. */
function keyOf(line: Line, name: string, column: number): Key {
  const text = line.text(name, column);
  const number = Number.parseFloat(text);
  return /^-?[\d.]/.test(text) && !/^\d{4}-\d{2}-\d{2}/.test(text) && Number.isFinite(number) ? number : text.toLowerCase();
}

function compare(one: Key, other: Key): number {
  if (typeof one === "number" && typeof other === "number") return one - other;
  if (typeof one !== typeof other) return typeof one === "number" ? -1 : 1;
  return one < other ? -1 : one > other ? 1 : 0;
}

/** The rows of a group, and behind them the entries that are not rows yet. */
function linesOf(body: HTMLTableSectionElement): Line[] {
  const rows = [...body.rows].filter((row) => !row.classList.contains("task") && !row.classList.contains("more"));
  rows.forEach(offerRun);
  return [...rows.map(lineOf), ...restOf(body, rows[0]).map(({ entry, row, made }, n): Line => ({
    place: rows.length + n,
    words: [entry.rank, entry.group, entry.brain, entry.class, entry.score, entry.claimed, entry.runs, entry.contributor, entry.verified, entry.date].join(" ").toLowerCase(),
    kind: entry.class,
    status: entry.status,
    text: (name) => String((name === "score" ? entry.value : name === "claimed" ? entry.claimed_value : name === "rank" ? entry.order : entry[name as keyof Entry]) ?? ""),
    row,
    made,
  }))];
}

/** A table whose rows can be sorted and filtered. */
export class SortableTable {
  private readonly heads: HTMLTableCellElement[];
  private readonly groups: { body: HTMLTableSectionElement; lines: Line[]; more: HTMLTableRowElement | null; sorted: boolean; few: number }[];
  private readonly opened = new Set<HTMLTableSectionElement>();
  private readonly first: [string, boolean];

  constructor(readonly table: HTMLTableElement, private readonly state: State, private readonly isMain: boolean) {
    this.heads = [...table.tHead!.rows[0]!.cells];
    this.groups = [...table.tBodies].map((body) => ({
      body,
      lines: linesOf(body),
      more: body.querySelector<HTMLTableRowElement>("tr.more"),
      sorted: false,
      // As many as the page begins with are shown until the reader asks for all: rows cost time even where nobody sees them.
      few: body.querySelectorAll("tr[id]").length,
    }));
    const head = this.heads.find((one) => one.ariaSort) ?? null;
    this.first = [head?.dataset["sort"] ?? "", head?.ariaSort === "descending"];
    this.addButtons();
    for (const { body, more } of this.groups) {
      more?.querySelector("button")?.addEventListener("click", () => {
        this.opened.add(body);
        this.filter();
      });
    }
  }

  private addButtons(): void {
    for (const head of this.heads) {
      const name = head.dataset["sort"];
      if (!name) continue;
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const descending = head.ariaSort ? head.ariaSort === "ascending" : head.classList.contains("num");
        this.sort(name, descending);
        if (!this.isMain) return;
        const usual = name === this.first[0] && descending === this.first[1];
        this.state.set("sort", usual ? "" : name);
        this.state.set("dir", usual || !descending ? "" : "down");
        this.state.set("replay", "");
        writeState(this.state);
      });
    }
  }

  /** Puts the rows of every group in order; rows that are equal keep their first order. */
  sort(name: string, descending: boolean): void {
    const column = this.heads.findIndex((head) => head.dataset["sort"] === name);
    if (column < 0) return;
    for (const head of this.heads) head.removeAttribute("aria-sort");
    this.heads[column]!.ariaSort = descending ? "descending" : "ascending";
    const sign = descending ? -1 : 1;
    for (const group of this.groups) {
      const keyed = group.lines.map((line) => ({ line, key: keyOf(line, name, column) }));
      keyed.sort((one, other) => sign * compare(one.key, other.key) || one.line.place - other.line.place);
      group.lines = keyed.map(({ line }) => line);
      group.sorted = true;
    }
    this.filter();
  }

  /** Shows the rows that the state asks for; returns how many there are. */
  filter(): number {
    const words = (this.state.get("q") ?? "").toLowerCase().split(/\s+/).filter(Boolean);
    const task = this.state.get("task") ?? "", kind = this.state.get("class") ?? "", status = this.state.get("status") ?? "";
    let count = 0;
    closeRuns(this.table);
    for (const { body, lines, more, sorted, few } of this.groups) {
      let shown = 0;
      const visible: HTMLTableRowElement[] = [];
      const limited = more !== null && !this.opened.has(body);
      let added = false;
      for (const line of lines) {
        const wanted =
          !this.isMain ||
          ((task === "" || body.dataset["task"] === task) &&
            (kind === "" || line.kind === kind) &&
            (status === "" || line.status === status) &&
            words.every((word) => line.words.includes(word)));
        if (wanted) shown += 1;
        const hidden = !wanted || (limited && shown > few);
        added ||= !hidden && line.made() === null;
        const row = hidden ? line.made() : line.row();
        if (row && row.hidden !== hidden) row.hidden = hidden;
        if (row && !hidden) visible.push(row);
      }
      // Rows that nobody sees are not moved: that is most of the work on a long board.
      if (sorted || added) body.append(...visible, ...(more ? [more] : []));
      if (more) {
        more.hidden = !limited || shown <= few;
        more.querySelector("button")!.textContent = `Show all ${shown} of ${body.dataset["task"] ?? ""}`;
      }
      if (this.isMain) body.hidden = shown === 0;
      count += shown;
    }
    return count;
  }

  /** Shows the entry that an address names, if it is not a row yet. */
  reveal(id: string): void {
    if (!id || document.getElementById(id)) return;
    const group = this.groups.find(({ body }) => body.querySelector("script[data-rest]")?.textContent?.includes(JSON.stringify(id)));
    if (!group) return;
    this.opened.add(group.body);
    this.filter();
    document.getElementById(id)?.scrollIntoView({ block: "center" });
  }

  /** Returns to the order and the rows that the state describes. */
  follow(): void {
    const name = this.state.get("sort") ?? "";
    if (name) this.sort(name, this.state.get("dir") === "down");
    else if (this.first[0]) this.sort(...this.first);
    else this.filter();
  }
}
