/** Runs that are executed again in the page: which one, and the viewer only when somebody asks for it. */

import { writeState, type State } from "./tables";

type Hashes = Record<string, Record<string, [string, string | null, string][]>>;

/** Lets the reader choose any run of an entry, kept in the address; the element that executes it is made anew. */
function connectChoice(form: HTMLFormElement, state: State): void {
  const session = form.querySelector<HTMLSelectElement>("[name=session]")!;
  const run = form.querySelector<HTMLInputElement>("[name=run]")!;
  const show = (): void => {
    const place = form.nextElementSibling;
    const key = form.dataset["case"]!;
    const known = (window as unknown as { nbRuns?: Hashes }).nbRuns?.[key]?.[session.value] ?? [];
    run.max = String(known.length - 1);
    const hashes = known[Number(run.value)];
    if (!place || !hashes) return;
    const kind = session.selectedOptions[0]!.closest("optgroup")?.dataset["kind"] ?? "";
    const label = `Execute ${kind} run ${run.value} again here`.replace("  ", " ");
    const told = { case: key, session: session.value, run: run.value, label, "record-hash": hashes[0], "memory-hash": hashes[1] ?? "", marks: hashes[2] };
    const made = document.createElement("nb-run");
    for (const [name, value] of Object.entries(told)) made.setAttribute(name, value);
    place.replaceWith(made);
  };
  const follow = (): void => {
    const wanted = state.get("session") ?? "";
    if (![...session.options].some((option) => option.value === wanted)) return;
    [session.value, run.value] = [wanted, state.get("run") ?? "0"];
    show();
  };
  form.addEventListener("change", () => {
    state.set("session", session.value);
    state.set("run", run.value);
    show();
    writeState(state);
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  addEventListener("hashchange", follow);
  follow();
}

/** Buttons that bring in what is prepared in a template. */
export function connectReplays(state: State): void {
  for (const form of document.querySelectorAll<HTMLFormElement>("form[data-case]")) connectChoice(form, state);
  for (const button of document.querySelectorAll<HTMLButtonElement>("button[data-watch]")) {
    button.addEventListener("click", () => {
      const prepared = document.getElementById(button.dataset["watch"]!) as HTMLTemplateElement;
      const into = document.getElementById(button.dataset["into"] ?? "");
      (into ?? button).replaceWith(prepared.content.cloneNode(true));
      if (into) button.remove();
    });
  }
}
