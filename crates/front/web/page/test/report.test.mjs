// Interactive plots of a report that `shoal run --out` writes, in the browser.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { pathToFileURL } from "node:url";
import { ROOT, open } from "./browser.mjs";
import { script } from "../report.mjs";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const folder = mkdtempSync(join(tmpdir(), "shoal-report-"));
after(() => rmSync(folder, { recursive: true }));
execFileSync(
  join(ROOT, ".venv/bin/shoal"),
  ["--quiet", "run", "coexistence", "--set", "duration='45 s'", "--out", join(folder, "run")],
  { stdio: ["ignore", "ignore", "inherit"] },
);
const address = pathToFileURL(join(folder, "run/report.html")).href;

/** Opens what can be explored of a figure. */
const explore = (page, name) => page.click(`details.explore[data-name="${name}"] > summary`);
const plot = (name) => `details.explore[data-name="${name}"] .plot`;
/** The ends of the x axis as its labels show them. */
const hover = async (page, name, part) => {
  const over = page.locator(`${plot(name)} .u-over`).first();
  const { width, height } = await over.boundingBox();
  await over.hover({ position: { x: width * part, y: height / 2 } });
  return page
    .locator(`${plot(name)} output`)
    .first()
    .textContent();
};
const timeOf = (value) => Number(/ at ([\d.]+)$/.exec(value)[1]);

test("the script in the source is what its sources give", async () => {
  // Both are too long to be printed.
  assert.ok(
    readFileSync(join(ROOT, "python/shoal/report/templates/explore.js"), "utf8") === (await script()),
    "node crates/front/web/page/report.mjs python/shoal/report/templates/explore.js writes it",
  );
});

test("values at the cursor, zoom by dragging and back", () =>
  open({ address }, async (page) => {
    await explore(page, "windows");
    const middle = await hover(page, "windows", 0.5);
    assert.match(middle, /^ \d+ at 3[67]\.\d+$/);
    const over = page.locator(`${plot("windows")} .u-over`).first();
    const { x, y, width, height } = await over.boundingBox();
    await page.mouse.move(x + width * 0.6, y + height / 2);
    await page.mouse.down();
    await page.mouse.move(x + width * 0.8, y + height / 2, { steps: 5 });
    await page.mouse.up();
    // From 30 s to 45 s: the middle of what is shown now is at 70 %.
    const zoomed = timeOf(await hover(page, "windows", 0.5));
    assert.ok(Math.abs(zoomed - 40.5) < 0.3, `${zoomed}`);
    await over.dblclick();
    assert.ok(Math.abs(timeOf(await hover(page, "windows", 0.5)) - timeOf(middle)) < 0.3);
  }));

test("the keyboard zooms, moves and shows everything; names switch lines off", () =>
  open({ address }, async (page) => {
    await explore(page, "queue");
    const canvas = page.locator(`${plot("queue")} [role=application]`).first();
    await canvas.focus();
    for (const key of ["+", "+", "ArrowRight"]) await page.keyboard.press(key);
    // A quarter of 45 s around its middle, moved by a fifth of itself: from 19.1 s to 30.4 s.
    assert.ok(Math.abs(timeOf(await hover(page, "queue", 0.5)) - 24.75) < 0.5);
    await page.keyboard.press("Escape");
    assert.ok(Math.abs(timeOf(await hover(page, "queue", 0.5)) - 22.5) < 0.5);
    const name = page.locator(`${plot("windows")} .legend button`).last();
    await explore(page, "windows");
    assert.equal(await name.getAttribute("aria-pressed"), "true");
    await name.focus();
    await page.keyboard.press("Enter");
    assert.equal(await name.getAttribute("aria-pressed"), "false");
  }));

for (const [name, options] of [
  ["a wide page", {}],
  ["a dark phone", { width: 390, dark: true }],
])
  test(`no barrier that axe-core knows in a report on ${name}, and nothing wider than it`, () =>
    open({ address, ...options }, async (page) => {
      for (const figure of ["rates", "windows", "queue", "delay"]) await explore(page, figure);
      assert.equal(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth), false);
      // The policy of the report keeps scripts of others out, so that the check needs another way in.
      const session = await page.context().newCDPSession(page);
      await session.send("Page.setBypassCSP", { enabled: true });
      await page.evaluate(axe);
      const { violations } = await page.evaluate(() => window.axe.run());
      assert.deepEqual(
        violations.map(
          ({ id, nodes }) =>
            `${id}: ${nodes
              .map((node) => node.html)
              .join(" ")
              .slice(0, 300)}`,
        ),
        [],
      );
    }));
