// Moves of controls in the engine itself: what a live run measures is what a run of its last plan measures.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { ROOT } from "./browser.mjs";
import { CONTROLS, Live, PRESETS, Scenario, load } from "./engine.mjs";

const { AHEAD_S, FLOWS_MAX, SPARE, begin, move, scenario, groupName } = await load("plan.ts");
const { fromFragment, toFragment } = await load("share.ts");
const { leaves, withParameters } = await load("parameters.ts");
const { DelayWindow } = await load("delays.ts");
const { wholeLength } = await load("verdict.ts");

/** Numbers below 1, always the same of a seed (mulberry32). */
function random(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

const read = (json) => Scenario.fromJson(JSON.stringify(json), "page");

test("100 random sequences of moves are schedules with the same bytes", () => {
  let moves = 0;
  for (let seed = 1; seed <= 100; seed += 1) {
    const draw = random(seed);
    const preset = PRESETS[seed % PRESETS.length];
    const long = 4;
    let plan = begin(CONTROLS);
    const live = new Live(read(scenario(plan, preset, 0, long)));
    for (let now = 0.2; now < long - 0.3; now += draw() * 0.4) {
      live.advance(now, 1e9);
      const kinds = plan.controls.kinds.map((kind) => ({
        ...kind,
        flows: draw() < 0.5 ? kind.flows : Math.floor(draw() * 5),
      }));
      const rateMbps = draw() < 0.6 ? plan.controls.rateMbps : 2 + Math.floor(draw() * 50);
      const at = Math.ceil((Math.max(now, live.earliest_change_s()) + AHEAD_S) * 1e6) / 1e6;
      const next = move(plan, { ...plan.controls, kinds, rateMbps }, at);
      if (!next) break;
      live.replace(read(scenario(next, preset, 0, long)));
      plan = next;
      moves += 1;
    }
    const text = read(scenario(plan, preset, 0, long)).toml();
    // By way of the TOML that a reader saves.
    assert.equal(live.finish().json(), new Scenario(text, "page").run().json(), `seed ${seed}\n${text}`);
  }
  assert.ok(moves > 800, `only ${moves} moves`);
  console.log(`100 sequences, ${moves} moves: the same bytes`);
});

test("flows join and leave, and a pool that is used up takes a new run", () => {
  const flows = (plan, kind) => plan.pools[kind].filter((flow) => flow.start !== null && flow.stop === null).length;
  const to = (plan, count, at) =>
    move(
      plan,
      { ...plan.controls, kinds: plan.controls.kinds.map((kind, i) => (i === 0 ? { ...kind, flows: count } : kind)) },
      at,
    );
  let plan = begin(CONTROLS);
  assert.equal(plan.pools[0].length, 1 + SPARE);
  plan = to(plan, FLOWS_MAX, 1);
  assert.equal(flows(plan, 0), FLOWS_MAX);
  plan = to(plan, 2, 2);
  assert.equal(flows(plan, 0), 2);
  assert.deepEqual(
    plan.pools[0].filter((flow) => flow.stop !== null).map((flow) => flow.stop),
    Array(FLOWS_MAX - 2).fill(2),
  );
  assert.equal(flows(plan, 1), 1);
  // 1 + 24 flows in all, of which 20 have been there.
  assert.equal(to(plan, 2 + 6, 3), null);
  assert.equal(flows(to(plan, 2 + 5, 3), 0), 7);
});

test("what is no move takes a new run", () => {
  const plan = begin(CONTROLS);
  for (const part of [
    { queues: ["codel", "dualpi2"] },
    { video: "constant" },
    { seed: 2 },
    { kinds: CONTROLS.kinds.map((kind) => ({ ...kind, rttMs: 20 })) },
  ])
    assert.equal(move(plan, { ...CONTROLS, ...part }, 1), null);
  assert.equal(move(plan, CONTROLS, 600), null, "the end of a live run");
});

test("groups of one congestion control are told apart", () => {
  const twins = { ...CONTROLS, kinds: CONTROLS.kinds.map((kind) => ({ ...kind, cc: "cubic" })) };
  assert.deepEqual(
    [0, 1].map((kind) => groupName(twins, kind)),
    ["cubic-1", "cubic-2"],
  );
  read(scenario(begin(twins), PRESETS[0], 0, 2));
});

test("all hosts and modelled congestion controls can be chosen, and losses and echoes reach the scenario", () => {
  const schema = JSON.parse(readFileSync(join(ROOT, "scenarios/schema.json"), "utf8")).properties.flows.items
    .properties;
  const ccs = schema.cc.anyOf[0].enum;
  const hosts = schema.host.oneOf.find((form) => form.enum).enum;
  for (const [i, cc] of ccs.entries()) {
    const controls = {
      ...CONTROLS,
      host: hosts[i % hosts.length],
      lossPermille: 20,
      kinds: [
        { cc, flows: 1, rttMs: 5 },
        { cc: "dctcp", flows: 1, rttMs: 5, feedback: "classic" },
      ],
    };
    const json = scenario(begin(controls), PRESETS[1], 0);
    assert.deepEqual(
      [json.flows[0].host ?? "ideal", json.flows[1].receiver.feedback, json.bottleneck.impairments.loss],
      [controls.host, "classic", 0.02],
    );
    const live = new Live(Scenario.fromJson(JSON.stringify(json), cc));
    live.advance(2, 1e9);
    const run = live.numbers("flows", "cwnd_packets", 0);
    assert.ok(run.length > 0);
    live.free();
  }
  assert.equal(scenario(begin(CONTROLS), PRESETS[1], 0).bottleneck.impairments, undefined);
});

test("a scenario that would explode is refused in a moment, with its place", () => {
  const base = 'duration = "10 s"\nbottleneck.rate = "10 Mbit/s"\n';
  const flows = '[[flows]]\ncc = "cubic"\nrtt = "10 ms"\n';
  for (const [text, message] of [
    [`x = ${"[".repeat(99_000)}${"]".repeat(99_000)}`, /recurs/],
    [`x = ${"{a=".repeat(40_000)}1${"}".repeat(40_000)}`, /recurs/],
    [`a${".a".repeat(90_000)} = 1`, /recurs/],
    [`${base}${flows}count = 4294967295\n`, /4294967295 flows are too many/],
    [`${base}${flows.repeat(4000)}`, /duplicate flow group/],
    [Array.from({ length: 15_000 }, (_, i) => `k${i} = 1`).join("\n"), /unknown key `k0`/],
  ])
    assert.throws(
      () => new Scenario(text, "mine.toml"),
      (error) => message.test(error) && /--> mine\.toml:\d+:\d+/.test(error),
    );
});

test("a link gives back what it was made from", () => {
  const known = { queues: ["red-ecn", "dualpi2"], ccs: ["dctcp", "cubic"], hosts: ["ideal", "linux-6-gso"] };
  const ends = {
    host: "linux-6-gso",
    lossPermille: 3,
    kinds: [{ ...CONTROLS.kinds[0], feedback: "classic" }, CONTROLS.kinds[1]],
  };
  for (const controls of [
    CONTROLS,
    { ...CONTROLS, ...ends },
    { ...CONTROLS, video: "constant" },
    { ...CONTROLS, video: "remote" },
    {
      ...CONTROLS,
      video: "adaptive",
      seed: 7,
      rateMbps: 199,
      parameters: [{ "aqm.min": "3 packets" }, { buffer: "1 BDP", "aqm.coupling": "1.5" }],
    },
  ]) {
    assert.deepEqual(fromFragment(toFragment(controls), known), controls);
    assert.ok(toFragment(controls).length < 250);
  }
});

test("delays of some seconds have quantiles and a distribution", () => {
  const window = new DelayWindow(5);
  window.push(1, Float64Array.of(0.5, 0.5, 1000));
  // 3 packets at 1 ms, 1 at 2 ms; and one more at 4 ms: 3 of 5 waited 1 ms at most.
  window.push(6, Float64Array.of(0.001, 0.001, 3, 0.002, 0.002, 1));
  window.push(7, Float64Array.of(0.004, 0.004, 1));
  assert.deepEqual(window.distribution(), { delays: [0.001, 0.002, 0.004], parts: [0.6, 0.8, 1], packets: 5 });
  assert.deepEqual(
    [0.5, 0.6, 0.7, 0.99].map((part) => window.quantile(part)),
    [0.001, 0.001, 0.002, 0.004],
  );
  window.clear();
  assert.equal(window.quantile(0.5), null);
});

test("a whole length stands for the same delay on both sides, and no delay is longer than it", () => {
  const wait = (middle) => (middle === null ? null : { middle, slowest: 1 });
  const shares = (ect, others) => [{ ect: wait(ect), others: null }, { ect: null, others: wait(others) }];
  const of = (ect = null, others = null) => wholeLength(shares(ect, others));
  assert.deepEqual([of(), of(null, 0.018), of(0.04), of(0.0085, 0.0856), of(7, null)], [0.04, 0.04, 0.04, 0.1, 10]);
  assert.equal(of(12), 12);
});

test("parameters keep their types, and all of a preset can be written", () => {
  const [red, dualpi2] = PRESETS.map((preset) => preset.bottleneck);
  for (const { bottleneck } of PRESETS) {
    const all = Object.fromEntries(leaves(bottleneck).map(([path, value]) => [path, `${value}`]));
    assert.deepEqual(withParameters(bottleneck, all), bottleneck);
  }
  const changed = withParameters(red, { "aqm.min": "3 packets", "aqm.ecn": "false", "aqm.max_probability": "0.5" });
  assert.deepEqual([changed.aqm.min, changed.aqm.ecn, changed.aqm.max_probability], ["3 packets", false, 0.5]);
  assert.equal(withParameters(dualpi2, { "aqm.coupling": "much" }).aqm.coupling, "much");
  assert.notEqual(red.aqm.min, "3 packets");
  assert.throws(() => withParameters(red, { "aqm.threshold": "3 packets" }), /no parameter `aqm.threshold`/);
});

test("an interval of confidence is that of Student", async () => {
  const { interval } = await load("steady.ts", { T95: "[12.706205, 4.302653]" });
  // Standard deviation 1, so half of the interval is 4.302653 / sqrt(3) = 2.48.
  assert.equal(interval([1, 2, 3], 1, " ms"), "2.00 ± 2.48 ms");
  // Of 100 and 200 the standard deviation is 70.71: 12.706 x 70.71 / sqrt(2) = 635.3. What was not measured is left
  // out.
  assert.equal(interval([0.1, null, 0.2], 1000, ""), "150.0 ± 635.3");
  assert.deepEqual([interval([null], 1, ""), interval([5], 1, "")], ["–", "5.00"]);
});
