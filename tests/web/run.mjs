// Runs scenarios in the WebAssembly module: node run.mjs MODULE_FOLDER IN_FOLDER OUT_FOLDER
// Each IN_FOLDER/*.toml gives OUT_FOLDER/*.json with the result and *.tables with checksums, or *.error with the
// message. Each IN_FOLDER/*.moves gives the same of a live run: a list of pairs of a time in seconds and the scenario
// from then on.
import { createHash } from "node:crypto";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { basename, extname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [module, input, output] = process.argv.slice(2);
const { initSync, Live, Scenario } = await import(pathToFileURL(join(resolve(module), "shoal.js")));
initSync({ module: readFileSync(join(module, "shoal_bg.wasm")) });

// Of each column of each table a checksum: of its numbers as 64-bit floating point, or of its words, a line each.
function tables(run) {
  const column = (table, name) => {
    const numbers = run.numbers(table, name);
    const words = run.words(table, name);
    const bytes = words
      ? Array.from(numbers, (code) => `${words[code]}\n`).join("")
      : new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength);
    return [name, createHash("sha256").update(bytes).digest("hex")];
  };
  const columns = (table) => Object.fromEntries(run.columns(table).map((name) => column(table, name)));
  return Object.fromEntries(run.tables().map((table) => [table, columns(table)]));
}

function runScenario(text, file) {
  const scenario = new Scenario(text, file);
  const run = scenario.run();
  scenario.free();
  return run;
}

function runMoves(text, file) {
  const [[, first], ...moves] = JSON.parse(text);
  const live = new Live(new Scenario(first, file));
  for (const [at, plan] of moves) {
    // In steps, as a page would go on between two pictures.
    for (let step = 1; step <= 3; step += 1) live.advance((at * step) / 3, 1e12);
    const scenario = new Scenario(plan, file);
    live.replace(scenario);
    scenario.free();
  }
  return live.finish();
}

const kinds = { ".toml": runScenario, ".moves": runMoves };
for (const file of readdirSync(input)) {
  const kind = extname(file);
  const name = basename(file, kind);
  try {
    const run = kinds[kind](readFileSync(join(input, file), "utf8"), `${name}.toml`);
    writeFileSync(join(output, `${name}.json`), run.json());
    writeFileSync(join(output, `${name}.tables`), JSON.stringify(tables(run)));
    run.free();
  } catch (error) {
    // What the module refuses comes as text; anything else is a defect of it.
    if (typeof error !== "string") throw error;
    writeFileSync(join(output, `${name}.error`), error);
  }
}
