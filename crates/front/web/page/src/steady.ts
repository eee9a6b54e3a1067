// What the results of whole runs say: those of a steady state, one for each seed, or the run of a file.

import { element } from "./dom";
import type { Json } from "./plan";

/**
 * Two-sided 95 % quantiles of Student's t distribution for 1, 2, ... degrees of freedom: the build has them from
 * `shoal.stats`.
 */
declare const T95: readonly number[];

/**
 * Mean and half the width of its 95 % confidence interval, as text; values that a run could not measure are left out.
 */
export function interval(values: (number | null | undefined)[], scale: number, unit: string): string {
  const known = values.filter((value): value is number => typeof value === "number").map((value) => value * scale);
  const n = known.length;
  if (n === 0) return "–";
  const mean = known.reduce((sum, value) => sum + value, 0) / n;
  const digits = Math.abs(mean) >= 9.95 ? 1 : 2;
  if (n === 1) return `${mean.toFixed(digits)}${unit}`;
  const variance = known.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (n - 1);
  const half = (T95[n - 2] ?? NaN) * Math.sqrt(variance / n);
  return `${mean.toFixed(digits)} ± ${half.toFixed(digits)}${unit}`;
}

type Delays = { mean: number | null; p99: number | null };
interface Result {
  bottlenecks: { utilisation: number; delay_s: { ect: Delays; not_ect: Delays } }[];
  groups: { name: string; wire_bps: { mean: number | null }; frames?: { late: number; delivered: number } }[];
  metrics: { jain: number | null; rate_ratio: { [pair: string]: number | null } };
}

/** What a table of a steady state says of its runs. */
export function seedsInWords(seeds: number, durationS: number, warmupS: number): string {
  return (
    `${seeds} runs with seeds 1 to ${seeds}, each ${durationS} s long, of which the first ${warmupS} s are not ` +
    `measured; ± is half of the 95 % confidence interval of the mean.`
  );
}

/** A table of results: a column for each of `sides`, which has the results of its runs. `note` says what they are. */
export function table(sides: Json[][], heads: string[], note: string): HTMLElement {
  const results = sides as unknown as Result[][];
  const rows: [string, string[]][] = [];
  const row = (name: string, scale: number, unit: string, of: (result: Result) => number | null | undefined) =>
    rows.push([name, results.map((side) => interval(side.map(of), scale, unit))]);
  const one = results[0]?.[0];
  one?.groups.forEach((group, i) =>
    row(`Rate of a flow, ${group.name}`, 1e-6, " Mbit/s", (result) => result.groups[i]?.wire_bps.mean),
  );
  for (const pair of Object.keys(one?.metrics.rate_ratio ?? {}))
    row(`Ratio of rates, ${pair}`, 1, "", (result) => result.metrics.rate_ratio[pair]);
  // A video sends what it has, and no more: whoever reads the index must know that it counts.
  const hasVideo = one?.groups.some(({ name }) => name === "video");
  row(`Jain's index of all flows${hasVideo ? ", with the video" : ""}`, 1, "", (result) => result.metrics.jain);
  for (const [name, key] of [
    ["ECN-capable packets", "ect"],
    ["other packets", "not_ect"],
  ] as const) {
    row(`Queueing delay, ${name}, mean`, 1e3, " ms", (result) => result.bottlenecks[0]?.delay_s[key].mean);
    row(`Queueing delay, ${name}, P99`, 1e3, " ms", (result) => result.bottlenecks[0]?.delay_s[key].p99);
  }
  row("Utilisation of the link", 100, " %", (result) => result.bottlenecks[0]?.utilisation);
  const head = element("tr", {}, element("td", {}), ...heads.map((head) => element("th", { scope: "col" }, head)));
  const body = rows.map(([name, cells]) =>
    element("tr", {}, element("th", { scope: "row" }, name), ...cells.map((cell) => element("td", {}, cell))),
  );
  return element(
    "div",
    {},
    element("p", { class: "hint" }, note),
    element(
      "div",
      { class: "scroll", tabindex: "0", role: "region", "aria-label": "Results of the runs" },
      element("table", {}, element("thead", {}, head), element("tbody", {}, ...body)),
    ),
  );
}
