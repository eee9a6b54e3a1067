// What can be said of whole runs of one bottleneck with the page's controls, for tests of its stories.
import { Scenario, load, presetOf } from "./engine.mjs";

const { steady } = await load("plan.ts");

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Measures of the runs of one bottleneck by their names in stories. */
const MEASURES = {
  /** Rate of each flow of one group over that of another. */
  ratio: ([a, b], runs) => {
    const rate = (name) => mean(runs.map((run) => run.groups.find((group) => group.name === name).wire_bps.mean));
    return rate(a) / rate(b);
  },
  /** Median wait of one class over that of another. */
  wait: ([a, b], runs) => mean(runs.map(({ bottlenecks: [link] }) => link.delay_s[a].p50 / link.delay_s[b].p50)),
  /** Rate of a flow of a group over that of the link. */
  part: (name, runs) =>
    mean(
      runs.map(
        ({ groups, bottlenecks: [link] }) =>
          groups.find((group) => group.name === name).wire_bps.mean / link.rate_bps,
      ),
    ),
  /** Median wait of a class in s. */
  median: (of, runs) => mean(runs.map(({ bottlenecks: [link] }) => link.delay_s[of].p50)),
  /** Smallest window of the first flow of a group, in packets. */
  least: (name, runs) =>
    Math.min(...runs.map(({ groups }) => groups.find((group) => group.name === name).flows[0].cwnd_packets.min)),
  /** Packets dropped. */
  drops: (_, runs) => mean(runs.map(({ bottlenecks: [link] }) => link.dropped)),
  utilisation: (_, runs) => mean(runs.map(({ bottlenecks: [link] }) => link.utilisation)),
  /** Standard deviation of the queue over its mean. */
  variation: (_, runs) => mean(runs.map(({ bottlenecks: [link] }) => link.queue_bytes.sd / link.queue_bytes.mean)),
};

/** Whole runs of a side of the controls, of which the first `warmupS` seconds are not measured. */
export function runsOf(controls, side, seeds, durationS, warmupS) {
  const given = Scenario.fromJson(
    JSON.stringify(steady(controls, presetOf(controls.queues[side]), side, durationS, warmupS)),
    "story",
  );
  return seeds.map((seed) => JSON.parse(given.run(BigInt(seed)).json()));
}

/** What is wrong with what a story says of these runs; null if nothing is. */
export function wrong({ side, min = -Infinity, max = Infinity, ...measure }, runs) {
  const [[name, of]] = Object.entries(measure);
  const value = MEASURES[name](of, runs);
  if (value >= min && value <= max) return null;
  return `${side === 0 ? "left" : "right"}: ${name} ${of} is ${value}, not from ${min} to ${max}`;
}
