// The story of BBR says what the engine's numbers show, with five seeds: in the live run that a reader sees, at every
// look from the first answer on, and in whole runs.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { SHOWS } from "./bbr.mjs";
import { ROOT } from "./browser.mjs";
import { Live, Scenario, load, presetOf } from "./engine.mjs";
import { runsOf, wrong } from "./measures.mjs";

const { BBR } = await load("bbr.ts");
const { begin, scenario } = await load("plan.ts");
const { Measured } = await load("measured.ts");
const { seriesOf } = await load("rows.ts");
const { fromFragment } = await load("share.ts");

const SEEDS = [1, 2, 3, 4, 5];
/** Time of the run in which a reader looks at a step, and time between two looks of this test, in s. */
const [UNTIL_S, LOOK_S] = [75, 5];
/** Length of whole runs, and the part of them that is not measured, in s. */
const [WHOLE_S, WARMUP_S] = [90, 30];
/** How often the page takes what is new, in s. */
const NEWS_S = 0.5;
const schema = JSON.parse(readFileSync(join(ROOT, "scenarios/schema.json"), "utf8"));
const known = {
  queues: ["reno-fifo-10m-4bdp", "step-single", "fq-codel", "dualpi2"],
  ccs: schema.properties.flows.items.properties.cc.anyOf[0].enum,
  hosts: [],
};

/** A side of the page without its pictures. */
function watch(controls, side) {
  const plan = begin(controls);
  const given = Scenario.fromJson(JSON.stringify(scenario(plan, presetOf(controls.queues[side]), side)), "story");
  const live = new Live(given);
  const measured = new Measured(controls);
  measured.begin(
    controls,
    JSON.parse(given.json()).flows.map(({ ecn }) => ecn !== "off"),
  );
  given.free();
  return {
    advance(to) {
      live.advance(to, 1e9);
      measured.take(to, { ...seriesOf(live), waiting: null });
      live.forget();
    },
    share: (overS) => measured.share(overS),
    free: () => live.free(),
  };
}

for (const [i, { title, link, right, measured, options }] of BBR.steps.entries())
  test(`${i + 1}. ${title}: the answer is the same with each seed and at each look`, () => {
    const { settledS, overS } = BBR.answers;
    const said = new Map();
    for (const seed of SEEDS) {
      const controls = { ...fromFragment(link, known), seed };
      const sides = [0, 1].map((side) => watch(controls, side));
      for (let now = NEWS_S; now <= UNTIL_S; now += NEWS_S) {
        for (const side of sides) side.advance(now);
        if (now < settledS || now % LOOK_S !== 0) continue;
        const shares = sides.map((side) => side.share(overS));
        const answer = right(shares);
        said.set(answer, [...(said.get(answer) ?? []), `seed ${seed} at ${now} s: ${measured(shares)}`]);
      }
      for (const side of sides) side.free();
    }
    const looks = [...said.values()].flat().length;
    assert.equal(looks, SEEDS.length * ((UNTIL_S - settledS) / LOOK_S + 1));
    const others = [...said].filter(([answer]) => answer !== SHOWS[i].answer);
    assert.deepEqual(others, [], `not ${options[SHOWS[i].answer]}`);
  });

for (const [i, { title, link }] of BBR.steps.entries())
  test(`${i + 1}. ${title}: whole runs show it with each seed`, () => {
    const controls = fromFragment(link, known);
    assert.ok(SHOWS[i].shows.length > 0);
    for (const side of [0, 1]) {
      const claims = SHOWS[i].shows.filter((claim) => claim.side === side);
      const runs = claims.length > 0 ? runsOf(controls, side, SEEDS, WHOLE_S, WARMUP_S) : [];
      for (const claim of claims) for (const run of runs) assert.equal(wrong(claim, [run]), null);
    }
  });
