// The page of a box on the wire as a reader has it, served by its own server; the box behind it is made up.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { ROOT, open, reach, slide } from "./browser.mjs";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** A box for as long as `use` goes on, which gets the address of its page, what the box says, and what ends it. */
async function shown(use, ...words) {
  const box = spawn(join(ROOT, ".venv/bin/python"), [join(ROOT, "tests/python/shown_box.py"), ...words], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const ended = once(box, "exit");
  const lines = createInterface({ input: box.stdout })[Symbol.asyncIterator]();
  try {
    const { value: address } = await lines.next();
    return await use({ address, says: async () => JSON.parse((await lines.next()).value), end: () => box.stdin.end() });
  } finally {
    box.stdin.end();
    await ended;
  }
}

test("flows, delays, marks and drops of a box are shown as they come", () =>
  shown(({ address }) =>
    open({ address }, async (page) => {
      await reach(page, 3);
      assert.equal(await page.textContent("h1"), "A box between left and right");
      const rows = await page.$$eval("#flows tbody tr", (all) => all.map((row) => row.textContent));
      assert.deepEqual(rows, [
        "10.9.0.1:5001 > 10.9.0.2:443, TCP10.0 Mbit/s40.00.0",
        "10.9.0.1:5002 > 10.9.0.2:443, TCP10.0 Mbit/s0.010.0",
      ]);
      assert.match(await page.textContent("#videos"), /^video over CUBIC: \d+ of \d+ frames late.*on time/);
      assert.ok((await page.$$("#videos .late")).length >= 25);
      const words = await page.textContent("#words");
      assert.match(words, /^Now 20\.0 Mbit\/s leave the queue; packets that are ECN-capable wait 1\.00 ms/);
      assert.match(words, /not ECN-capable wait 15\.0 ms .*at most 7 us late/);
      for (const title of ["Rate of each flow", "Queueing delay, P99 per 0.5 s", "Waiting packets", "Marks and drops"])
        assert.ok(await page.$(`.plot [aria-label^="${title}: Now 20.0 Mbit/s"]`), title);
      const ink = await page.$$eval(".plot canvas", (all) => all.map((canvas) => canvas.toDataURL().length));
      assert.ok(ink.length === 4 && Math.min(...ink) > 2000, `${ink}`);
    }),
  ));

test("a flow that is not shown any more is forgotten, and another gets its colour", () =>
  shown(
    ({ address }) =>
      open({ address }, async (page) => {
        const rows = (ports) =>
          page.waitForFunction((wanted) => {
            const flows = [...document.querySelectorAll("#flows tbody th")].map((row) => row.textContent);
            return wanted === flows.map((flow) => /:(\d+) >/.exec(flow)[1]).join();
          }, ports);
        const colours = () => page.$$eval("#flows tbody i", (all) => all.map((mark) => mark.style.borderColor));
        await rows("5001,5002");
        assert.deepEqual(await colours(), ["var(--scalable)", "var(--classic)"]);
        await slide(page, "move-bottleneck\\.rate", 20);
        await rows("5002");
        assert.deepEqual(await colours(), ["var(--classic)"]);
        await rows("6001,5002");
        assert.deepEqual(await colours(), ["var(--scalable)", "var(--classic)"]);
      }),
    "changing",
  ));

test("a moved control reaches the box, and a refusal is said", () =>
  shown(({ address, says }) =>
    open({ address }, async (page) => {
      await reach(page, 0.5);
      await slide(page, "move-bottleneck\\.rate", 20);
      assert.deepEqual(await says(), [["bottleneck.rate", "20 Mbit/s"]]);
      await page.waitForFunction(() => /^Rate is 20 Mbit\/s since/.test(document.querySelector("#note").textContent));
      await slide(page, "move-flows\\[0\\]\\.rtt", 13);
      await page.waitForFunction(() =>
        /^Round trip 13 ms is refused: not this number$/.test(document.querySelector("#note").textContent),
      );
      assert.equal(await page.inputValue("#move-flows\\[0\\]\\.rtt"), "20");
    }),
  ));

test("a page that is opened later has the controls as they are, and says when the box has ended", () =>
  shown(({ address, says, end }) =>
    open({ address }, async (page) => {
      await reach(page, 0.5);
      await slide(page, "move-bottleneck\\.aqm\\.target", 5);
      await says();
      await page.reload();
      await reach(page, 0.5);
      assert.equal(await page.inputValue("#move-bottleneck\\.aqm\\.target"), "5");
      assert.ok(await page.isHidden("#alert"));
      end();
      await page.waitForFunction(() => /^The box has ended/.test(document.querySelector("#alert").textContent));
    }).catch((error) => {
      // The browser says that the server is gone, as it should.
      if (!/^console: Failed to load resource: net::ERR_CONNECTION_REFUSED/.test(error.message)) throw error;
    }),
  ));

for (const [width, height, dark] of [
  [1280, 800, false],
  [390, 844, true],
])
  test(`the page of a box is readable ${width} pixels wide`, () =>
    shown(({ address }) =>
      open({ address, width, height, dark }, async (page) => {
        await reach(page, 2);
        const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(overflow <= 0, `${overflow} pixels too wide`);
        if (process.env.SHOAL_PICTURES)
          await page.screenshot({ path: join(process.env.SHOAL_PICTURES, `box-${width}.png`) });
        if (width < 1100) await page.getByRole("button", { name: "Controls", exact: true }).click();
        await page.waitForFunction((most) => {
          const { top, bottom } = document.querySelector("#move-bottleneck\\.rate").getBoundingClientRect();
          return top >= 0 && bottom <= most;
        }, height);
        await page.evaluate(axe);
        const { violations } = await page.evaluate(() => axe.run());
        assert.deepEqual(
          violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]),
          [],
        );
        if (process.env.SHOAL_PICTURES)
          await page.screenshot({ path: join(process.env.SHOAL_PICTURES, `box-${width}-open.png`) });
      }),
    ));
