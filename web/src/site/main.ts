/** What the pages of the board and the reports need beside their markup; without it they are still readable. */
import { connectDownloads } from "./downloads";
import { connectProgress } from "./progress";
import { connectReplays } from "./replays";
import { openRun } from "./rows";
import { SortableTable, readState, writeState, type State } from "./tables";

function connectFilters(state: State, table: SortableTable): void {
  const form = document.getElementById("filters") as HTMLFormElement | null;
  if (!form) return;
  const fields = [...form.elements].filter((one) => one instanceof HTMLInputElement || one instanceof HTMLSelectElement);
  const show = (): void => {
    const count = table.filter();
    form.querySelector("output")!.value = `${count} ${count === 1 ? "entry" : "entries"}`;
  };
  const fill = (): void => {
    for (const field of fields) field.value = state.get(field.name) ?? "";
    show();
  };
  form.addEventListener("input", () => {
    for (const field of fields) state.set(field.name, field.value);
    state.set("replay", ""); // rows that move leave no run open
    show();
    writeState(state);
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  addEventListener("hashchange", fill);
  fill();
}

function connectDays(state: State): void {
  const form = document.getElementById("as-of") as HTMLFormElement | null;
  const choice = form?.querySelector("select");
  if (!form || !choice) return;
  const show = (): void => {
    for (const part of document.querySelectorAll<HTMLElement>("section.day")) part.hidden = part.dataset["day"] !== choice.value;
  };
  const follow = (): void => {
    const wanted = state.get("date") ?? "";
    if ([...choice.options].some((option) => option.value === wanted)) choice.value = wanted;
    show();
  };
  form.addEventListener("change", () => {
    state.set("date", choice.value);
    show();
    writeState(state);
  });
  addEventListener("hashchange", follow);
  follow();
}

/** The run that is open below its row is kept in the address, and opened by it. */
function connectOpened(state: State, table: SortableTable): void {
  const open = (): void => {
    const key = state.get("replay") ?? "";
    table.reveal(key);
    if (key) openRun(key);
  };
  table.table.addEventListener("nb-opened", (event) => {
    state.set("replay", (event as CustomEvent<string>).detail);
    writeState(state);
  });
  addEventListener("hashchange", open);
  open();
}

/** A button beside every command that copies it. */
function connectCommands(): void {
  for (const place of document.querySelectorAll<HTMLPreElement>("pre.command")) {
    const words = place.textContent ?? "";
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "Copy";
    button.ariaLabel = `Copy: ${words}`;
    button.addEventListener("click", () => {
      void navigator.clipboard?.writeText(words).then(() => (button.textContent = "Copied"));
    });
    place.append(button);
  }
}

function start(): void {
  const state = readState();
  addEventListener("hashchange", () => {
    state.clear();
    for (const [key, value] of readState()) state.set(key, value);
  });
  const tables = [...document.querySelectorAll<HTMLTableElement>("table.sortable")];
  tables.forEach((element, k) => {
    const table = new SortableTable(element, state, k === 0);
    if (k > 0) return;
    addEventListener("hashchange", () => table.follow());
    if (state.get("sort")) table.follow();
    connectFilters(state, table);
    connectOpened(state, table);
    const named = location.hash.slice(1);
    if (!named.includes("=")) table.reveal(decodeURIComponent(named));
  });
  connectDays(state);
  connectCommands();
  connectDownloads();
  connectProgress();
  connectReplays(state);
}

start();
