/**
 * <nb-viewer case="ID" session="2026" run="3" against="ID2" blind="ID3" runs="JSON-ID">: watches a run that is executed here.
 * With `plays` it begins by itself. `runs` names a list of runs with labels (best, median, worst), `against` another brain's case on the same seeds,
 * `blind` the case of the best policy that ignores its input.
 */
import { gauges, Painter, colour } from "./draw";
import { bar, showMind } from "./mind";
import { make, said, styled } from "./parts";
import { caseOf } from "./runner";
import { Track } from "./track";
import type { Case, Episode, Expected } from "./types";

interface Side { title: string; track: Track; number: number; episode: Episode | null; painter: Painter | null; canvas: HTMLCanvasElement; gauges: HTMLElement; caption: HTMLElement }
type Ghost = { role: "reference" | "blind"; box: HTMLInputElement; of: (run: Expected) => Track; track: Track };

/** What a colour stands for is said in words beside a patch of it: coloured words are hard to read. */
function swatch(role: string): HTMLElement {
  const patch = make("i", { class: "nb-swatch", "aria-hidden": "true" });
  patch.style.background = colour(role);
  return patch;
}

const SPEEDS = [0.25, 0.5, 1, 2, 4, 8];
const LESS_MOTION = "(prefers-reduced-motion: reduce)";
/** A run with more phases tests copies of the brain in most of them: then only those in which it learns are offered. */
const MOST_PHASES = 8;

export class NbViewer extends HTMLElement {
  private given!: Case;
  private sides: Side[] = [];
  private ghosts: Ghost[] = [];
  private at = 0;
  /** While it plays: how far it is from this step to the next. */
  private share = 0;
  private timer = 0;
  private stop: AbortController | null = null;
  private readonly stage = make("div", { class: "nb-stage" });
  private readonly play = make("button", { type: "button", "aria-pressed": "false" }, "Play");
  private readonly time = make("input", { type: "range", min: 0, max: 0, value: 0, "aria-label": "step of the episode" });
  private readonly clock = make("span", { class: "nb-quiet" });
  private readonly speed = make("select", { "aria-label": "speed" }, ...SPEEDS.map((n) => make("option", { value: n, selected: n === 1 }, `${n} ×`)));
  private readonly slider = make("input", { type: "range", min: 1, max: 1, value: 1, "aria-label": "episode of the training" });
  private readonly number = make("input", { type: "number", min: 1, value: 1, "aria-label": "number of the episode" });
  private readonly beside = make("select", { "aria-label": "beside it" });
  private readonly runs = make("select", { "aria-label": "run" });
  private readonly phase = make("select", { "aria-label": "phase" });
  private readonly marks = make("span", { class: "nb-row" });
  private readonly legend = make("p", { class: "nb-row nb-legend" });
  private readonly status = make("p", { class: "nb-quiet", role: "status", "aria-live": "polite" });
  private readonly mind = make("div", { class: "nb-mind" });
  private choices: Expected[] = [];

  connectedCallback(): void {
    if (this.childElementCount) return;
    styled();
    try {
      this.given = caseOf(this.getAttribute("case") ?? "");
      this.build();
    } catch (error) {
      this.append(make("p", { class: "nb-bad" }, said(error)));
    }
  }

  disconnectedCallback(): void {
    this.pause();
    this.stop?.abort();
  }

  private build(): void {
    const listed = this.getAttribute("runs");
    const own: Expected = { session: Number(this.getAttribute("session") ?? 0), run: Number(this.getAttribute("run") ?? 0), seed: this.getAttribute("seed") ?? "" };
    this.choices = listed ? (JSON.parse(document.getElementById(listed)?.textContent ?? "[]") as Expected[]) : [own];
    this.choices.forEach((run, n) => this.runs.append(make("option", { value: n }, run.label ?? `run ${run.run}`)));
    const { phases, scored } = this.given;
    const offered = phases.length > MOST_PHASES ? phases.filter((phase) => phase.learns) : phases;
    this.phase.append(...offered.map(({ name }) => make("option", { value: name, selected: name === scored }, name)));
    this.beside.append(make("option", { value: "" }, "nothing"), make("option", { value: "first", selected: true }, "episode 1"));
    for (const [key, name] of this.others()) this.beside.append(make("option", { value: `case ${key}` }, name));
    const [back, forward] = [make("button", { type: "button", "aria-label": "one step back" }, "◂"), make("button", { type: "button", "aria-label": "one step on" }, "▸")];
    back.onclick = () => this.go(this.at - 1);
    forward.onclick = () => this.go(this.at + 1);
    this.play.onclick = () => (this.timer ? this.pause() : this.start());
    this.time.oninput = () => this.go(Number(this.time.value));
    this.slider.onchange = () => this.choose(Number(this.slider.value));
    this.number.onchange = () => this.choose(Number(this.number.value));
    this.slider.oninput = () => (this.number.value = this.slider.value);
    this.beside.onchange = this.runs.onchange = () => void this.load();
    this.phase.onchange = () => this.enter(this.phase.value);
    this.onkeydown = (event) => this.key(event);
    const panel = make("details", {}, make("summary", {}, `What ${this.given.brain.name} senses, does and has learned`), this.mind);
    panel.ontoggle = () => this.show();
    this.append(
      make("div", { class: "nb-row" }, ...(this.choices.length > 1 ? [make("label", {}, "Run ", this.runs)] : []), ...(offered.length > 1 ? [make("label", {}, "Phase ", this.phase)] : []), make("label", {}, "Episode ", this.number), this.slider, make("label", {}, "beside ", this.beside)),
      this.stage, this.legend, make("div", { class: "nb-row" }, this.play, back, forward, this.time, this.clock, this.speed), this.marks, this.status,
      panel,
    );
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.show());
    new ResizeObserver(() => this.show()).observe(this.stage);
    this.enter(scored);
  }

  /** Brains on the same task that the page can execute too: the one it names, and those that were brought for others. */
  private others(): [string, string][] {
    const [named, own, blind] = [this.getAttribute("against"), this.getAttribute("case"), this.getAttribute("blind")];
    const known = Object.entries(window.nbCases ?? {}).filter(([key, one]) => one.task === this.given.task && ![named, own, blind].includes(key) && !key.endsWith("-blind") && one.brain.name !== this.given.brain.name);
    return [...(named ? [[named, caseOf(named).brain.name] as [string, string]] : []), ...known.map(([key, one]): [string, string] => [key, one.brain.name])];
  }

  /** Shows the last episode of a phase. */
  private enter(phase: string): void {
    this.given = { ...this.given, scored: phase };
    const total = new Track(this.given, this.choices[0]!).episodes;
    for (const input of [this.slider, this.number]) [input.max, input.value] = [String(total), String(total)];
    this.addGhosts();
    void this.load();
  }

  private addGhosts(): void {
    this.ghosts = [];
    this.marks.replaceChildren();
    const world = this.given.worlds[this.given.phases.find((phase) => phase.name === this.given.scored)!.world]!;
    const blind = this.getAttribute("blind");
    const wanted: { role: Ghost["role"]; word: string; given: Case; guided?: boolean }[] = [];
    if (world.reference) wanted.push({ role: "reference", word: "reference", given: this.given, guided: true });
    if (blind) wanted.push({ role: "blind", word: "best blind policy", given: { ...caseOf(blind), scored: this.given.scored } });
    for (const { role, word, given, guided } of wanted) {
      const box = make("input", { type: "checkbox" });
      const label = make("label", {}, box, " ", swatch(role), ` ghost of the ${word}`);
      box.onchange = () => void this.load();
      this.marks.append(label);
      const of = (run: Expected) => new Track(given, run, { alone: true, ...(guided && { guided }) });
      this.ghosts.push({ role, box, of, track: of(this.choices[0]!) });
    }
  }

  private key(event: KeyboardEvent): void {
    if ((event.target as HTMLElement).matches("input, select, summary")) return;
    const keys: Record<string, () => void> = {
      ArrowLeft: () => this.go(this.at - 1), ArrowRight: () => this.go(this.at + 1), Home: () => this.go(0), End: () => this.go(this.length - 1),
    };
    if (keys[event.key]) {
      event.preventDefault();
      keys[event.key]!();
    }
  }

  private choose(number: number): void {
    const episode = Math.min(Number(this.slider.max), Math.max(1, Math.round(number) || 1));
    this.slider.value = this.number.value = String(episode);
    void this.load();
  }

  private side(title: string, track: Track, number: number): Side {
    const canvas = make("canvas", { role: "img", tabindex: 0 });
    const [shown, caption] = [make("div", { class: "nb-gauges" }), make("figcaption", {}, title)];
    this.stage.append(make("figure", {}, caption, canvas, shown));
    return { title, track, number, episode: null, painter: null, canvas, gauges: shown, caption };
  }

  /** Executes what is to be seen; what was executed before is there at once. */
  private async load(): Promise<void> {
    this.pause();
    this.stop?.abort();
    const stop = (this.stop = new AbortController());
    const run = this.choices[Number(this.runs.value) || 0]!;
    const number = Number(this.slider.value) - 1;
    const own = this.sides.find((side) => side.track.given === this.given && side.track.run === run)?.track ?? new Track(this.given, run);
    this.stage.replaceChildren();
    const name = this.given.brain.name;
    this.sides = [this.side(`${name}, episode ${number + 1}`, own, number)];
    if (this.beside.value === "first" && number > 0) this.sides.unshift(this.side(`${name}, episode 1`, own, 0));
    if (this.beside.value === "first" && number > 0) this.stage.prepend(this.stage.lastElementChild!);
    const chosen = this.beside.value.split("case ")[1];
    if (chosen) {
      const other = { ...caseOf(chosen), scored: this.given.scored };
      this.sides.push(this.side(`${other.brain.name}, episode ${number + 1}`, new Track(other, run), number));
    }
    try {
      for (const ghost of this.ghosts) if (ghost.track.run !== run) ghost.track = ghost.of(run);
      const ghosts = this.ghosts.filter((ghost) => ghost.box.checked).map((ghost) => ghost.track.episode(number, stop.signal));
      await Promise.all([...this.sides.map((side) => this.fill(side, stop.signal)), ...ghosts]);
      if (stop.signal.aborted) return;
      this.status.textContent = "";
      this.explain();
      this.time.max = String(this.length - 1);
      this.go(0);
      this.dispatchEvent(new CustomEvent("nb-loaded", { bubbles: true }));
      if (this.hasAttribute("plays") && !matchMedia(LESS_MOTION).matches) this.start();
    } catch (error) {
      if (!(error instanceof DOMException)) this.status.textContent = `The run could not be shown: ${said(error)}`;
    }
  }

  private async fill(side: Side, signal: AbortSignal): Promise<void> {
    side.episode = await side.track.episode(side.number, signal, (done, _of, phase) => {
      this.status.textContent = `executing the run up to here: episode ${done} of phase '${phase}'`;
    });
    side.painter = new Painter(side.canvas, side.track.given.worlds[side.episode.world]!.picture);
  }

  /** What the colours of the picture mean. */
  private explain(): void {
    const { legend, field } = this.given.worlds[this.sides[0]!.episode!.world]!.picture;
    const told = Object.entries(legend).map(([role, word]) => make("span", {}, swatch(role), ` ${word}`));
    this.legend.replaceChildren(...told, ...(field ? [make("span", {}, `background: ${field}`)] : []));
  }

  private get length(): number {
    return Math.max(1, ...this.sides.map((side) => side.episode?.frames.length ?? 0));
  }

  private go(at: number, part = 0): void {
    [this.at, this.share] = [Math.min(this.length - 1, Math.max(0, at)), part];
    this.time.value = String(this.at);
    this.show();
  }

  private async ghostFrames(number: number): Promise<{ frames: Episode["frames"]; role: Ghost["role"] }[]> {
    const shown = this.ghosts.filter((ghost) => ghost.box.checked);
    return Promise.all(shown.map(async ({ role, track }) => ({ role, frames: (await track.episode(number)).frames })));
  }

  /** Draws the pictures; the words beside them stay. */
  private paint(): void {
    for (const { episode, painter, number } of this.sides) {
      if (!episode || !painter) continue;
      const at = Math.min(this.at + this.share, episode.frames.length - 1);
      void this.ghostFrames(number).then((ghosts) => painter.draw(episode.frames, at, ghosts));
    }
  }

  private show(): void {
    this.paint();
    this.clock.textContent = `step ${this.at} of ${this.length - 1}`;
    for (const side of this.sides) {
      const { episode } = side;
      if (!episode) continue;
      const at = Math.min(this.at, episode.frames.length - 1);
      const frame = episode.frames[at]!;
      const picture = side.track.given.worlds[episode.world]!.picture;
      const columns = side.track.given.phases.find((phase) => phase.name === episode.phase)!.columns;
      const told = gauges(frame, picture);
      const numbers = told.filter(({ share }) => share === undefined).map(({ word, text }) => make("span", {}, `${word} `, make("b", {}, text!)));
      const total = make("span", {}, "reward of the whole episode ", make("b", {}, episode.record[0]!.toFixed(2)));
      const shares = told.filter(({ share }) => share !== undefined);
      side.gauges.replaceChildren(
        make("p", {}, ...numbers, total),
        ...shares.flatMap(({ word, share, role }) => [make("span", {}, word), bar(share!, role), make("span", {}, `${Math.round(100 * share!)} %`)]),
      );
      const spoken = told.map(({ word, share, text }) => `${word} ${text ?? `${Math.round(100 * share!)} %`}`).join(", ");
      side.canvas.setAttribute("aria-label", `${side.title}: step ${at} of ${columns.includes("steps") ? episode.record[1] : episode.frames.length - 1}. ${spoken}`);
    }
    const last = this.sides.find((side) => side.track.given === this.given && side.number === Number(this.slider.value) - 1);
    if (last?.episode && (this.mind.parentElement as HTMLDetailsElement).open) {
      showMind(this.mind, this.given, last.episode.frames, Math.min(this.at, last.episode.frames.length - 1), last.track.weights);
    }
  }

  /** Plays by the clock. Between two steps things are on their way, unless the reader asked for less motion. */
  private start(): void {
    const { frames } = this.given.worlds[this.sides[0]?.episode?.world ?? 0]!.picture;
    const still = matchMedia(LESS_MOTION).matches;
    if (this.at >= this.length - 1) this.at = 0;
    this.play.textContent = "Pause";
    this.play.setAttribute("aria-pressed", "true");
    let before = performance.now();
    let place = this.at;
    const tick = (now: number) => {
      const [from, share] = [this.at, this.share];
      if (Math.floor(place) !== from) place = from + share; // the reader moved the slider
      place = Math.min(this.length - 1, place + ((now - before) / 1000) * frames * Number(this.speed.value));
      before = now;
      const step = Math.floor(place);
      this.share = still ? 0 : place - step;
      if (step !== from) this.go(step, this.share);
      else if (!still) this.paint();
      if (place >= this.length - 1) this.pause();
      else this.timer = requestAnimationFrame(tick);
    };
    this.timer = requestAnimationFrame(tick);
  }

  private pause(): void {
    cancelAnimationFrame(this.timer);
    this.timer = this.share = 0;
    this.play.textContent = "Play";
    this.play.setAttribute("aria-pressed", "false");
  }
}
