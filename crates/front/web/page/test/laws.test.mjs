// Laws of the reader's own on the page.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { ROOT, clock, open, reach } from "./browser.mjs";

const LAWS = join(ROOT, "python/shoal/_data/law");
const there = ["clang", "wasm-ld"].every((program) => spawnSync(program, ["--version"]).status === 0);
const skip = there ? false : "clang and lld are not there";
const folder = mkdtempSync(join(tmpdir(), "shoal-laws-"));

/** Compiles C to a module; returns its path. */
function compiled(name, text) {
  const [source, target] = [join(folder, `${name}.c`), join(folder, `${name}.wasm`)];
  writeFileSync(source, text);
  const flags = ["--target=wasm32", "-O2", "-nostdlib", "-Wl,--no-entry", `-I${LAWS}`];
  execFileSync("clang", [...flags, "-o", target, source]);
  return target;
}

const alerted = (page, words) =>
  page.waitForFunction(
    (words) => document.querySelector("#alert").textContent.includes(words) && !document.querySelector("#alert").hidden,
    words,
  );

const SCENARIO = `
duration = "5 s"
bottleneck = { rate = "10 Mbit/s", buffer = "50 packets", aqm = { kind = "step", threshold = "20 packets" } }
flows = [
    { cc = "CC", name = "law", rtt = "20 ms", count = 2, ecn = "on" },
    { cc = "cubic", rtt = "20 ms" },
]
`;

/** What a scenario file measures on the page, and by the native engine. */
async function measured(page, cc) {
  const file = join(folder, "scenario.toml");
  writeFileSync(file, SCENARIO.replace("CC", cc));
  await page.setInputFiles("#file", file);
  await page.waitForFunction(() => document.querySelector("#file-state")?.textContent === "done");
  const save = page.getByRole("button", { name: "Save the whole result" });
  const [download] = await Promise.all([page.waitForEvent("download"), save.click()]);
  const native = execFileSync(join(ROOT, ".venv/bin/shoal"), ["--quiet", "run", file, "--json"], { encoding: "utf8" });
  return [readFileSync(await download.path(), "utf8").trim(), native.trim()];
}

test("a law that is dropped is a control of the page, and gives the bytes of the native engine", { skip }, () =>
  open({}, async (page) => {
    await reach(page, 1);
    await page.setInputFiles("#file", compiled("again", readFileSync(join(LAWS, "reno.c"), "utf8")));
    await page.waitForFunction(() => document.querySelector("#cc-0").value === "file:again.wasm");
    assert.match(await page.getAttribute("#cc-0", "title"), /Reno as Linux has it/);
    await page.waitForFunction(() => /2 again [0-9.]+ Mbit\/s each/.test(document.querySelector(".words").textContent));
    await page.click("text=as TOML");
    await page.waitForFunction(() =>
      /simulator_sha256 = "[0-9a-f]{64}"/.test(document.querySelector("#text pre")?.textContent ?? ""),
    );
    const [here, native] = await measured(page, "file:again.wasm");
    assert.equal(here, native);
  }));

test("a law of a queue that is dropped is the queue on the right", { skip }, () =>
  open({}, async (page) => {
    await reach(page, 1);
    await page.setInputFiles("#file", compiled("mine", readFileSync(join(LAWS, "codel.c"), "utf8")));
    await page.waitForFunction(() =>
      /^mine: CoDel as Linux has it/.test(document.querySelectorAll(".side .hint")[1].textContent),
    );
    const before = await clock(page);
    await reach(page, before + 1);
  }));

for (const [name, body, words] of [
  ["stops itself", "__builtin_trap();", "the law `file:bad.wasm` failed at packet"],
  ["does not end", "for (;;) shoal.cwnd_cnt++;", "The simulator has not answered for 10 s: the law does not end"],
  ["answers what is no window", "shoal.cwnd = 0;", "it answered cwnd = 0"],
])
  test(`a law that ${name} is named, and the page goes on without it`, { skip }, () =>
    open({}, async (page) => {
      await reach(page, 1);
      const head = '#include "shoal_law.h"\nSHOAL_DESCRIBE("{ \\"abi\\": 1, \\"kind\\": \\"controller\\" }")\n';
      const law = `SHOAL_CALL(on_growth) { ${body} return 0; }\nSHOAL_CALL(on_loss) { return 0; }\n`;
      await page.setInputFiles("#file", compiled("bad", head + law));
      await alerted(page, words);
      await page.waitForFunction(() => document.querySelector("#cc-0").value === "dctcp");
      await reach(page, 1);
      assert.ok(!(await page.textContent("#cc-0")).includes("bad"), "the law is not offered any more");
    }));

test("a file that is no law is refused in words", { skip }, () =>
  open({}, async (page) => {
    await reach(page, 1);
    const empty = join(folder, "empty.wasm");
    writeFileSync(empty, "nothing");
    await page.setInputFiles("#file", empty);
    await alerted(page, "empty.wasm is no law");
    await page.setInputFiles("#file", compiled("silent", "int silent;\n"));
    await alerted(page, "silent.wasm is no law: it has no export `shoal_io`");
    assert.equal(await page.inputValue("#cc-0"), "dctcp");
  }));
