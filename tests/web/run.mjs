// Runs scenarios in the WebAssembly module: node run.mjs MODULE_FOLDER IN_FOLDER OUT_FOLDER
// Each IN_FOLDER/*.toml gives OUT_FOLDER/*.json with the result and *.tables with checksums, or *.error with the message.
import { createHash } from "node:crypto";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [module, input, output] = process.argv.slice(2);
const { initSync, Scenario } = await import(pathToFileURL(join(resolve(module), "shoal.js")));
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

for (const file of readdirSync(input).filter((name) => name.endsWith(".toml"))) {
  const name = basename(file, ".toml");
  try {
    const scenario = new Scenario(readFileSync(join(input, file), "utf8"), file);
    const run = scenario.run();
    writeFileSync(join(output, `${name}.json`), run.json());
    writeFileSync(join(output, `${name}.tables`), JSON.stringify(tables(run)));
    run.free();
    scenario.free();
  } catch (error) {
    // What the module refuses comes as text; anything else is a defect of it.
    if (typeof error !== "string") throw error;
    writeFileSync(join(output, `${name}.error`), error);
  }
}
