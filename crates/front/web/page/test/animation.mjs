// node test/animation.mjs FOLDER: takes the pictures of which `make animation` makes docs/img/page.gif, the beginning
// of the page after some seconds, as PNG files in the folder.
import { join } from "node:path";
import { open, reach } from "./browser.mjs";

const PICTURES = 24;
/** Time from one picture to the next, in ms. */
const STEP_MS = 60;
/** The two queues and what is said of them, in px. */
const CLIP = { x: 16, y: 72, width: 914, height: 478 };

const folder = process.argv[2];
if (!folder) throw new Error("usage: node test/animation.mjs FOLDER");
await open({ width: 1280, height: 800 }, async (page) => {
  // By then the sentences are those of flows that have settled.
  await reach(page, 10.5);
  for (let i = 0; i < PICTURES; i += 1) {
    await page.screenshot({ path: join(folder, `${String(i).padStart(2, "0")}.png`), clip: CLIP });
    await page.waitForTimeout(STEP_MS);
  }
});
