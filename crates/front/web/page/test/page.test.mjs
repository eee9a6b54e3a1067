// The page as a reader has it.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync, mkdtempSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { SHOWS } from "./bbr.mjs";
import { ROOT, clock, open, reach, slide, words } from "./browser.mjs";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

test("a moved slider changes the run in progress", () =>
  open({}, async (page) => {
    await reach(page, 1);
    await slide(page, "flows-0", 5);
    await slide(page, "flows-1", 0);
    await page.waitForFunction(() =>
      [...document.querySelectorAll(".words")].every(
        (one) => /5 DCTCP/.test(one.textContent) && !/CUBIC/.test(one.textContent),
      ),
    );
    const before = await clock(page);
    assert.ok(before > 1, "the run went on");
    await slide(page, "rate", 10);
    // Five flows share 10 Mbit/s once the mean over the last 5 s has forgotten the rate before.
    await page.waitForFunction(() =>
      [...document.querySelectorAll(".words")].every((one) =>
        /5 DCTCP (1\.[6-9]|2\.[0-2])\d* Mbit/.test(one.textContent),
      ),
    );
    assert.ok((await clock(page)) > before, "the run went on");
    assert.equal(await page.textContent("#note"), "A new run from 0 s.");
  }));

for (const [name, width, height] of [
  ["a wide window", 1280, 800],
  ["a phone", 390, 844],
])
  test(`both pictures and what happens are on the first screen of ${name}`, () =>
    open({ width, height }, async (page) => {
      await reach(page, 6);
      for (const scene of await page.$$(".scene canvas")) {
        const box = await scene.boundingBox();
        assert.ok(box.y >= 0 && box.y + box.height <= height && box.width > 200, JSON.stringify(box));
        const text = await scene.getAttribute("aria-label");
        assert.match(text, /bottleneck in slow motion: \d+ packets wait.*dropped since/);
      }
      const verdict = await page.locator("#verdict").boundingBox();
      assert.ok(verdict.y + verdict.height <= height, JSON.stringify(verdict));
      // RED drops packets of CUBIC where it marks those of DCTCP.
      await page.waitForFunction(() => {
        const text = document.querySelector("#verdict").textContent;
        const left = /Left: .*(starved|times as much as one of CUBIC)/;
        return left.test(text) && /Right: .*packets of DCTCP wait/.test(text);
      });
      const facts = await page.textContent(".stage >> nth=0");
      assert.match(facts, /Slow motion, 100 times slower.*2 DCTCP: [\d.]+ Mbit\/s each.*2 CUBIC: [\d.]+ Mbit\/s each/);
    }));

test("the video of the beginning comes too late behind one queue, and in time beside it", () =>
  open({}, async (page) => {
    await reach(page, 6);
    const clocks = await page.$$eval(".clock", (all) => all.map((clock) => clock.textContent));
    assert.match(clocks[0], /^Video: (4\d|50) of 50 frames late$/);
    assert.equal(clocks[1], "Video: on time");
    assert.match(await words(page, 1), /1 Video (0\.9\d|1\.[01]\d) Mbit.* frames late since the start/);
  }));

test("the picture moves, and is a still that changes now and then for those who want it", async () => {
  const pictures = async (still) =>
    open({ still }, async (page) => {
      await reach(page, 1);
      return page.evaluate(
        () =>
          new Promise((resolve) => {
            const canvas = document.querySelector(".scene canvas");
            const seen = new Set();
            const look = () => {
              seen.add(canvas.toDataURL());
              if (performance.now() - began < 3000) setTimeout(look, 50);
              else resolve(seen.size);
            };
            const began = performance.now();
            look();
          }),
      );
    });
  const [moving, still] = [await pictures(false), await pictures(true)];
  assert.ok(still <= 5, `${still} stills in 3 s`);
  assert.ok(moving > 2 * still, `${moving} pictures, ${still} stills`);
});

/** Waits for the answer of a step, and checks what it says of a prediction. */
async function answered(page, said, answer) {
  const options = page.locator("#tour .options button");
  await options.nth(said).click();
  assert.equal(await options.nth(said).getAttribute("aria-pressed"), "true");
  await page.waitForFunction(() => /To try: /.test(document.querySelector("#tour").textContent));
  const text = await page.textContent("#tour [role=status]");
  if (said === answer) assert.match(text, /^As you said\. /, text);
  else assert.ok(text.startsWith(`Not so: ${await options.nth(answer).textContent()}. `), text);
}

test("each step of the tour asks, waits for a prediction, and answers by what is measured", () =>
  open({}, async (page) => {
    await reach(page, 0.5);
    await page.selectOption("#speed", "5");
    await page.getByRole("button", { name: /Take the tour/ }).click();
    // What each step shows: the position of the answer that the numbers give.
    const shows = [1, 0, 0, 0, 1, 0, 0];
    for (const [step, answer] of shows.entries()) {
      assert.match(await page.textContent("#tour h2"), new RegExp(`^${step + 1} of 7: `));
      assert.equal(await page.textContent("#tour [role=status]"), "");
      // The sliders show what runs.
      await page.waitForFunction(() => {
        const flows = new URLSearchParams(location.hash.slice(1)).getAll("flows").map((kind) => kind.split(" ")[0]);
        return flows.every((count, i) => document.querySelector(`#flows-${i}`).value === count);
      });
      // A prediction that is right, and one that is not.
      const said = step % 2 === 0 ? answer : answer === 0 ? 1 : 0;
      await answered(page, said, answer);
      if (step < 6) await page.getByRole("button", { name: "Next step" }).click();
    }
    await page.getByRole("button", { name: "End of the tour" }).click();
    assert.ok(await page.getByRole("button", { name: /Take the tour/ }).isVisible());
  }));

test("the story of BBR goes faster, answers by what is measured, and gives the reader's speed back", () =>
  open({}, async (page) => {
    await reach(page, 0.5);
    await page.selectOption("#speed", "2");
    await page.getByRole("button", { name: /What BBR does/ }).click();
    assert.equal(await page.inputValue("#speed"), "5");
    await page.selectOption("#speed", "10");
    for (const [step, { answer }] of SHOWS.entries()) {
      assert.match(await page.textContent("#tour h2"), new RegExp(`^${step + 1} of ${SHOWS.length}: `));
      assert.equal(await page.inputValue("#speed"), "10", "the reader may choose another one meanwhile");
      await answered(page, step % 2 === 0 ? answer : answer === 0 ? 1 : 0, answer);
      if (step < SHOWS.length - 1) await page.getByRole("button", { name: "Next step" }).click();
    }
    await page.getByRole("button", { name: "End of the story" }).click();
    assert.equal(await page.inputValue("#speed"), "2");
    assert.ok(await page.getByRole("button", { name: /Take the tour/ }).isVisible());
  }));

test("BBR, BBR3 and LEDBAT are among the controls, and each says what it does", () =>
  open({}, async (page) => {
    await reach(page, 0.2);
    await page.click("#words summary");
    const meanings = await page.$$eval("#words dd", (all) => all.map((meaning) => meaning.textContent));
    for (const [cc, shown] of [
      ["bbr", "BBR"],
      ["bbr3", "BBR3"],
      ["ledbat", "LEDBAT"],
    ]) {
      await page.selectOption("#cc-0", cc);
      // The new run names its flows so.
      await page.waitForFunction(
        (name) => new RegExp(`2 ${name} [0-9.]+ Mbit/s each`).test(document.querySelector(".words").textContent),
        shown,
      );
      const title = await page.getAttribute("#cc-0", "title");
      assert.ok(title.length > 60 && meanings.includes(title), title);
      assert.equal(await page.getAttribute(`#cc-0 option[value="${cc}"]`, "title"), title);
      assert.ok(await page.isHidden("#alert"), await page.textContent("#alert"));
    }
  }));

test("terms are explained where they stand, and in a list", () =>
  open({}, async (page) => {
    await reach(page, 0.5);
    const terms = await page.$$eval("abbr", (all) => all.map((one) => [one.textContent, one.title]));
    for (const word of ["RTT", "Control", "Echo of marks", "cwnd of each flow", "alpha of each DCTCP flow"])
      assert.ok(terms.some(([text, title]) => text === word && title.length > 20), word);
    await page.click("#words summary");
    const listed = await page.$$eval("#words dt", (all) => all.map((one) => one.textContent));
    const queues = await page.$$eval("#queue-0 option", (all) => all.map((option) => option.textContent));
    for (const word of ["mark", "cwnd", "alpha", "P99", "RTT", ...queues]) assert.ok(listed.includes(word), word);
    await page.selectOption("#queue-0", "codel");
    await page.waitForFunction(() => /^CoDel: .*\.$/.test(document.querySelector(".side .hint").textContent));
    const meanings = await page.$$eval("#words dd", (all) => all.map((one) => one.textContent));
    // One text for each term: what a pointer shows is in the list.
    for (const [, title] of terms) assert.ok(meanings.includes(title), title);
  }));

test("what was moved is a scenario", () =>
  open({}, async (page) => {
    await reach(page, 0.5);
    await slide(page, "flows-0", 4);
    await slide(page, "rate", 25);
    await reach(page, 1);
    await page.getByRole("button", { name: "as TOML" }).click();
    const text = await page.textContent("#text pre");
    assert.match(text, /kind = "red"/);
    assert.match(text, /"25 Mbit\/s"/);
    assert.match(text, /start = \["0 s", "0 s", "[0-9.]+ m?s", /);
    await page.selectOption("#of", "1");
    await page.getByRole("button", { name: "as a command" }).click();
    await page.waitForFunction(() => /shoal run scenario.toml/.test(document.querySelector("#text pre").textContent));
    assert.match(await page.textContent("#text pre"), /kind = "dualpi2"/);
    await page.getByRole("button", { name: "as Python" }).click();
    await page.waitForFunction(() => /Scenario\.from_toml/.test(document.querySelector("#text pre").textContent));
    // What a reader takes away runs: 600 s natively take about a second.
    const script = join(mkdtempSync(join(tmpdir(), "shoal-script-")), "run.py");
    writeFileSync(script, await page.textContent("#text pre"));
    assert.match(execFileSync(join(ROOT, ".venv/bin/python"), [script], { encoding: "utf8" }), /'jain': 0\.\d+/);
  }));

test("what stands below the words moves down as they grow, and never back under a hand", () =>
  open({}, async (page) => {
    const places = [];
    for (let seconds = 0.5; seconds <= 8; seconds += 0.5) {
      await reach(page, seconds);
      places.push(await page.$eval("#text", (one) => one.getBoundingClientRect().top + scrollY));
    }
    assert.deepEqual(places, places.toSorted((a, b) => a - b));
    assert.ok(new Set(places).size <= 4, `it moved often: ${places}`);
  }));

test("what just happened is told from the event trace, and forgotten with the run", () =>
  open({}, async (page) => {
    await reach(page, 2.2);
    await page.click("#pause");
    const told = await page.$$eval(".happened", (all) => all.map((one) => one.textContent));
    assert.equal(told.length, 2);
    for (const text of told) {
      assert.match(text, /^What happened from \d+ s to \d+ s/);
      assert.match(text, /(DCTCP|CUBIC) [12] (cut its window|left slow start|had to wait)/);
      assert.match(text, /The queue marked \d+ packets? and dropped \d+\.$/);
    }
    await page.selectOption("#queue-0", "codel");
    await page.waitForFunction(() => document.querySelector(".happened").textContent === "");
  }));

test("another queue begins a new run, and the page says so", () =>
  open({}, async (page) => {
    await reach(page, 1);
    await page.selectOption("#queue-0", "coexistence");
    await page.waitForFunction(() => /new run/.test(document.querySelector("#note").textContent));
    assert.equal(await page.inputValue("#queue-0"), "coexistence");
    // The address follows when nothing has moved for a moment.
    await page.waitForFunction(() => location.hash.includes("left=coexistence"));
    await reach(page, 0.3);
  }));

test("a parameter begins a new run, and one that is wrong leaves the run as it was", () =>
  open(
    {
      fragment:
        "left=step-single&right=dualpi2&rate=100&flows=2+dctcp+10&flows=0+cubic+10&left.aqm.threshold=2+packets",
    },
    async (page) => {
      await reach(page, 1);
      await page.locator(".side summary").first().click();
      const threshold = page.locator('[id="parameter-0-aqm.threshold"]');
      assert.equal(await threshold.inputValue(), "2 packets");
      await threshold.fill("40 packets");
      await threshold.press("Enter");
      await page.waitForFunction(() => location.hash.includes("left.aqm.threshold=40+packets"));
      await reach(page, 1);
      const before = await clock(page);
      await threshold.fill("40 miles");
      await threshold.press("Enter");
      await page.waitForFunction(() => /40 miles/.test(document.querySelector("#alert").textContent));
      assert.equal(await threshold.inputValue(), "40 packets");
      await reach(page, before + 0.5);
      assert.match(await page.textContent("#alert"), /threshold/);
    },
  ));

test("a link with a parameter that the bottleneck does not have begins as ever, and says why", () =>
  open(
    { fragment: "left=fq-codel&right=dualpi2&rate=40&flows=1+dctcp+10&flows=1+cubic+10&left.aqm.slope=3" },
    async (page) => {
      await page.waitForFunction(() => /no parameter `aqm.slope`/.test(document.querySelector("#alert").textContent));
      await reach(page, 0.5);
      assert.equal(await page.inputValue("#queue-0"), "red-ecn");
    },
  ));

test("each story has its claim, a paper its results, and the page shows what it can", () =>
  open({}, async (page) => {
    await reach(page, 0.2);
    assert.equal(await page.locator(".story").count(), 5);
    for (const story of await page.locator(".story").all()) {
      await story.locator("summary").click();
      const rows = await story.locator("tbody tr").allTextContents();
      const isPaper = !(await story.locator("summary").textContent()).startsWith("L4S");
      assert.ok(rows.length > 0 === isPaper && rows.every((row) => /(inside|outside)$/.test(row)), rows.join("\n"));
      for (const button of await story.getByRole("button", { name: "Show it" }).all()) {
        await page.evaluate(() => (document.querySelector("#note").textContent = ""));
        await button.click();
        await page.waitForFunction(() => document.querySelector("#note").textContent === "A new run from 0 s.");
        assert.ok(await page.isHidden("#alert"), await page.textContent("#alert"));
      }
    }
    // The last one of the papers: receivers of one kind echo marks as ordinary hosts do, and the others are Reno's.
    await page.locator(".story").nth(3).getByRole("button", { name: "Show it" }).last().click();
    await page.waitForFunction(() => document.querySelector("#queue-1").value === "dualpi2");
    assert.deepEqual(
      [await page.inputValue("#queue-1"), await page.inputValue("#echo-0"), await page.inputValue("#echo-1")],
      ["dualpi2", "classic", ""],
    );
  }));

test("time stops, steps and goes on", () =>
  open({}, async (page) => {
    await reach(page, 0.5);
    await page.click("#pause");
    await page.waitForTimeout(300);
    const stopped = await clock(page);
    await page.waitForTimeout(500);
    assert.equal(await clock(page), stopped);
    await page.getByRole("button", { name: "Step 0.1 s" }).click();
    await page.waitForFunction(
      (before) => Number.parseFloat(document.querySelector("#clock").textContent) > before,
      stopped,
    );
    assert.ok((await clock(page)) < stopped + 0.3);
    await page.click("#pause");
    await reach(page, stopped + 1);
  }));

test("the steady state has intervals of confidence", () =>
  open({}, async (page) => {
    await page.click("#measure");
    await page.waitForSelector("#steady-table table");
    const cells = await page.$$eval("#steady-table tbody tr", (rows) =>
      rows.map((row) => [...row.children].map((cell) => cell.textContent)),
    );
    const jain = cells.find(([name]) => name.startsWith("Jain"));
    for (const cell of jain.slice(1)) assert.match(cell, /^[01]\.\d\d ± \d\.\d\d$/);
    // DCTCP and CUBIC behind one RED are far from fair, and DualPI2 is not.
    assert.ok(Number.parseFloat(jain[1]) + 0.15 < Number.parseFloat(jain[2]), jain.join(" "));
  }));

test("a link holds the controls", () =>
  open(
    { fragment: "left=fq-codel&right=dualq-coupled&rate=60&flows=3+dctcp-ikr+20&flows=1+reno+30&video=1" },
    async (page) => {
      await reach(page, 2);
      assert.equal(await page.inputValue("#queue-0"), "fq-codel");
      assert.equal(await page.inputValue("#rtt-1"), "30");
      assert.match(await words(page, 1), /3 DCTCP-IKR .*1 Reno .*1 Video/);
      assert.match(await words(page, 1), /frames late/);
      assert.ok(await page.isHidden("#alert"));
      await page.getByRole("button", { name: "Link", exact: true }).click();
      assert.match(
        await page.textContent("#text pre"),
        /#left=fq-codel&right=dualq-coupled&rate=60&flows=3\+dctcp-ikr\+20&flows=1\+reno\+30&video=1$/,
      );
    },
  ));

for (const [name, fragment, expected] of [
  ["nonsense", "%%%&&&==", /kinds of flows/],
  ["an unknown queue", "left=nothing&right=dualpi2&rate=40&flows=1+dctcp+10&flows=1+cubic+10", /left bottleneck/],
  [
    "too many flows",
    "left=dualpi2&right=dualpi2&rate=40&flows=999999999+dctcp+10&flows=1+cubic+10",
    /whole number from 0 to/,
  ],
  ["an endless text", `left=${"x".repeat(100_000)}`, /at most 2000/],
])
  test(`a link with ${name} is refused, and the page begins as ever`, () =>
    open({ fragment }, async (page) => {
      await reach(page, 0.5);
      assert.match(await page.textContent("#alert"), expected);
    }));

test("a scenario file is checked, and what is wrong is said with its place", () =>
  open({}, async (page) => {
    await reach(page, 0.2);
    const folder = mkdtempSync(join(tmpdir(), "shoal-file-"));
    const check = async (text) => {
      const path = join(folder, "mine.toml");
      writeFileSync(path, text);
      await page.setInputFiles("#file", path);
    };
    await check('duration = "3 s"\nbuffers = 3\n');
    await page.waitForFunction(() => /mine\.toml:2/.test(document.querySelector("#alert").textContent));
    await check('duration = "3 s"\nbottleneck = { rate = "10 Mbit/s" }\nflows = [{ cc = "reno", rtt = "20 ms" }]\n');
    await page.waitForSelector("#text pre");
    assert.ok(await page.isHidden("#alert"));
    // It says what it is, where the reader looks, and runs: its run gives what the native engine gives, to the byte.
    assert.match(await page.textContent("#text"), /mine\.toml is a scenario: .*, 3 s, 1 group of flows\./);
    assert.ok((await page.locator("#text").boundingBox()).y < 900);
    await page.waitForFunction(() => document.querySelector("#file-state").textContent === "done");
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Save the whole result" }).click(),
    ]);
    const native = execFileSync(
      join(ROOT, ".venv/bin/shoal"),
      ["--quiet", "run", join(folder, "mine.toml"), "--json"],
      { encoding: "utf8" },
    );
    assert.equal(readFileSync(await download.path(), "utf8").trim(), native.trim());
    assert.match(
      await page.textContent("#file-result"),
      /mine\.toml, seed 1, measured from 0\.3 s to 3 s.*Rate of a flow, reno\d/s,
    );
    // A run that raises a question says so, with what to change.
    await check(
      'duration = "20 s"\nbottleneck = { rate = "40 Mbit/s" }\n' +
        'flows = [{ cc = "dctcp", rtt = "28 ms", cwnd_clamp = "20 packets" }]\n',
    );
    await page.waitForFunction(() => /cwnd_clamp/.test(document.querySelector("#text pre").textContent));
    await page.waitForFunction(() => document.querySelector("#file-state").textContent === "done");
    assert.match(
      await page.textContent("#file-result"),
      /Why is bottleneck not full\?.*What to change: a larger cwnd_clamp\./,
    );
    await check(
      'duration = "900000 s"\nbottleneck = { rate = "10 Mbit/s" }\nflows = [{ cc = "reno", rtt = "20 ms" }]\n',
    );
    await page.waitForFunction(() => /900000 s/.test(document.querySelector("#text pre").textContent));
    await page.waitForFunction(() => /[1-9].* s simulated/.test(document.querySelector("#file-state").textContent));
    await page.getByRole("button", { name: "Stop" }).click();
    const before = await clock(page);
    await reach(page, before + 0.5);
    assert.equal(await page.textContent("#file-state"), "stopped");
    await check("x = 1\n".repeat(100_000));
    await page.waitForFunction(() => /at most 200000/.test(document.querySelector("#alert").textContent));
    assert.ok((await clock(page)) > 0.2, "the run goes on");
  }));

for (const lacking of ["WebAssembly", "Worker", "DecompressionStream"])
  test(`a browser without ${lacking} is told so`, () =>
    open({ before: `Object.defineProperty(globalThis, "${lacking}", { value: undefined })` }, async (page) => {
      await page.waitForSelector("#alert:not([hidden])");
      assert.match(await page.textContent("#alert"), /This browser has no/);
    }));

/** A browser that takes its time over the simulator. */
const slow = `{
  const post = Worker.prototype.postMessage;
  Worker.prototype.postMessage = function (message, ...rest) {
    if (message.type !== "boot") return post.call(this, message, ...rest);
    setTimeout(() => post.call(this, message, ...rest), 1500);
  };
}`;
test("a reader who is faster than the simulator begins gets what the address asks for", () =>
  open(
    { before: slow, fragment: "left=red-ecn&right=dualpi2&rate=40&flows=1+dctcp-ikr+10&flows=1+reno+10" },
    async (page) => {
      await page.click("#measure");
      await page.waitForSelector("#steady-table table");
      const text = await page.textContent("#steady-table");
      assert.match(text, /Rate of a flow, reno/);
      assert.doesNotMatch(text, /cubic/);
      assert.equal(await page.isVisible("#alert"), false);
    },
  ));

async function hasNoBarrier(page) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => globalThis.axe.run());
  assert.deepEqual(
    violations.map(
      ({ id, nodes }) =>
        `${id}: ${nodes
          .map((node) => node.html)
          .slice(0, 3)
          .join(" ")}`,
    ),
    [],
  );
  const wider = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  assert.equal(wider, 0, "nothing is wider than the page");
}

for (const [name, options] of Object.entries({
  "a wide light page": {},
  "a wide dark page": { dark: true },
  "a phone": { width: 390, height: 844 },
  "a dark phone": { width: 390, height: 844, dark: true },
}))
  test(`no barrier that axe-core knows on ${name}`, () =>
    open(
      { ...options, fragment: "left=red-ecn&right=dualpi2&rate=40&flows=2+dctcp+10&flows=2+cubic+10&video=1" },
      async (page) => {
        await page.waitForSelector(".side summary");
        for (const summary of await page.locator("summary").all()) await summary.click();
        await page.click("#measure");
        await page.waitForSelector("#steady-table table");
        await page.getByRole("button", { name: "as TOML" }).click();
        await page.waitForSelector("#text pre");
        if (options.width) await page.getByRole("button", { name: "Controls", exact: true }).click();
        await page.waitForTimeout(300);
        await hasNoBarrier(page);
      },
    ));

for (const [name, options] of Object.entries({
  "a wide page": {},
  "a dark phone": { width: 390, height: 844, dark: true },
}))
  test(`no barrier that axe-core knows in a step of the story of BBR on ${name}, and the answer is in sight`, () =>
    open(options, async (page) => {
      await page.getByRole("button", { name: /What BBR does/ }).click();
      assert.ok(await page.$eval("#tour h2", (title) => title === document.activeElement));
      await page.evaluate(() => {
        const speed = document.querySelector("#speed");
        [speed.value] = ["10"];
        speed.dispatchEvent(new Event("change"));
      });
      await answered(page, SHOWS[0].answer, SHOWS[0].answer);
      const answer = await page.locator("#tour [role=status]").boundingBox();
      const bar = await page.locator("#bar").boundingBox();
      const end = options.width ? bar.y : (options.height ?? 900);
      assert.ok(answer.y >= 0 && answer.y + answer.height <= end, JSON.stringify([answer, bar]));
      await hasNoBarrier(page);
    }));

/** Plots, and how many of them have a coloured line: axes and texts are grey. */
const drawn = (page) =>
  page.$$eval(".plot", (plots) => ({
    plots: plots.length,
    drawn: plots.filter((plot) => {
      const canvas = plot.querySelector("canvas");
      const { data } = canvas?.getContext("2d").getImageData(0, 0, canvas.width, canvas.height) ?? { data: [] };
      const isColoured = (i) => {
        const colour = data.slice(i, i + 3);
        return data[i + 3] > 200 && Math.max(...colour) - Math.min(...colour) > 60;
      };
      for (let i = 0; i < data.length; i += 4) if (isColoured(i)) return true;
      return false;
    }).length,
  }));

test("a picture of the whole page has all plots, though no reader has seen them", () =>
  open({}, async (page) => {
    await reach(page, 1);
    await page.waitForTimeout(3000);
    assert.deepEqual(await drawn(page), { plots: 14, drawn: 14 });
  }));

/** A browser in which no plot is drawn while nobody sees it. */
const unseen = `{
  const wait = setTimeout;
  globalThis.setTimeout = (work, ms, ...rest) => (ms === 100 ? 1 : wait(work, ms, ...rest));
}`;
test("print has all plots, on light ground and with the list of words, and the screen is as before afterwards", () =>
  open({ dark: true, before: unseen }, async (page) => {
    await reach(page, 2);
    await page.click("#pause");
    assert.ok((await drawn(page)).drawn < 14, "nobody has looked");
    const state = () =>
      page.evaluate(() => [document.documentElement.dataset.theme, document.querySelector("#words").open]);
    await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
    assert.deepEqual(await drawn(page), { plots: 14, drawn: 14 });
    assert.deepEqual(await state(), ["light", true]);
    await page.evaluate(() => dispatchEvent(new Event("afterprint")));
    assert.deepEqual(await state(), ["dark", false]);
    // Print of a browser, and its preview by the tools of a developer.
    await page.emulateMedia({ media: "print" });
    await page.waitForFunction(() => document.querySelector("#words").open);
    assert.deepEqual(await state(), ["light", true]);
    const wider = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
    assert.equal(wider, false, "nothing is wider than the paper");
    await page.emulateMedia({ media: "screen" });
    await page.waitForFunction(() => !document.querySelector("#words").open);
    assert.ok((await page.pdf()).length > 50_000);
    assert.deepEqual(await state(), ["dark", false]);
  }));

test("in a wide window the controls stand beside the pictures, and the plots are one button away", () =>
  open({ width: 1280, height: 800 }, async (page) => {
    await reach(page, 1);
    const top = async (selector) => (await page.locator(selector).first().boundingBox()).y;
    const right = await page.locator(".stage").nth(1).boundingBox();
    const panel = await page.locator("#panel").boundingBox();
    assert.ok(panel.x >= right.x + right.width && panel.y < 200, JSON.stringify([panel, right]));
    assert.ok((await top("#rate")) < 800, "the rate can be moved on the first screen");
    await page.getByRole("button", { name: "Plots" }).click();
    await page.waitForFunction(() => document.querySelector(".plots").getBoundingClientRect().top < 200);
    assert.ok((await top("#flows-0")) >= 0, "the controls have come along");
    await page.keyboard.press("Tab");
    assert.ok(await page.evaluate(() => document.querySelector("#sides").contains(document.activeElement)));
  }));

test("on a phone a drawer has the controls, and nobody is held in it or falls into it", () =>
  open({ width: 390, height: 844 }, async (page) => {
    await reach(page, 1);
    const button = page.getByRole("button", { name: "Controls", exact: true });
    const hasFocus = (where) => page.evaluate((inside) => document.activeElement.closest(inside) !== null, where);
    const isClosed = () =>
      page.waitForFunction(() => getComputedStyle(document.querySelector("#flows-0")).visibility === "hidden");
    await isClosed();
    // Closed, it is not on the way: the next one behind its button is in the plots.
    await button.focus();
    await page.keyboard.press("Tab");
    assert.ok(await hasFocus("#sides"));
    await button.focus();
    await page.keyboard.press("Enter");
    assert.equal(await button.getAttribute("aria-expanded"), "true");
    assert.ok(await hasFocus("#panel"));
    await page.locator("#flows-0").focus();
    await page.keyboard.press("ArrowRight");
    await page.waitForFunction(() => /3 DCTCP/.test(document.querySelector(".facts").textContent));
    // A picture is in sight above the open drawer.
    const scene = await page.locator(".scene canvas").first().boundingBox();
    assert.ok(scene.y + scene.height < (await page.locator("#panel").boundingBox()).y);
    await page.keyboard.press("Escape");
    await isClosed();
    assert.ok(await button.evaluate((opener) => opener === document.activeElement && opener.ariaExpanded === "false"));
    await button.click();
    await page.getByRole("button", { name: "Close" }).click();
    await isClosed();
    // Whoever goes on by keys leaves it, and it does not stay in the way.
    await button.click();
    await page.locator("#video").focus();
    await page.keyboard.press("Tab");
    await isClosed();
    assert.ok(await hasFocus("#sides"));
  }));

test("the way to the controls for those who use keys leads there, and leaves the run as it is", async () => {
  for (const width of [1280, 390])
    await open({ width }, async (page) => {
      await reach(page, 1);
      await page.keyboard.press("Tab");
      await page.keyboard.press("Enter");
      assert.equal(await page.evaluate(() => document.activeElement.id), "panel");
      await page.keyboard.press("Tab");
      assert.ok(await page.evaluate(() => document.activeElement.closest("#panel") !== null));
      assert.ok((await page.isHidden("#alert")) && (await clock(page)) >= 1);
    });
});

test("left and right have the same axes, and a phone shows them at the same height, to be swiped", () =>
  open({ width: 390, height: 844 }, async (page) => {
    await reach(page, 3);
    const places = await page.$$eval(".plot", (plots) => plots.map((plot) => plot.getBoundingClientRect().top));
    assert.deepEqual(places.slice(0, 7).map(Math.round), places.slice(7).map(Math.round));
    const next = await page.locator(".side").nth(1).boundingBox();
    assert.ok(next.x < 390 && next.x > 300, "the other side is in sight");
    await page.getByRole("button", { name: "Plots" }).click();
    await page.locator("#sides").evaluate((sides) => (sides.scrollLeft = sides.scrollWidth));
    await page.waitForFunction(() => document.querySelectorAll(".side")[1].getBoundingClientRect().left < 100);
    await page.click("#pause");
    await page.waitForTimeout(2500);
    const axes = await page.$$eval(".plot canvas", (all) =>
      all.map((canvas) => {
        const [width, height] = [Math.round(canvas.width * 0.16), Math.round(canvas.height * 0.6)];
        // The labels of the vertical axis stand left of the grid.
        return canvas.getContext("2d").getImageData(0, 0, width, height).data.join();
      }),
    );
    for (const plot of [0, 1, 2, 3, 4, 5, 6]) assert.ok(axes[plot] === axes[plot + 7], `plot ${plot}`);
  }));

test("reduced motion means few pictures of the same time", () =>
  open({ still: true }, async (page) => {
    await reach(page, 1);
    const before = await clock(page);
    const pictures = await page.evaluate(
      () =>
        new Promise((resolve) => {
          let count = 0;
          new MutationObserver(() => (count += 1)).observe(document.querySelector("#clock"), {
            childList: true,
            characterData: true,
            subtree: true,
          });
          setTimeout(() => resolve(count), 3000);
        }),
    );
    assert.ok(pictures >= 2 && pictures <= 7, `${pictures} pictures in 3 s`);
    // Time does not pass more slowly: a generous bound, since the machine may be busy.
    assert.ok((await clock(page)) - before > 1.5);
  }));

test("the keyboard reaches everything", () =>
  open({}, async (page) => {
    await reach(page, 0.2);
    const seen = [];
    for (let i = 0; i < 60; i += 1) {
      await page.keyboard.press("Tab");
      const id = await page.evaluate(() => document.activeElement.id || document.activeElement.textContent);
      if (seen.includes(id) && id === seen[0]) break;
      seen.push(id);
      if (id === "flows-0") await page.keyboard.press("ArrowRight");
      if (id === "pause") await page.keyboard.press("Enter");
    }
    for (const id of [
      "flows-0",
      "cc-0",
      "rtt-0",
      "flows-1",
      "rate",
      "video",
      "pause",
      "speed",
      "queue-0",
      "queue-1",
      "measure",
    ])
      assert.ok(seen.includes(id), `${id} in ${seen}`);
    assert.equal(await page.inputValue("#flows-0"), "3");
    assert.equal(await page.textContent("#pause"), "Go on");
  }));
