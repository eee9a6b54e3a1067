// What the controls ask for, as a scenario. A moved slider edits the plan of the run in progress: flows join and leave,
// the rate steps. The plan is a scenario like any other, so the native engine replays it.

import { withParameters, type Parameters } from "./parameters";

/** A JSON object with the keys of a scenario file. */
export type Json = { [key: string]: unknown };

/** Flows of one kind, as the controls show them. */
export interface Kind {
  cc: string;
  flows: number;
  /** Round-trip propagation in ms. */
  rttMs: number;
  /** How receivers echo marks, if not as their sender's control does: DCTCP at one end only. */
  feedback?: Feedback;
}

/** Each mark by itself, as RFC 8257 says; or every ACK until CWR, as RFC 3168 does. */
export type Feedback = "dctcp" | "classic";

/** No video, small pictures that are due at once, one of a constant rate, or an encoder that follows its sender. */
export type Video = "none" | "remote" | "constant" | "adaptive";

/** What a video writes: frames of one size, or of an encoder. */
const VIDEOS: Record<Exclude<Video, "none">, Json> = {
  remote: { frame: "5 kB", every: "40 ms", deadline: "20 ms" },
  constant: { frame: "20 kB", every: "40 ms", deadline: "50 ms" },
  adaptive: { frame: { min_rate: "150 kbit/s", max_rate: "20 Mbit/s" }, every: "40 ms", deadline: "80 ms" },
};

/** The state of the controls: all of what a link to the page holds. */
export interface Controls {
  /** Names of the two bottlenecks among the presets. */
  queues: [string, string];
  /** What differs there from the presets. */
  parameters: [Parameters, Parameters];
  rateMbps: number;
  kinds: Kind[];
  /** What both ends of all flows are: one of the presets. */
  host: string;
  /** Losses on the path behind the bottleneck, packets of a thousand. */
  lossPermille: number;
  /** The video with deadlines that runs beside the flows. */
  video: Video;
  seed: number;
}

/** What a bottleneck takes from a shipped scenario. */
export interface Preset {
  /** Name of the scenario file without extension. */
  name: string;
  title: string;
  about: string;
  /** The keys of `[bottleneck]` without those that the controls set. */
  bottleneck: Json;
}

/** Most flows of a kind that can be there at a time. */
export const FLOWS_MAX = 20;
/** Flows of a kind that can join in one run, beyond those that are there at its start. */
export const SPARE = 24;
/** Hosts that send and receive packet by packet. */
export const IDEAL = "ideal";
/** Simulated time after which a run is over, in s. */
export const DURATION_S = 600;
/** Interval of the series in s. */
export const SERIES_S = 0.1;
/** Time of a point in plots of the queue, in s: long enough for quantiles. */
export const STEP_S = 0.5;
/** A move takes effect so long after it is made, in s: later than the end of a packet in transmission. */
export const AHEAD_S = 0.005;

/** Times of one flow in s; null stands for never. */
interface Times {
  start: number | null;
  stop: number | null;
}

/** What is planned for the run in progress; both bottlenecks have the same. */
export interface Plan {
  controls: Controls;
  pools: Times[][];
  /** Times in s with rates in Mbit/s. */
  rates: [number, number][];
}

/** The plan of a run that begins with these controls. */
export function begin(controls: Controls): Plan {
  const pool = (kind: Kind): Times[] =>
    Array.from({ length: kind.flows + SPARE }, (_, i) => ({ start: i < kind.flows ? 0 : null, stop: null }));
  return { controls, pools: controls.kinds.map(pool), rates: [[0, controls.rateMbps]] };
}

/** Flows that are there according to the plan, once all of it has happened. */
function present(pool: Times[]): Times[] {
  return pool.filter((flow) => flow.start !== null && flow.stop === null);
}

/** Whether these controls can be reached without a new run: only numbers of flows and the rate may differ. */
function isMove(from: Controls, to: Controls): boolean {
  const rest = (controls: Controls) =>
    JSON.stringify({ ...controls, rateMbps: 0, kinds: controls.kinds.map((kind) => ({ ...kind, flows: 0 })) });
  return rest(from) === rest(to);
}

/**
 * The plan in which the controls are so from `at` on; null if that takes a new run. A flow that has left does not come
 * back: another one joins.
 */
export function move(plan: Plan, controls: Controls, at: number): Plan | null {
  if (!isMove(plan.controls, controls) || at >= DURATION_S) return null;
  const pools = plan.pools.map((pool) => pool.map((flow) => ({ ...flow })));
  for (const [i, kind] of controls.kinds.entries()) {
    const pool = pools[i] ?? [];
    const here = present(pool);
    const waiting = pool.filter((flow) => flow.start === null);
    const wanted = kind.flows - here.length;
    if (wanted > waiting.length) return null;
    for (const flow of waiting.slice(0, Math.max(0, wanted))) flow.start = at;
    // The last to come is the first to leave, and is there for a moment at least.
    for (const flow of here.slice(kind.flows)) flow.stop = Math.max(at, (flow.start ?? 0) + 1e-6);
  }
  const rates: [number, number][] = [...plan.rates];
  if (controls.rateMbps !== plan.controls.rateMbps) {
    if (rates.length > 1 && rates.at(-1)?.[0] === at) rates.pop();
    rates.push([at, controls.rateMbps]);
  }
  return { controls, pools, rates };
}

/** A time as the scenario has it, in whole microseconds. */
function seconds(time: number | null): string {
  return time === null ? "never" : `${time.toFixed(6)} s`;
}

/** What is recorded of a run for those who run it elsewhere. */
export const SERIES: Json = { series: `${SERIES_S * 1000} ms` };
/**
 * What is recorded while the run goes on: all changes of windows and all events, too, of more flows than there can be.
 */
const TRACE: Json = { ...SERIES, controller_flows: 1000 };

/**
 * A video beside the flows, as in the shipped scenarios `video` and `adaptive-video`, with the congestion control
 * and the RTT of the scalable flows.
 */
function video(controls: Controls): Json[] {
  const [kind] = controls.kinds;
  if (controls.video === "none" || !kind) return [];
  return [{ name: "video", ...ends(controls, kind), app: VIDEOS[controls.video] }];
}

/** What a group of flows has of the controls, whenever its flows are there. */
function ends(controls: Controls, { cc, rttMs, feedback }: Kind): Json {
  return {
    cc,
    rtt: `${rttMs} ms`,
    ...(controls.host === IDEAL ? {} : { host: controls.host }),
    ...(feedback ? { receiver: { feedback } } : {}),
  };
}

/** The bottleneck of this side: the preset with its parameters, and the path behind it. */
function bottleneck(controls: Controls, preset: Preset, side: number): Json {
  const own = withParameters(preset.bottleneck, controls.parameters[side] ?? {});
  return controls.lossPermille === 0 ? own : { ...own, impairments: { loss: controls.lossPermille / 1000 } };
}

/** The scenario of a plan behind one bottleneck: the preset with the parameters of this side. */
export function scenario(plan: Plan, preset: Preset, side: number, durationS: number = DURATION_S): Json {
  const { controls } = plan;
  const groups = controls.kinds.map((kind, i): Json => {
    const pool = plan.pools[i] ?? [];
    return {
      name: groupName(controls, i),
      ...ends(controls, kind),
      start: pool.map((flow) => seconds(flow.start)),
      stop: pool.map((flow) => seconds(flow.stop)),
    };
  });
  return {
    title: `${preset.title}, live`,
    duration: `${durationS} s`,
    warmup: "0 s",
    seed: controls.seed,
    bottleneck: {
      ...bottleneck(controls, preset, side),
      // What thresholds and buffers in BDP refer to is the rate at the start.
      rate: `${plan.rates[0]?.[1] ?? controls.rateMbps} Mbit/s`,
      schedule: { rates: plan.rates.map(([at, mbps]) => [seconds(at), `${mbps} Mbit/s`]) },
    },
    flows: [...groups, ...video(controls)],
    trace: TRACE,
  };
}

/** The same controls as they are now, from the start of a run of their own: what a steady state is measured with. */
export function steady(controls: Controls, preset: Preset, side: number, durationS: number, warmupS: number): Json {
  const groups = controls.kinds.flatMap((kind, i): Json[] => {
    if (kind.flows === 0) return [];
    return [
      { name: groupName(controls, i), ...ends(controls, kind), count: kind.flows, start: { uniform: ["0 s", "1 s"] } },
    ];
  });
  return {
    title: preset.title,
    duration: `${durationS} s`,
    warmup: `${warmupS} s`,
    seed: controls.seed,
    bottleneck: { ...bottleneck(controls, preset, side), rate: `${controls.rateMbps} Mbit/s` },
    flows: [...groups, ...video(controls)],
  };
}

/** The first flow of each group; those of a group follow each other. */
export function firstFlows(plan: Plan): number[] {
  const firsts = [0];
  for (const pool of plan.pools) firsts.push((firsts.at(-1) ?? 0) + pool.length);
  return firsts;
}

/** Position of the group of a flow. */
export function kindOf(firsts: number[], flow: number): number {
  return Math.max(
    0,
    firsts.findLastIndex((first) => first <= flow),
  );
}

/** Name of a flow: its congestion control, and its number among those of its group. */
export function flowName(controls: Controls, firsts: number[], flow: number): string {
  const kind = kindOf(firsts, flow);
  return `${kindName(controls, kind)} ${flow - (firsts[kind] ?? 0) + 1}`;
}

/** Name of a kind of flows as a reader knows it; the kind behind those of the controls is the video. */
export function kindName(controls: Controls, kind: number): string {
  const name = controls.kinds[kind] ? groupName(controls, kind) : "video";
  return name
    .replace(/dctcp|cubic|ikr|ecn|rfc|bbr|ledbat/g, (word) => word.toUpperCase())
    .replace(/reno|newreno|prague|video|linux|stanford/g, (word) => `${word[0]?.toUpperCase()}${word.slice(1)}`)
    .replace("freebsd", "FreeBSD");
}

/** Position of a group among the kinds of flows: 2 for the video, -1 for none of them. */
export function positionOf(controls: Controls, group: string): number {
  if (group === "video") return 2;
  return controls.kinds.findIndex((_, i) => groupName(controls, i) === group);
}

/** Name of a kind of flows: its congestion control, numbered if both are the same. */
export function groupName(controls: Controls, kind: number): string {
  const cc = (controls.kinds[kind]?.cc ?? "flows").replace(/^file:|\.wasm$/g, "");
  const twins = controls.kinds.filter((other) => other.cc === controls.kinds[kind]?.cc).length > 1;
  return twins ? `${cc}-${kind + 1}` : cc;
}
