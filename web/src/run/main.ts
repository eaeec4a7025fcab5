/** The elements that execute runs in the browser: nb-run, nb-viewer, nb-play. */
import { NbPlay } from "./nb-play";
import { NbRun } from "./nb-run";
import { NbViewer } from "./nb-viewer";
import { caseOf, execute, variant } from "./runner";
import { brainSeed, runSeed } from "./seeds";

const api = { caseOf, execute, variant, runSeed, brainSeed };
declare global {
  interface Window {
    nb?: typeof api;
  }
}
window.nb = api;
for (const [name, element] of Object.entries({ "nb-run": NbRun, "nb-viewer": NbViewer, "nb-play": NbPlay })) {
  if (!customElements.get(name)) customElements.define(name, element);
}
