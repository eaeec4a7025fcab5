/** Tables: rows are sorted within their group, filtered, and their state is part of the address. */

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

/** So many rows of a group are shown until the reader asks for all: a browser lays out hidden rows for nothing. */
const FEW = 20;

interface Line {
  row: HTMLTableRowElement;
  words: string;
  place: number;
}

type Key = number | string;

function cellOf(row: HTMLTableRowElement, column: number): string {
  return row.cells[column]?.textContent?.trim() ?? "";
}

/** What a row is sorted by: a number of its own where it has one, else a number in the text, else the text. */
function keyOf(row: HTMLTableRowElement, name: string, column: number): Key {
  const text = row.dataset[name] ?? cellOf(row, column);
  const number = Number.parseFloat(text);
  return /^-?[\d.]/.test(text) && !/^\d{4}-\d{2}-\d{2}/.test(text) && Number.isFinite(number) ? number : text.toLowerCase();
}

function compare(one: Key, other: Key): number {
  if (typeof one === "number" && typeof other === "number") return one - other;
  if (typeof one !== typeof other) return typeof one === "number" ? -1 : 1;
  return one < other ? -1 : one > other ? 1 : 0;
}

/** A table whose rows can be sorted and filtered. */
export class SortableTable {
  private readonly heads: HTMLTableCellElement[];
  private readonly groups: { body: HTMLTableSectionElement; lines: Line[]; more: HTMLTableRowElement | null; sorted: boolean }[];
  private readonly opened = new Set<HTMLTableSectionElement>();
  private readonly first: [string, boolean];

  constructor(readonly table: HTMLTableElement, private readonly state: State, private readonly isMain: boolean) {
    this.heads = [...table.tHead!.rows[0]!.cells];
    this.groups = [...table.tBodies].map((body) => ({
      body,
      lines: [...body.rows]
        .filter((row) => !row.classList.contains("task") && !row.classList.contains("more"))
        .map((row, place) => ({ row, place, words: (row.textContent ?? "").toLowerCase() })),
      more: body.querySelector<HTMLTableRowElement>("tr.more"),
      sorted: false,
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
      const keyed = group.lines.map((line) => ({ line, key: keyOf(line.row, name, column) }));
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
    for (const { body, lines, more, sorted } of this.groups) {
      let shown = 0;
      const visible: HTMLTableRowElement[] = [];
      const limited = more !== null && !this.opened.has(body);
      for (const { row, words: text } of lines) {
        const wanted =
          !this.isMain ||
          ((task === "" || body.dataset["task"] === task) &&
            (kind === "" || row.dataset["class"] === kind) &&
            (status === "" || row.dataset["status"] === status) &&
            words.every((word) => text.includes(word)));
        if (wanted) shown += 1;
        const hidden = !wanted || (limited && shown > FEW);
        if (row.hidden !== hidden) row.hidden = hidden;
        if (!hidden) visible.push(row);
      }
      // Rows that nobody sees are not moved: that is most of the work on a long board.
      if (sorted) body.append(...visible, ...(more ? [more] : []));
      if (more) {
        more.hidden = !limited || shown <= FEW;
        more.querySelector("button")!.textContent = `Show all ${shown} of ${body.dataset["task"] ?? ""}`;
      }
      if (this.isMain) body.hidden = shown === 0;
      count += shown;
    }
    return count;
  }

  /** Returns to the order and the rows that the state describes. */
  follow(): void {
    const name = this.state.get("sort") ?? "";
    if (name) this.sort(name, this.state.get("dir") === "down");
    else if (this.first[0]) this.sort(...this.first);
    else this.filter();
  }
}
