/** Pages of `nematodebench serve`: asks the own machine how far experiments are, every second. */

interface Progress {
  name: string;
  what: string;
  state: string;
  done: number;
  runs: number;
}

/** Fills the table of running experiments while the page is open; a page from a file has none. */
export function connectProgress(): void {
  const body = document.querySelector<HTMLTableSectionElement>("tbody[data-progress]");
  if (!body || !location.protocol.startsWith("http")) return;
  const told = document.querySelector<HTMLOutputElement>("output[data-told]");
  let before = "";
  const ask = async (): Promise<void> => {
    try {
      const answer = await fetch(body.dataset["progress"]!, { cache: "no-store" });
      const found = (await answer.json()) as Progress[];
      const now = JSON.stringify(found);
      if (now !== before) body.replaceChildren(...found.map(row));
      before = now;
      if (told) told.value = found.length ? "up to date" : "up to date: there is no session in this folder yet; `nematodebench run TASK BRAIN --track` stores one";
    } catch {
      if (told) told.value = "the server does not answer";
    }
    setTimeout(() => void ask(), 1000);
  };
  void ask();
}

/** A name that may be broken where its words end, so that it fits a phone. */
const soft = (name: string): (string | HTMLElement)[] => name.split(/(?<=[_.:/])(?=[^_.:/])/).flatMap((part, n) => (n ? [document.createElement("wbr"), part] : [part]));

function row(one: Progress): HTMLTableRowElement {
  const line = document.createElement("tr");
  const name = document.createElement("th");
  name.scope = "row";
  const link = document.createElement("a");
  link.href = `/experiment/${encodeURIComponent(one.name)}`;
  link.append(...soft(one.name));
  name.append(...(one.state === "finished" ? [link] : soft(one.name)));
  const bar = document.createElement("progress");
  bar.max = one.runs;
  bar.value = one.done;
  bar.ariaLabel = `${one.done} of ${one.runs} runs of ${one.name}`;
  const place = document.createElement("td");
  place.className = "wide";
  place.append(bar);
  const cells = [one.what, one.state, `${one.done} of ${one.runs}`].map((text, n) => {
    const cell = document.createElement("td");
    if (n < 2) cell.className = "wrap";
    cell.append(...soft(text));
    return cell;
  });
  line.append(name, ...cells, place);
  return line;
}
