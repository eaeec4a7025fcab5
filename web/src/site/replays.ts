/** Runs that are executed again in the page: which one, and the viewer only when somebody asks for it. */

type Hashes = Record<string, Record<string, [string, string | null][]>>;

/** Lets the reader choose any run of an entry; the element that executes it is made anew. */
function connectChoice(form: HTMLFormElement): void {
  const session = form.querySelector<HTMLSelectElement>("[name=session]")!;
  const run = form.querySelector<HTMLInputElement>("[name=run]")!;
  const change = (): void => {
    const place = document.querySelector("nb-run");
    const key = form.dataset["case"]!;
    const known = (window as unknown as { nbRuns?: Hashes }).nbRuns?.[key]?.[session.value] ?? [];
    run.max = String(known.length - 1);
    const hashes = known[Number(run.value)];
    if (!place || !hashes) return;
    const made = document.createElement("nb-run");
    const told = { case: key, session: session.value, run: run.value, "record-hash": hashes[0], "memory-hash": hashes[1] ?? "" };
    for (const [name, value] of Object.entries(told)) made.setAttribute(name, value);
    place.replaceWith(made);
  };
  form.addEventListener("change", change);
  form.addEventListener("submit", (event) => event.preventDefault());
}

/** Buttons that bring in what is prepared in a template. */
export function connectReplays(): void {
  for (const form of document.querySelectorAll<HTMLFormElement>("form[data-case]")) connectChoice(form);
  for (const button of document.querySelectorAll<HTMLButtonElement>("button[data-watch]")) {
    button.addEventListener("click", () => {
      const prepared = document.getElementById(button.dataset["watch"]!) as HTMLTemplateElement;
      button.replaceWith(prepared.content.cloneNode(true));
    });
  }
}
