// node test/measure.mjs [SECONDS]: sizes, times and memory of the page in this browser, as a table. No test: figures of
// one machine.
import { statSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { PAGE, clock, open, reach, slide } from "./browser.mjs";

const seconds = Number(process.argv[2] ?? 60);
const file = fileURLToPath(PAGE);
const rows = [["size", `${statSync(file).size} B, ${gzipSync(readFileSync(file), { level: 9 }).length} B gzipped`]];

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

/** Time in ms from the start of the navigation to the first picture with data, in a browser that runs for so long. */
const load = (ms) =>
  open({ address: "about:blank" }, async (page) => {
    await page.waitForTimeout(ms);
    await page.goto(PAGE);
    await page.waitForFunction(() => Number.parseFloat(document.querySelector("#clock")?.textContent) > 0);
    return page.evaluate(() => performance.now());
  });
for (const [what, ms] of [
  ["in a browser that runs", 2000],
  ["while the browser starts", 0],
]) {
  const loads = [];
  for (let i = 0; i < 5; i += 1) loads.push(await load(ms));
  rows.push([`first picture with data after load, ${what}, median of 5`, `${median(loads).toFixed(0)} ms`]);
}

/** Frames per second and the longest pause between two, over some seconds of the page's own clock. */
const frames = (page, ms) =>
  page.evaluate(
    (ms) =>
      new Promise((resolve) => {
        const times = [];
        const next = (now) => (
          times.push(now),
          now - times[0] < ms
            ? requestAnimationFrame(next)
            : resolve({
                rate: ((times.length - 1) / (now - times[0])) * 1000,
                longest: Math.max(...times.slice(1).map((time, i) => time - times[i])),
              })
        );
        requestAnimationFrame(next);
      }),
    ms,
  );

await open({ fragment: "left=red-ecn&right=dualpi2&rate=40&flows=10+dctcp+10&flows=10+cubic+10" }, async (page) => {
  await reach(page, 3);
  const { rate, longest } = await frames(page, 5000);
  rows.push([
    "frames per second, 20 flows at 40 Mbit/s, two bottlenecks",
    `${rate.toFixed(1)}, longest pause ${longest.toFixed(0)} ms`,
  ]);
});

/** From a moved slider to the first picture of the changed run: the number of flows that the page says are there. */
await open({}, async (page) => {
  await page.selectOption("#speed", "10");
  await reach(page, 30);
  await page.selectOption("#speed", "1");
  const found = [];
  for (let flows = 3; flows < 9; flows += 1) {
    await page.waitForTimeout(500);
    found.push(
      await page.evaluate(
        (to) =>
          new Promise((resolve) => {
            const since = performance.now();
            const look = () =>
              new RegExp(`${to} DCTCP`).test(document.querySelector(".words").textContent)
                ? resolve(performance.now() - since)
                : requestAnimationFrame(look);
            const input = document.querySelector("#flows-0");
            input.value = `${to}`;
            input.dispatchEvent(new Event("input", { bubbles: true }));
            look();
          }),
        flows,
      ),
    );
  }
  rows.push([
    "moved slider to its flow in the picture, at 30 s x 40 Mbit/s, median of 6 (a point each 0.1 s)",
    `${median(found).toFixed(0)} ms`,
  ]);
  const since = Date.now();
  await page.click("#measure");
  await page.waitForSelector("#steady-table table");
  rows.push(["steady state: 10 runs of 30 s", `${Date.now() - since} ms`]);
});

await open({ fragment: "left=red-ecn&right=dualpi2&rate=40&flows=10+dctcp+10&flows=10+cubic+10" }, async (page) => {
  await page.selectOption("#speed", "10");
  await reach(page, 2);
  const heap = () => page.evaluate(() => performance.memory.usedJSHeapSize / 2 ** 20);
  const before = await heap();
  await slide(page, "rate", 40);
  await page.waitForTimeout(seconds * 1000);
  rows.push([
    `script memory of the page after ${(await clock(page)).toFixed(0)} s of simulated time at 10 x`,
    `${before.toFixed(1)} to ${(await heap()).toFixed(1)} MiB`,
  ]);
  rows.push([
    "memory of the simulator then",
    await page.evaluate(() => document.documentElement.dataset.bytes ?? "not told"),
  ]);
});
console.log(rows.map(([what, value]) => `| ${what} | ${value} |`).join("\n"));
