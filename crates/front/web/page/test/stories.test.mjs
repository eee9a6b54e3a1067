// Each figure of a story on the page shows what its words say: in the steady state of the controls that its button
// sets.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Scenario, load, presetOf } from "./engine.mjs";

const { steady } = await load("plan.ts");
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

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** What can be said of the runs of one bottleneck. */
const MEASURES = {
  /** Rate of each flow of one group over that of another. */
  ratio: ([a, b], runs) => {
    const rate = (name) => mean(runs.map((run) => run.groups.find((group) => group.name === name).wire_bps.mean));
    return rate(a) / rate(b);
  },
  /** Median wait of one class over that of another. */
  wait: ([a, b], runs) => mean(runs.map(({ bottlenecks: [link] }) => link.delay_s[a].p50 / link.delay_s[b].p50)),
  utilisation: (_, runs) => mean(runs.map(({ bottlenecks: [link] }) => link.utilisation)),
  /** Standard deviation of the queue over its mean. */
  variation: (_, runs) => mean(runs.map(({ bottlenecks: [link] }) => link.queue_bytes.sd / link.queue_bytes.mean)),
};

for (const { paper, title, figures } of papers)
  for (const { figure, link, shows } of figures)
    test(`${paper ?? title}, ${figure}`, () => {
      const controls = fromFragment(link, known);
      assert.ok(shows.length > 0);
      for (const { side, min = -Infinity, max = Infinity, ...measure } of shows) {
        const scenario = Scenario.fromJson(
          JSON.stringify(steady(controls, presetOf(controls.queues[side]), side, DURATION_S, WARMUP_S)),
          figure,
        );
        const runs = SEEDS.map((seed) => JSON.parse(scenario.run(BigInt(seed)).json()));
        const [[name, of]] = Object.entries(measure);
        const found = MEASURES[name](of, runs);
        assert.ok(
          found >= min && found <= max,
          `${side === 0 ? "left" : "right"}: ${name} ${of} is ${found}, not from ${min} to ${max}`,
        );
      }
    });
