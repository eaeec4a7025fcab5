/** <nb-play data="NAME">: choose a task and a brain, move its sliders and train it, here. */
import { chart, smoothed, type Line } from "./chart";
import { make, said, styled } from "./parts";
import { execute } from "./runner";
import type { Case } from "./types";

interface Slider { name: string; text: string; low: number; high: number; log: boolean; value: number; places: number[] }
interface Play {
  tasks: Record<string, { summary: string; null: Case; blind: Case | null; brains: Record<string, Case> }>;
  sliders: Record<string, Slider[]>;
}
declare global {
  interface Window {
    nbPlay?: Record<string, Play>;
  }
}

const STEPS = 200;
const MOST_LINE_EPISODES = 100;
const value = (slider: Slider, place: number): number => {
  const share = place / STEPS;
  return slider.log ? slider.low * (slider.high / slider.low) ** share : slider.low + share * (slider.high - slider.low);
};
const place = (slider: Slider, at = slider.value): number => {
  const share = slider.log ? Math.log(at / slider.low) / Math.log(slider.high / slider.low) : (at - slider.low) / (slider.high - slider.low);
  return Math.round(STEPS * Math.min(1, Math.max(0, share)));
};
const mean = (values: number[]) => values.reduce((a, b) => a + b, 0) / Math.max(1, values.length);
const shown = (number: number) => String(Number(number.toPrecision(3)));

export class NbPlay extends HTMLElement {
  private data!: Play;
  private stop: AbortController | null = null;
  private readonly task = make("select", { "aria-label": "task" });
  private readonly brain = make("select", { "aria-label": "brain" });
  private readonly seed = make("input", { type: "number", min: 0, max: 4294967295, value: 2026, "aria-label": "seed" });
  private readonly summary = make("p", { class: "nb-quiet" });
  private readonly sliders = make("div", { class: "nb-sliders" });
  private readonly train = make("button", { type: "button", class: "nb-first" }, "Train");
  private readonly cancel = make("button", { type: "button", hidden: true }, "Cancel");
  private readonly bar = make("progress", { hidden: true, "aria-label": "episodes done" });
  private readonly words = make("p", { role: "status", "aria-live": "polite" });
  private readonly plot = make("div");
  private readonly view = make("div");
  private readonly moved = new Map<string, { slider: Slider; input: HTMLInputElement }>();
  private readonly known = new Map<string, { slider: Slider; input: HTMLInputElement }>();

  connectedCallback(): void {
    if (this.childElementCount) return;
    styled();
    const found = window.nbPlay?.[this.getAttribute("data") ?? "play"];
    if (!found) {
      this.append(make("p", { class: "nb-bad" }, "the page has no data to play with"));
      return;
    }
    this.data = found;
    this.task.append(...Object.keys(found.tasks).map((name) => make("option", { value: name }, name)));
    this.task.onchange = () => this.choose(() => this.chooseTask());
    this.brain.onchange = () => this.choose(() => this.chooseBrain());
    this.seed.onchange = () => this.keep();
    this.train.onclick = () => void this.go();
    this.cancel.onclick = () => this.stop?.abort();
    const wide = matchMedia("(min-width: 600px)").matches; // on a phone the button to train comes first
    const reset = make("button", { type: "button" }, "Defaults");
    reset.onclick = () => this.choose(() => this.chooseBrain());
    this.append(
      make("div", { class: "nb-row" }, make("label", {}, "Task ", this.task), make("label", {}, "Brain ", this.brain), make("label", {}, "Seed ", this.seed)),
      this.summary, make("details", wide ? { open: true } : {}, make("summary", {}, "Parameters of the brain"), this.sliders),
      make("div", { class: "nb-row" }, this.train, reset, this.cancel, this.bar), this.words, this.plot, this.view,
    );
    addEventListener("hashchange", this.follow);
    this.follow();
  }

  disconnectedCallback(): void {
    this.stop?.abort();
    removeEventListener("hashchange", this.follow);
  }

  /** What the address asks for: task, brain, seed, and parameters that are not the defaults. */
  private readonly follow = (): void => {
    const told = new URLSearchParams(location.hash.slice(1));
    const task = told.get("task") ?? "";
    if (this.data.tasks[task]) this.task.value = task;
    this.chooseTask();
    const brain = told.get("brain") ?? "";
    if (this.data.tasks[this.task.value]!.brains[brain]) this.brain.value = brain;
    this.chooseBrain();
    if (/^\d+$/.test(told.get("seed") ?? "")) this.seed.value = told.get("seed")!;
    for (const [name, { slider, input }] of this.known) {
      const number = Number(told.get(name) ?? Number.NaN);
      if (!Number.isFinite(number)) continue;
      input.value = String(place(slider, number));
      input.dispatchEvent(new Event("input"));
    }
  };

  private choose(change: () => void): void {
    change();
    this.keep();
  }

  /** Puts what was chosen into the address, so that it can be sent to somebody. */
  private keep(): void {
    const moved = [...this.moved].map(([name, { slider, input }]): [string, string] => [name, String(Number(value(slider, Number(input.value)).toPrecision(6)))]);
    const told = new URLSearchParams([["task", this.task.value], ["brain", this.brain.value], ["seed", this.seed.value], ...moved]);
    history.replaceState(null, "", `#${told.toString()}`);
  }

  private chooseTask(): void {
    const task = this.data.tasks[this.task.value]!;
    const before = this.brain.value;
    this.brain.replaceChildren(...Object.keys(task.brains).map((name) => make("option", { value: name, selected: name === before }, name)));
    this.summary.textContent = `${task.summary[0]!.toUpperCase()}${task.summary.slice(1)}.`;
    this.chooseBrain();
  }

  private chooseBrain(): void {
    this.moved.clear();
    this.known.clear();
    const told = this.data.sliders[`${this.task.value}/${this.brain.value}`] ?? [];
    this.sliders.replaceChildren(
      ...told.map((slider) => {
        const input = make("input", { type: "range", min: 0, max: STEPS, value: place(slider) });
        const number = make("output", {}, shown(slider.value));
        input.oninput = () => {
          number.textContent = shown(value(slider, Number(input.value)));
          input.setAttribute("aria-valuetext", number.textContent);
          this.moved.set(slider.name, { slider, input });
        };
        input.onchange = () => this.keep();
        this.known.set(slider.name, { slider, input });
        return make("label", { title: slider.text }, make("span", {}, `${slider.name.replaceAll("_", " ")}: `, number), input, make("span", { class: "nb-quiet" }, slider.text));
      }),
    );
    if (!told.length) this.sliders.append(make("p", { class: "nb-quiet" }, "This brain has no parameters that can be moved."));
  }

  /** The chosen case, with the numbers of the sliders that were moved. */
  private chosen(): Case {
    const given = structuredClone(this.data.tasks[this.task.value]!.brains[this.brain.value]!);
    for (const { slider, input } of this.moved.values()) {
      for (const at of slider.places) given.brain.hyper[at] = value(slider, Number(input.value));
    }
    return given;
  }

  /** Mean rewards of chance, the best blind policy and the reference in the first worlds of this very run. */
  private async lines(seed: number, signal: AbortSignal): Promise<Line[]> {
    const { null: chance, blind } = this.data.tasks[this.task.value]!;
    const short = (given: Case): Case => {
      const phase = given.phases.find((one) => one.name === given.scored)!;
      return { ...given, phases: [{ ...phase, episodes: Math.min(phase.episodes, MOST_LINE_EPISODES), ticks: Math.min(phase.ticks, 20000) }] };
    };
    const reward = async (given: Case, guided = false) => {
      const found = await execute(short(given), { session: seed, run: 0 }, { signal }, { guided });
      return mean(found!.records[0]![1].map((row) => row[0]!));
    };
    const lines: Line[] = [{ name: "chance", role: "null", value: await reward(chance) }];
    if (blind) lines.push({ name: "best blind policy", role: "blind", value: await reward(blind) });
    const world = chance.worlds[chance.phases.find((phase) => phase.name === chance.scored)!.world]!;
    if (world.reference) lines.push({ name: "reference", role: "reference", value: await reward(chance, true) });
    return lines;
  }

  private async go(): Promise<void> {
    this.stop = new AbortController();
    const { signal } = this.stop;
    const given = this.chosen();
    const seed = Number(this.seed.value) || 0;
    const of = given.phases.find((phase) => phase.name === given.scored)!.episodes || 1;
    [this.train.disabled, this.cancel.hidden, this.bar.hidden] = [true, false, false];
    this.view.replaceChildren();
    try {
      this.words.textContent = "executing chance, the best blind policy and the reference in the same worlds";
      const lines = await this.lines(seed, signal);
      const points: [number, number][] = [];
      const draw = (drawn: [number, number][], episodes = of) => this.plot.replaceChildren(chart(`Reward of ${given.brain.name} on ${given.task}`, episodes, drawn, lines, this.plot.clientWidth));
      const found = await execute(given, { session: seed, run: 0 }, {
        signal,
        progress: (done, total, phase, record) => {
          [this.bar.max, this.bar.value] = [total || 1, total ? done : 0];
          this.words.textContent = `training: episode ${done}${total ? ` of ${total}` : ""}`;
          if (phase === given.scored) {
            points.push([done, record[0]!]);
            draw(smoothed(points.map(([, y]) => y), 10).map((y, n) => [points[n]![0], y]));
          }
        },
      });
      const rewards = new Map(found!.records).get(given.scored)!.map((row) => row[0]!);
      const width = Math.max(1, Math.round(rewards.length / 25));
      draw(smoothed(rewards, width).map((y, n) => [n + 1, y]), rewards.length);
      this.told(rewards, lines, found!.seconds, found!.steps);
      this.watch(given, seed);
    } catch (error) {
      const cancelled = error instanceof DOMException && error.name === "AbortError";
      this.words.textContent = cancelled ? "Cancelled." : `It could not be trained: ${said(error)}`;
    } finally {
      [this.train.disabled, this.cancel.hidden, this.bar.hidden] = [false, true, true];
    }
  }

  private told(rewards: number[], lines: Line[], seconds: number, steps: number): void {
    const last = rewards.slice(-Math.max(1, Math.round(rewards.length / 10)));
    const beaten = lines.filter((line) => mean(last) > line.value).map((line) => line.name);
    const listed = new Intl.ListFormat("en").format(beaten);
    const verdict = beaten.length ? `above ${listed}` : "not above chance";
    this.words.textContent =
      `Trained in ${seconds.toFixed(1)} s (${steps.toLocaleString("en")} steps). Mean reward of the last ${last.length} episodes: ` +
      `${mean(last).toFixed(2)}, ${verdict}. One run is one draw: another seed gives another curve.`;
    this.dispatchEvent(new CustomEvent("nb-trained", { bubbles: true, detail: { rewards, lines, seconds } }));
  }

  private watch(given: Case, seed: number): void {
    (window.nbCases ??= {})["nb-play"] = given;
    const button = make("button", { type: "button" }, "Watch what it has learned");
    const blind = this.data.tasks[this.task.value]!.blind;
    if (blind) window.nbCases["nb-play-blind"] = blind;
    button.onclick = () => this.view.replaceChildren(make("nb-viewer" as "div", { case: "nb-play", session: seed, run: 0, plays: true, ...(blind && { blind: "nb-play-blind" }) }));
    this.view.replaceChildren(make("div", { class: "nb-row" }, button));
  }
}
