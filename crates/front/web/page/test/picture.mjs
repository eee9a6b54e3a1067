// node test/picture.mjs OUT.png: the first screen of the page twelve seconds after its own beginning, for the README.
import { open, reach } from "./browser.mjs";

await open({ width: 1200, height: 620 }, async (page) => {
  await reach(page, 12);
  await page.screenshot({ path: process.argv[2] });
});
