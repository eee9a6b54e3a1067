// What the page and its worker tell each other.

import type { Account } from "./explain";
import type { Described } from "./law";
import type { Controls, Json, Preset } from "./plan";
import type { EngineShare, Verdict } from "./verdict";

export type ToWorker =
  | { type: "boot"; packed: ArrayBuffer; presets: readonly Preset[] }
  | { type: "restart"; controls: Controls }
  | { type: "controls"; controls: Controls }
  | { type: "clock"; running: boolean; speed: number }
  | { type: "step"; seconds: number }
  | { type: "drawn"; shares: EngineShare[] }
  | { type: "steady"; controls: Controls; seeds: number }
  | { type: "text"; side: number }
  | { type: "check"; text: string; name: string }
  | { type: "run"; text: string; name: string }
  | { type: "law"; name: string; content: ArrayBuffer }
  | { type: "preset"; preset: Preset }
  | { type: "stop" };

/** Columns of new rows of a series, in the order of their names. */
export type Rows = { [column: string]: Float64Array };

/** What is new behind one bottleneck since the last picture. */
export interface News {
  queue: Rows;
  flows: Rows;
  /** Words of the column `group` of `flows`. */
  groups: string[];
  /** Frames that have arrived: the times of `deliveries`. */
  frames: Rows;
  /** Triples from s, to s, packets, of ECN-capable packets and of all others. */
  delays: [Float64Array, Float64Array];
  /** Time in s, and waiting packets since the time before: of ECN-capable packets and of all others. */
  waiting: [number, number, number] | null;
  /** Every packet of a short while, as `Live.seen` gives it, and the rate of the link then, in Mbit/s. */
  seen: { numbers: Float64Array; rateMbps: number } | null;
  /** What happened, in words. */
  accounts: Account[];
  /** What the engine says of what was drawn last. */
  verdict: Verdict;
}

export type FromWorker =
  | { type: "ready" }
  | { type: "began"; controls: Controls; firsts: number[]; usesEcn: boolean[]; why: string | null }
  | { type: "news"; time: number; over: boolean; behind: boolean; sides: News[]; bytes: number }
  | { type: "steady"; queues: string[]; sides: Json[][]; durationS: number; warmupS: number }
  | { type: "progress"; done: number; of: number }
  | { type: "text"; side: number; toml: string }
  | { type: "checked"; toml: string; json: Json }
  | { type: "ran"; name: string; text: string; questions: string }
  | { type: "running"; time: number }
  | { type: "law"; name: string; described: Described }
  | { type: "error"; what: string; text: string };
