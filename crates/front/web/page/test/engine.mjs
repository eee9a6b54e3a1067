// The engine for tests in node, with what they run.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { ROOT } from "./browser.mjs";

const module = join(ROOT, "target/web/module");
const { initSync, Live, Scenario } = await import(pathToFileURL(join(module, "shoal.js")));
initSync({ module: readFileSync(join(module, "shoal_bg.wasm")) });

/** A file of the page as a module of node. */
export async function load(name, define = {}) {
  const { outputFiles } = await build({
    entryPoints: [join(import.meta.dirname, "../src", name)],
    bundle: true,
    format: "esm",
    write: false,
    define,
  });
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].text).toString("base64")}`);
}
export { Live, Scenario };

/** A shipped scenario as the page has it. */
export function presetOf(name) {
  const { rate, schedule, ...bottleneck } = JSON.parse(
    new Scenario(readFileSync(join(ROOT, "scenarios", `${name}.toml`), "utf8"), name).json(),
  ).bottleneck;
  return { name, title: name, about: "", bottleneck };
}

export const PRESETS = ["red-ecn", "dualpi2", "coexistence", "codel"].map(presetOf);
export const CONTROLS = {
  queues: ["red-ecn", "dualpi2"],
  parameters: [{}, {}],
  rateMbps: 20,
  host: "ideal",
  lossPermille: 0,
  video: "none",
  seed: 1,
  kinds: [
    { cc: "dctcp", flows: 1, rttMs: 10 },
    { cc: "cubic", flows: 1, rttMs: 10 },
  ],
};
