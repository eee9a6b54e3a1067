// Runs scenarios in the WebAssembly module: node run.mjs MODULE_FOLDER IN_FOLDER OUT_FOLDER
// Each IN_FOLDER/*.toml gives OUT_FOLDER/*.json with the result, or *.error with the message.
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [module, input, output] = process.argv.slice(2);
const { initSync, Scenario } = await import(pathToFileURL(join(resolve(module), "shoal.js")));
initSync({ module: readFileSync(join(module, "shoal_bg.wasm")) });

for (const file of readdirSync(input).filter((name) => name.endsWith(".toml"))) {
  const name = basename(file, ".toml");
  try {
    const scenario = new Scenario(readFileSync(join(input, file), "utf8"), file);
    const run = scenario.run();
    writeFileSync(join(output, `${name}.json`), run.json());
    run.free();
    scenario.free();
  } catch (error) {
    // What the module refuses comes as text; anything else is a defect of it.
    if (typeof error !== "string") throw error;
    writeFileSync(join(output, `${name}.error`), error);
  }
}
