// node test/picture.mjs OUT.png: a picture of the page after twelve seconds of its own beginning, for the README.
import { open, reach } from "./browser.mjs";

await open({ width: 1200, height: 1000 }, async (page) => {
  await reach(page, 12);
  await page.click("#pause");
  await page.locator("#controls").scrollIntoViewIfNeeded();
  await page.evaluate(() => document.querySelector("#controls").scrollIntoView());
  await page.screenshot({ path: process.argv[2] });
});
