/** Downloads of tables and figures: of what is in the page itself, and of files beside it. */
import { pictureOf } from "./pictures";
import { brought } from "./scripts";

/** Gives the reader a file. */
function save(name: string, kind: string, content: string): void {
  const address = URL.createObjectURL(new Blob([content], { type: kind }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name.replace(/[^\w.-]+/g, "_");
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

type Cell = string | number | null;

function quoted(value: Cell): string {
  // A text that begins like a formula would be executed by spreadsheets.
  const text = typeof value === "string" && /^[=+@]/.test(value) ? `'${value}` : String(value ?? "");
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function write(name: string, form: string, columns: string[], rows: Cell[][]): void {
  if (form === "csv") save(`${name}.csv`, "text/csv", [columns, ...rows].map((row) => row.map(quoted).join(",")).join("\n") + "\n");
  else save(`${name}.json`, "application/json", JSON.stringify(rows.map((row) => Object.fromEntries(columns.map((key, k) => [key, row[k]]))), null, 1));
}

function saveTable(id: string, form: string): void {
  const table = document.getElementById(id) as HTMLTableElement | null;
  if (!table?.tHead) return;
  if (form === "svg") {
    save(`${table.dataset["name"] ?? id}.svg`, "image/svg+xml", pictureOf(table));
    return;
  }
  const heads = [...table.tHead.rows[0]!.cells];
  const kept = heads.map((head, k) => ({ head, k })).filter(({ head }) => head.dataset["skip"] === undefined);
  const bodies = [...table.tBodies];
  const grouped = bodies.some((body) => body.dataset["task"]); // then the task stands above its rows, not in them
  const rows = bodies.flatMap((body) =>
    [...body.rows]
      .filter((row) => row.cells.length === heads.length && !row.hidden)
      .map((row) => [...(grouped ? [body.dataset["task"] ?? ""] : []), ...kept.map(({ k }) => row.cells[k]!.textContent!.trim())]),
  );
  const columns = [...(grouped ? ["Task"] : []), ...kept.map(({ head }) => head.textContent!.trim())];
  write(table.dataset["name"] ?? id, form, columns, rows);
}

function saveFigure(key: string, form: string): void {
  if (form === "svg") {
    const drawn = document.getElementById(key)?.querySelector("svg");
    if (drawn) save(`${key}.svg`, "image/svg+xml", new XMLSerializer().serializeToString(drawn));
    return;
  }
  const data = JSON.parse(document.getElementById(`${key}-data`)?.textContent ?? "{}") as { columns: string[]; rows: Cell[][] };
  write(key, form, data.columns, data.rows);
}

const KINDS: Record<string, string> = { csv: "text/csv", json: "application/json", svg: "image/svg+xml" };

/** From the file system no browser saves a file beside the page: it would show it. A script brings what is in it. */
async function saveBeside(link: HTMLAnchorElement): Promise<void> {
  const name = new URL(link.href).pathname.split("/").at(-1)!;
  await brought(`${link.href}.js`);
  save(name, KINDS[name.split(".").at(-1)!] ?? "text/plain", (window as unknown as { nbFiles: Record<string, string> }).nbFiles[name]!);
}

/** Connects everything that offers a download. */
export function connectDownloads(): void {
  document.addEventListener("click", (event) => {
    const link = (event.target as Element).closest<HTMLAnchorElement>(".downloads a[download]");
    if (link && location.protocol === "file:") {
      event.preventDefault();
      saveBeside(link).catch(() => location.assign(link.href));
    }
    const button = (event.target as Element).closest<HTMLButtonElement>("button[data-form]");
    if (!button) return;
    const { table, figure, form } = button.dataset;
    if (table) saveTable(table, form!);
    else if (figure) saveFigure(figure, form!);
  });
}
