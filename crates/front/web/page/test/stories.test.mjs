// Each figure of a story on the page shows what its words say: in the steady state of the controls that its button
// sets.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { load } from "./engine.mjs";
import { runsOf, wrong } from "./measures.mjs";

const { fromFragment } = await load("share.ts");
const SEEDS = [1, 2, 3];
const [DURATION_S, WARMUP_S] = [30, 10];
const papers = JSON.parse(readFileSync(join(import.meta.dirname, "../src/stories.json"), "utf8"));
const known = {
  queues: [
    ...["red-ecn", "coexistence", "dual-red-slope", "coupled", "dualq-coupled", "dualpi2", "step-single"],
    ...["codel", "fq-codel", "l4s"],
  ],
  ccs: ["reno", "cubic", "dctcp", "dctcp-ikr", "dctcp-linux-3.18", "prague-0.7"],
  hosts: [],
};

for (const { paper, title, figures } of papers)
  for (const { figure, link, shows } of figures)
    test(`${paper ?? title}, ${figure}`, () => {
      const controls = fromFragment(link, known);
      assert.ok(shows.length > 0);
      for (const claim of shows)
        assert.equal(wrong(claim, runsOf(controls, claim.side, SEEDS, DURATION_S, WARMUP_S)), null);
    });
