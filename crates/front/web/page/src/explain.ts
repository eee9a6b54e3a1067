// What just happened, in words: cuts of windows with what caused them, from the event trace of all flows.

import type { Rows } from "./protocol";

/** Time that one account covers, in s. */
export const ACCOUNT_S = 1;
/** Sentences of an account; the other flows are counted. */
const SENTENCES = 3;

/** A cut of a congestion window. */
interface Cut {
  /** cwnd before, and ssthresh after, in packets: where the window goes, at once or over a round trip. */
  from: number;
  to: number;
  alpha: number | null;
  /** Whether the flow was in slow start for the first time. */
  ended: boolean;
  /** Packets of the flow that were marked and dropped since its last cut. */
  marks: number;
  drops: number;
}

/** State of a sender, in packets; ssthresh is null while it is unlimited. */
interface State {
  cwnd: number;
  ssthresh: number | null;
}

/** What is known of a flow. */
interface Flow {
  state: State;
  /** When the state last changed, in s, and what it was before. */
  changedS: number;
  earlier: State;
  alpha: number | null;
  marks: number;
  drops: number;
  cuts: Cut[];
  /** Packets that were dropped before each retransmission timeout. */
  timeouts: number[];
  began: boolean;
}

/** What happened behind one bottleneck from one time to another, in s. */
export interface Account {
  fromS: number;
  toS: number;
  sentences: string[];
}

const plural = (count: number, what: string) => `${count} ${what}${count === 1 ? "" : "s"}`;
const ofItsPackets = (count: number, what: string) => `${count} of its packets ${count === 1 ? "was" : "were"} ${what}`;
const percent = (part: number) => `${Math.round(part * 100)} %`;
const packets = (count: number) => plural(Math.round(count), "packet");

function cause({ marks, drops, alpha }: Cut): string {
  const causes = [];
  if (drops > 0) causes.push(ofItsPackets(drops, "dropped"));
  if (marks > 0)
    causes.push(`${ofItsPackets(marks, "marked")}${alpha === null ? "" : `, and alpha is ${alpha.toFixed(2)}`}`);
  // What was sent before the trace began, or reordering that looked like a loss.
  return causes.length > 0 ? causes.join("; ") : "for no mark or drop in the queue";
}

/** What happened to a flow, with how much it matters. */
function sentence(name: string, flow: Flow): [number, string] | null {
  if (flow.timeouts.length > 0) {
    const drops = flow.timeouts.reduce((sum, count) => sum + count, 0);
    const why = drops > 0 ? ` ${ofItsPackets(drops, "dropped")} since its last cut.` : "";
    const times = flow.timeouts.length === 1 ? "" : `${flow.timeouts.length} times `;
    return [
      2,
      `${name} had to wait ${times}for its retransmission timer; its window is ${packets(flow.state.cwnd)} now.${why}`,
    ];
  }
  const [first] = flow.cuts;
  if (!first) return flow.began ? [0.9, `${name} has begun to send.`] : null;
  const parts = flow.cuts.map((cut) => Math.max(0, 1 - cut.to / cut.from));
  const most = Math.max(...parts);
  if (flow.cuts.length === 1) {
    const what = first.ended ? "left slow start and cut its window" : "cut its window";
    return [
      most,
      `${name} ${what} from ${Math.round(first.from)} to ${packets(first.to)} (−${percent(most)}): ${cause(first)}.`,
    ];
  }
  const [marks, drops] = [
    flow.cuts.reduce((sum, cut) => sum + cut.marks, 0),
    flow.cuts.reduce((sum, cut) => sum + cut.drops, 0),
  ];
  const least = Math.min(...parts);
  const by = percent(least) === percent(most) ? percent(most) : `${percent(least)} to ${percent(most)}`;
  return [
    most,
    `${name} cut its window ${flow.cuts.length} times, by ${by}: ` +
      `${cause({ ...first, marks, drops, alpha: flow.alpha })}.`,
  ];
}

/** Keeps account of the flows behind one bottleneck. */
export class Accountant {
  private readonly flows = new Map<number, Flow>();
  private since = 0;
  private marks = 0;
  private drops = 0;

  /** `nameOf` gives a flow's name on the page, and `kinds` are the words of the events. */
  constructor(private readonly nameOf: (flow: number) => string) {}

  /** Takes in what is new, up to the simulated time `now`. Gives an account whenever one is complete. */
  take(now: number, controller: Rows, events: Rows, kinds: string[]): Account[] {
    const accounts: Account[] = [];
    const [changed, happened] = [controller["time_s"] ?? new Float64Array(), events["time_s"] ?? new Float64Array()];
    let c = 0;
    for (let e = 0; e <= happened.length; e += 1) {
      const at = happened[e] ?? Infinity;
      // Changes of windows up to the event, and those that came with it.
      for (; c < changed.length && (changed[c] ?? 0) <= at; c += 1) this.change(controller, c, accounts);
      if (e === happened.length) break;
      this.close(at, accounts);
      this.happen(at, this.flow(events["flow"]?.[e] ?? 0), kinds[events["kind"]?.[e] ?? -1] ?? "");
    }
    this.close(now, accounts);
    return accounts;
  }

  private change(controller: Rows, row: number, accounts: Account[]): void {
    const value = (column: string) => {
      const found = controller[column]?.[row] ?? NaN;
      return Number.isNaN(found) ? null : found;
    };
    const time = value("time_s") ?? 0;
    this.close(time, accounts);
    const flow = this.flow(value("flow") ?? 0);
    // Several changes at one time come from one ACK.
    if (time !== flow.changedS) [flow.earlier, flow.changedS] = [flow.state, time];
    flow.state = { cwnd: value("cwnd_packets") ?? 0, ssthresh: value("ssthresh_packets") };
    flow.alpha = value("alpha");
  }

  private flow(number: number): Flow {
    let flow = this.flows.get(number);
    if (!flow) {
      const state = { cwnd: 0, ssthresh: null };
      flow = {
        state,
        earlier: state,
        changedS: -1,
        alpha: null,
        marks: 0,
        drops: 0,
        cuts: [],
        timeouts: [],
        began: true,
      };
      this.flows.set(number, flow);
    }
    return flow;
  }

  private happen(time: number, flow: Flow, kind: string): void {
    switch (kind) {
      case "mark":
        [flow.marks, this.marks] = [flow.marks + 1, this.marks + 1];
        return;
      case "drop":
        [flow.drops, this.drops] = [flow.drops + 1, this.drops + 1];
        return;
      case "timeout":
        flow.timeouts.push(flow.drops);
        [flow.marks, flow.drops] = [0, 0];
        return;
      case "reduction": {
        const { alpha, marks, drops, state } = flow;
        const before = flow.changedS === time ? flow.earlier : state;
        flow.cuts.push({
          from: before.cwnd,
          to: state.ssthresh ?? state.cwnd,
          ended: before.ssthresh === null,
          alpha,
          marks,
          drops,
        });
        [flow.marks, flow.drops] = [0, 0];
      }
    }
  }

  /** Completes the accounts that end before `now`. */
  private close(now: number, accounts: Account[]): void {
    while (now >= this.since + ACCOUNT_S) {
      accounts.push({ fromS: this.since, toS: this.since + ACCOUNT_S, sentences: this.sentences() });
      this.since += ACCOUNT_S;
      [this.marks, this.drops] = [0, 0];
      for (const flow of this.flows.values()) [flow.cuts, flow.timeouts, flow.began] = [[], [], false];
    }
  }

  private sentences(): string[] {
    const told = [...this.flows].flatMap(([number, flow]) => {
      const found = sentence(this.nameOf(number), flow);
      return found ? [found] : [];
    });
    told.sort(([a], [b]) => b - a);
    const sentences = told.slice(0, SENTENCES).map(([, text]) => text);
    if (told.length > SENTENCES)
      sentences.push(`The same happened, less strongly, to ${plural(told.length - SENTENCES, "other flow")}.`);
    sentences.push(
      this.marks + this.drops === 0
        ? "The queue neither marked nor dropped a packet."
        : `The queue marked ${packets(this.marks)} and dropped ${this.drops}.`,
    );
    return sentences;
  }
}
