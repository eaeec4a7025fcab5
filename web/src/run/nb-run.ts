/** <nb-run case="ID" session="2026" run="3" record-hash="..." memory-hash="v2:...">: executes that run again, with `starts` at once. */
import { make, said, styled } from "./parts";
import { caseOf, execute, variant } from "./runner";
import { seedsOf } from "./seeds";
import type { Expected } from "./types";
import { partedAt, verdict } from "./verdict";

const WORDS = { relaxed: "relaxed SIMD, which the self-test found exact", exact: "exact emulation of fused multiply-add" };

export class NbRun extends HTMLElement {
  private stop: AbortController | null = null;

  connectedCallback(): void {
    if (this.childElementCount) return;
    styled();
    const label = this.getAttribute("label") ?? "Execute this run again here";
    const start = make("button", { type: "button" }, label);
    const cancel = make("button", { type: "button", hidden: true }, "Cancel");
    const bar = make("progress", { hidden: true, "aria-label": "episodes done" });
    const words = make("span", { class: "nb-quiet" });
    const result = make("div", { role: "status", "aria-live": "polite" });
    const begin = () => void this.go({ start, cancel, bar, words, result });
    start.onclick = begin;
    cancel.onclick = () => this.stop?.abort();
    this.append(make("div", { class: "nb-row" }, start, cancel, bar, words), result);
    if (this.hasAttribute("starts")) begin();
  }

  disconnectedCallback(): void {
    this.stop?.abort();
  }

  private expected(): Expected {
    const told = (name: string) => this.getAttribute(name);
    const number = (name: string) => (told(name) === null ? null : Number(told(name)));
    return {
      session: number("session"), run: number("run"), seed: told("seed") ?? "", record_hash: told("record-hash"),
      memory_hash: told("memory-hash"),
    };
  }

  private async go(shown: { start: HTMLButtonElement; cancel: HTMLButtonElement; bar: HTMLProgressElement; words: HTMLElement; result: HTMLElement }): Promise<void> {
    const { start, cancel, bar, words, result } = shown;
    this.stop = new AbortController();
    result.replaceChildren();
    start.disabled = true;
    cancel.hidden = bar.hidden = false;
    bar.removeAttribute("value");
    words.textContent = "starting";
    try {
      const given = caseOf(this.getAttribute("case") ?? "");
      const expected = this.expected();
      const found = await execute(given, expected, {
        signal: this.stop.signal,
        progress: (done, of, phase) => {
          if (of) [bar.max, bar.value] = [of, done];
          words.textContent = of ? `episode ${done} of ${of} (${phase})` : `episode ${done} (${phase})`;
        },
      });
      if (found) await this.show(expected, found, result, words);
    } catch (error) {
      const cancelled = error instanceof DOMException && error.name === "AbortError";
      words.textContent = cancelled ? "Cancelled." : "";
      if (!cancelled) result.append(make("p", { class: "nb-bad" }, `The run could not be executed: ${said(error)}`));
    } finally {
      start.disabled = false;
      cancel.hidden = bar.hidden = true;
    }
  }

  private async show(expected: Expected, found: NonNullable<Awaited<ReturnType<typeof execute>>>, result: HTMLElement, words: HTMLElement): Promise<void> {
    const told = verdict(expected, found);
    const kind = told.identical === null ? "" : told.identical ? "nb-good" : "nb-bad";
    const parted = expected.record_hash !== found.recordHash && told.identical === false ? partedAt(this.getAttribute("marks") ?? "", found.records) : "";
    words.textContent = "";
    result.append(
      make("p", { class: kind }, `${told.text} ${parted}`.trim()),
      make("p", { class: "nb-hash" }, `records ${found.recordHash}`),
      make("p", { class: "nb-hash" }, `memory ${found.memoryHash}`),
      make("p", { class: "nb-quiet" },
        `Run seed ${seedsOf(expected).run}: ${found.steps.toLocaleString("en")} steps in ${found.seconds.toFixed(2)} s, by ${WORDS[await variant()]}.`),
    );
    this.dispatchEvent(new CustomEvent("nb-executed", { bubbles: true, detail: { ...found, identical: told.identical } }));
  }
}
