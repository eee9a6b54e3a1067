// What is known of one bottleneck: series of the last seconds, delays, frames, and what comes of them.

import { DelayWindow } from "./delays";
import { History } from "./history";
import { STEP_S, kindName, positionOf, type Controls } from "./plan";
import type { News } from "./protocol";
import type { Share, Wait } from "./verdict";

/** What the plots show of the past, in s. */
export const SPAN_S = 30;
/** Time over which words and distributions look back, in s. */
export const RECENT_S = 5;
/** Time over which the answers of slow stories look back, in s: two of BBR's intervals from ProbeRTT to ProbeRTT. */
export const LONG_S = 20;
export type Lookback = typeof RECENT_S | typeof LONG_S;
/** Frames that are shown. */
const FRAMES = 50;

const pair = (spanS: number) => [new DelayWindow(spanS), new DelayWindow(spanS)];
const thousands = (value: number | null): number | null => (value === null ? null : value * 1000);

export class Measured {
  readonly histories = {
    rates: new History(SPAN_S),
    cwnd: new History(SPAN_S),
    alpha: new History(SPAN_S),
    queue: new History(SPAN_S),
    delay: new History(SPAN_S),
    waiting: new History(SPAN_S),
  };
  /** Delays by class: of the last seconds, and of the last half second. */
  readonly recent = pair(RECENT_S);
  private readonly long = pair(LONG_S);
  private readonly step = pair(Infinity);
  private stepSince = 0;
  readonly groupOf = new Map<string, string>();
  /** Of each kind of flows, whether its packets say that they may be marked. */
  private usesEcn: boolean[] = [];
  readonly frames = { late: 0, of: 0, shown: [] as boolean[] };

  constructor(private controls: Controls) {}

  /** Forgets everything: another run begins. */
  begin(controls: Controls, usesEcn: boolean[]): void {
    [this.controls, this.usesEcn] = [controls, usesEcn];
    for (const history of Object.values(this.histories)) history.clear();
    for (const delays of [...this.recent, ...this.long, ...this.step]) delays.clear();
    this.stepSince = 0;
    Object.assign(this.frames, { late: 0, of: 0, shown: [] });
    this.groupOf.clear();
  }

  /** Takes in what is new. */
  take(time: number, news: News): void {
    this.takeFlows(news);
    this.takeQueue(news);
    for (const windows of [this.recent, this.long, this.step])
      news.delays.forEach((ranges, i) => windows[i]?.push(time, ranges));
    if (time - this.stepSince >= STEP_S) {
      const p99 = (i: number) => thousands(this.step[i]?.quantile(0.99) ?? null);
      this.histories.delay.push(time, [
        ["ect", p99(0)],
        ["not_ect", p99(1)],
      ]);
      this.step.forEach((window) => window.clear());
      this.stepSince = time;
    }
    if (news.waiting) {
      const [at, ect, others] = news.waiting;
      this.histories.waiting.push(at, [
        ["ect", ect],
        ["not_ect", others],
      ]);
    }
    for (const value of news.frames["late_s"] ?? []) {
      this.frames.shown.push(value > 0);
      this.frames.of += 1;
      this.frames.late += value > 0 ? 1 : 0;
    }
    this.frames.shown = this.frames.shown.slice(-FRAMES);
  }

  private takeQueue({ queue }: News): void {
    for (let i = 0; i < (queue["time_s"]?.length ?? 0); i += 1) {
      const of = (column: string) => queue[column]?.[i] ?? 0;
      const before = this.histories.queue.times.at(-1) ?? 0;
      const span = of("time_s") - before || 1;
      const probability = queue["probability"]?.[i];
      this.histories.queue.push(of("time_s"), [
        ["probability", probability === undefined || Number.isNaN(probability) ? null : probability],
        ["marks", of("marks") / span / 1000],
        ["drops", of("drops") / span / 1000],
        ["utilisation", of("utilisation")],
      ]);
    }
  }

  private takeFlows({ flows, groups }: News): void {
    const times = flows["time_s"] ?? new Float64Array();
    let first = 0;
    while (first < times.length) {
      const time = times[first] ?? 0;
      let behind = first;
      const [rates, cwnd, alpha]: [string, number | null][][] = [[], [], []];
      for (; behind < times.length && times[behind] === time; behind += 1) {
        const of = (column: string) => flows[column]?.[behind] ?? NaN;
        // A flow that has not begun, or has ended, sends nothing.
        if (of("wire_bps") === 0) continue;
        const name = `${of("flow")}`;
        const group = groups[of("group")] ?? "";
        this.groupOf.set(name, group);
        rates?.push([name, of("wire_bps") / 1e6]);
        cwnd?.push([name, of("cwnd_packets")]);
        if (group.startsWith("dctcp")) alpha?.push([name, of("alpha")]);
      }
      this.histories.rates.push(time, rates ?? []);
      this.histories.cwnd.push(time, cwnd ?? []);
      this.histories.alpha.push(time, alpha ?? []);
      first = behind;
    }
  }

  /** What each kind of flows gets, and how long packets wait: of the last `overS` seconds. */
  share(overS: Lookback = RECENT_S): Share {
    const { rates, cwnd, queue } = this.histories;
    const kinds = new Map<string, { rates: number[]; least: number }>();
    for (const name of rates.lines.keys()) {
      const mean = rates.mean(name, overS);
      // Flows that are there now.
      if (mean === null || rates.lines.get(name)?.at(-1) === null) continue;
      const group = this.groupOf.get(name) ?? "";
      const before = kinds.get(group) ?? { rates: [], least: Infinity };
      const least = Math.min(before.least, cwnd.least(name, overS) ?? Infinity);
      kinds.set(group, { rates: [...before.rates, mean], least });
    }
    const windows = overS === LONG_S ? this.long : this.recent;
    const [ect = null, others = null] = windows.map((window): Wait | null => {
      const [middle, slowest] = [window.quantile(0.5), window.quantile(0.99)];
      return middle === null || slowest === null ? null : { middle, slowest };
    });
    const { late, of, shown } = this.frames;
    return {
      rateMbps: this.controls.rateMbps,
      kinds: [...kinds].map(([group, { rates: flows, least }]) => {
        const kind = positionOf(this.controls, group);
        const eachMbps = flows.reduce((sum, value) => sum + value, 0) / flows.length;
        const name = kindName(this.controls, kind);
        return {
          kind,
          name,
          usesEcn: this.usesEcn[kind] ?? false,
          flows: flows.length,
          eachMbps,
          leastPackets: least,
        };
      }),
      ect,
      others,
      busy: queue.mean("utilisation", overS),
      marksPerS: thousands(queue.mean("marks", overS)),
      dropsPerS: thousands(queue.mean("drops", overS)),
      frames: of > 0 ? { late, of, lateNow: shown.filter((isLate) => isLate).length, ofNow: shown.length } : null,
    };
  }
}
