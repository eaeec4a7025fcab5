// Builds every entry (src/<name>/main.ts) into one classic script, so that pages work from file://, and writes down
// the hash of every source and of every built file: tests/web/test_built.py compares them without Node.
import { createHash } from "node:crypto";
import { readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";

const HERE = fileURLToPath(new URL(".", import.meta.url));
const OUT = process.env.NB_WEB_OUT ?? join(HERE, "../src/nematodebench/web");
const PALETTE = join(HERE, "../src/nematodebench/drawing/palette.json");
const ENTRIES = readdirSync(join(HERE, "src"))
  .filter((name) => readdirSync(join(HERE, "src", name)).includes("main.ts"))
  .sort();

/** Files that the built scripts are made of: everything under src/, what this folder says of the tools, and the palette. */
function sources() {
  const listed = readdirSync(join(HERE, "src"), { recursive: true }).map((name) => join(HERE, "src", String(name)));
  const files = listed.filter((path) => statSync(path).isFile());
  const own = ["build.mjs", "package.json", "package-lock.json", "tsconfig.json"].map((name) => join(HERE, name));
  return [...files, ...own, PALETTE].sort();
}

const sha256 = (path) => createHash("sha256").update(readFileSync(path)).digest("hex");
const hashes = (paths, base) => Object.fromEntries(paths.map((path) => [relative(base, path), sha256(path)]));

for (const name of ENTRIES) {
  rmSync(join(OUT, `${name}.js`), { force: true });
  await build({
    configFile: false,
    root: HERE,
    logLevel: "warn",
    build: {
      target: "es2022",
      outDir: OUT,
      emptyOutDir: false,
      copyPublicDir: false,
      lib: { entry: join(HERE, "src", name, "main.ts"), formats: ["iife"], name: `nb_${name}`, fileName: () => `${name}.js` },
    },
  });
}

const built = ENTRIES.map((name) => join(OUT, `${name}.js`));
const manifest = { sources: hashes(sources(), HERE), built: hashes(built, OUT) };
writeFileSync(join(OUT, "built.json"), `${JSON.stringify(manifest, null, 2)}\n`);
