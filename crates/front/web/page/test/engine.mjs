// The engine for tests in node, with what they run.
import { existsSync, readFileSync } from "node:fs";
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

/** A shipped scenario as the page has it, by its name there. */
export function presetOf(name) {
  const [file] = [name, `compare/${name}`].map((name) => join(ROOT, "scenarios", `${name}.toml`)).filter(existsSync);
  const scenario = JSON.parse(new Scenario(readFileSync(file, "utf8"), name).json());
  const { rate, schedule, ...bottleneck } = scenario.bottleneck;
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
