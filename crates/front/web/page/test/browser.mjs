// The page in a browser of Debian, without a window and without a network.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const here = dirname(fileURLToPath(import.meta.url));
export const ROOT = resolve(here, "../../../../..");
export const PAGE = pathToFileURL(join(ROOT, "python/shoal/_data/page/shoal.html")).href;
/** Longer than anything takes: a limit against hanging, in ms. */
export const LIMIT = 30_000;

/**
 * Opens the page and gives it to `use`; fails on errors of scripts and on requests for anything but the file, or what
 * is below the address of a page that is served.
 */
export async function open(
  { address = PAGE, fragment = "", width = 1400, height = 900, dark = false, still = false, before } = {},
  use,
) {
  const profile = mkdtempSync(join(tmpdir(), "shoal-page-"));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: process.env.SHOAL_CHROMIUM ?? "/usr/bin/chromium",
    viewport: { width, height },
    colorScheme: dark ? "dark" : "light",
    reducedMotion: still ? "reduce" : "no-preference",
    args: [
      "--headless",
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
  try {
    const page = await context.newPage();
    page.setDefaultTimeout(LIMIT);
    const wrong = [];
    page.on("pageerror", (error) => wrong.push(`error: ${error.message}`));
    page.on("console", (message) => message.type() === "error" && wrong.push(`console: ${message.text()}`));
    page.on(
      "request",
      (request) =>
        /^(file|blob|data):/.test(request.url()) ||
        (address !== PAGE && request.url().startsWith(address)) ||
        wrong.push(`request: ${request.url()}`),
    );
    if (before) await page.addInitScript(before);
    await page.goto(address + (fragment && `#${fragment}`));
    const result = await use(page);
    if (wrong.length > 0) throw new Error(wrong.join("\n"));
    return result;
  } finally {
    await context.close();
    rmSync(profile, { recursive: true, force: true });
  }
}

/** Simulated time in s that the page shows. */
export const clock = async (page) => Number.parseFloat(await page.textContent("#clock"));

/** Waits until the page shows this simulated time. */
export const reach = (page, seconds) =>
  page.waitForFunction((s) => Number.parseFloat(document.querySelector("#clock").textContent) >= s, seconds);

/** Moves a slider as a hand would. */
export const slide = (page, id, value) =>
  page.$eval(
    `#${id}`,
    (input, to) => {
      input.value = to;
      input.dispatchEvent(new Event("input", { bubbles: true }));
    },
    `${value}`,
  );

/** What the page says of a side in words. */
export const words = (page, side) => page.$$eval(".words", (all, i) => all[i].textContent, side);
