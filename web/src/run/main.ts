/** The elements that execute runs in the browser: nb-run, nb-viewer, nb-play. */
export {};
