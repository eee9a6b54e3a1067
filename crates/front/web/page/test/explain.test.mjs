// What just happened, in words: against rows that are written out here, and against the engine's own counts.
import assert from "node:assert/strict";
import { test } from "node:test";
import { CONTROLS, Live, PRESETS, Scenario, load } from "./engine.mjs";

const { Accountant } = await load("explain.ts");
const { begin, scenario } = await load("plan.ts");

const KINDS = ["mark", "drop", "reduction", "timeout", "retransmit"];
const NONE = NaN;
const columns = (names, rows) =>
  Object.fromEntries(names.map((name, i) => [name, Float64Array.from(rows, (row) => row[i])]));
/** Rows of time, flow, cwnd, ssthresh, alpha. */
const states = (...rows) => columns(["time_s", "flow", "cwnd_packets", "ssthresh_packets", "alpha"], rows);
/** Rows of time, flow, kind. */
const events = (...rows) =>
  columns(
    ["time_s", "flow", "kind"],
    rows.map(([time, flow, kind]) => [time, flow, KINDS.indexOf(kind)]),
  );
const named = () => new Accountant((flow) => `cubic ${flow}`);
const sentences = (accounts) => accounts.flatMap((account) => account.sentences);

test("a cut is told with the window before it, the threshold after it and its cause", () => {
  const accountant = named();
  accountant.take(1, states([0.1, 3, 10, NONE, NONE], [0.9, 3, 60, 42, NONE]), events(), KINDS);
  // The retransmission comes with the cut: the window before both is 61 packets, and 1 - 42.7 / 61 is 30 %.
  const [account] = accountant.take(
    2,
    states([1.1, 3, 61, 42, NONE], [1.5, 3, 60, 42.7, NONE], [1.6, 3, 50, 42.7, NONE]),
    events([1.4, 3, "drop"], [1.45, 3, "drop"], [1.5, 3, "retransmit"], [1.5, 3, "reduction"]),
    KINDS,
  );
  assert.deepEqual(account, {
    fromS: 1,
    toS: 2,
    sentences: [
      "cubic 3 cut its window from 61 to 43 packets (−30 %): 2 of its packets were dropped.",
      "The queue marked 0 packets and dropped 2.",
    ],
  });
});

test("the end of slow start, marks with alpha, and several cuts", () => {
  const told = sentences(
    named().take(
      1,
      states([0.1, 0, 10, NONE, 1], [0.5, 0, 20, 20, 1], [0.6, 0, 20, 19, 0.5], [0.7, 0, 19, 16, 0.25]),
      events(
        [0.4, 0, "mark"],
        [0.5, 0, "reduction"],
        [0.55, 0, "mark"],
        [0.56, 0, "mark"],
        [0.6, 0, "reduction"],
        [0.7, 0, "reduction"],
      ),
      KINDS,
    ),
  );
  // Cuts from 10 to 20 (slow start; no fall), from 20 to 19 (5 %) and from 20 to 16 (20 %).
  assert.equal(
    told[0],
    "cubic 0 cut its window 3 times, by 0 % to 20 %: 3 of its packets were marked, and alpha is 0.25.",
  );
  const first = sentences(
    named().take(
      1,
      states([0.1, 0, 40, NONE, 1], [0.5, 0, 40, 20, 1]),
      events([0.4, 0, "mark"], [0.5, 0, "reduction"]),
      KINDS,
    ),
  );
  assert.equal(
    first[0],
    "cubic 0 left slow start and cut its window from 40 to 20 packets (−50 %): " +
      "1 of its packets was marked, and alpha is 1.00.",
  );
});

test("a timeout comes first, and marks or drops wait for their cut beyond the end of an account", () => {
  const accountant = named();
  const first = accountant.take(
    1.2,
    states([0.1, 0, 10, NONE, NONE], [0.2, 1, 10, NONE, NONE]),
    events([0.9, 0, "drop"]),
    KINDS,
  );
  assert.deepEqual(sentences(first), [
    "cubic 0 has begun to send.",
    "cubic 1 has begun to send.",
    "The queue marked 0 packets and dropped 1.",
  ]);
  const second = accountant.take(
    2,
    states([1.3, 1, 8, 5, NONE], [1.5, 0, 1, 5, NONE]),
    events([1.3, 1, "reduction"], [1.5, 0, "timeout"]),
    KINDS,
  );
  assert.deepEqual(sentences(second), [
    "cubic 0 had to wait for its retransmission timer; its window is 1 packet now. " +
      "1 of its packets was dropped since its last cut.",
    "cubic 1 left slow start and cut its window from 10 to 5 packets (−50 %): for no mark or drop in the queue.",
    "The queue neither marked nor dropped a packet.",
  ]);
});

test("flows beyond three are counted", () => {
  const rows = [0, 1, 2, 3, 4].flatMap((flow) => [
    [0.1, flow, 40, 30, NONE],
    [0.5, flow, 40, 39 - flow, NONE],
  ]);
  rows.sort(([a], [b]) => a - b);
  const told = sentences(
    named().take(1, states(...rows), events(...[0, 1, 2, 3, 4].map((flow) => [0.5, flow, "reduction"])), KINDS),
  );
  assert.match(told[0], /^cubic 4 cut/);
  assert.equal(told[3], "The same happened, less strongly, to 2 other flows.");
});

/** Accounts of a live run that is looked at in these steps, with the sums of its series. */
function watched(queue, steps) {
  const preset = PRESETS.find((one) => one.name === queue);
  const live = new Live(Scenario.fromJson(JSON.stringify(scenario(begin(CONTROLS), preset, 0)), queue));
  const accountant = new Accountant((flow) => `flow ${flow}`);
  const sums = { marks: 0, drops: 0 };
  const accounts = [];
  let rows = 0;
  for (const until of steps) {
    const now = live.advance(until, 1e9);
    const all = (table, names) => Object.fromEntries(names.map((name) => [name, live.numbers(table, name, 0)]));
    const controller = all("controller", ["time_s", "flow", "cwnd_packets", "ssthresh_packets", "alpha"]);
    rows += controller.time_s.length;
    accounts.push(
      ...accountant.take(now, controller, all("events", ["time_s", "flow", "kind"]), live.words("events", "kind")),
    );
    const queued = all("queue", ["marks", "drops"]);
    for (const name of ["marks", "drops"]) sums[name] += queued[name].reduce((sum, value) => sum + value, 0);
    live.forget();
    assert.equal(live.rows("controller"), 0);
  }
  live.free();
  return { accounts, sums, rows };
}

test("the same accounts however often the page looks, with the queue's own counts", () => {
  // The row of the queue's last bin comes at its end.
  const often = Array.from({ length: 1001 }, (_, i) => (i + 1) / 100);
  for (const queue of ["red-ecn", "codel"]) {
    const one = watched(queue, [10.01]);
    const many = watched(queue, often);
    assert.equal(one.accounts.length, 10);
    assert.deepEqual(many, one);
    const counted = { marks: 0, drops: 0 };
    for (const { sentences: told } of one.accounts) {
      const last = told.at(-1);
      if (last === "The queue neither marked nor dropped a packet.") continue;
      const [, marks, drops] = /^The queue marked (\d+) packets? and dropped (\d+)\.$/.exec(last);
      counted.marks += Number(marks);
      counted.drops += Number(drops);
    }
    assert.deepEqual(counted, one.sums);
    assert.ok(counted.marks + counted.drops > 20, JSON.stringify(counted));
  }
});
