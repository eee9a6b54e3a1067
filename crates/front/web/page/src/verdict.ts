// What comes of the traffic behind one bottleneck: bars, a length, a clock, and a sentence.

import { element } from "./dom";

/** How long packets of a class wait, in s: half of them at most so long, and all but the slowest 1 %. */
export interface Wait {
  middle: number;
  slowest: number;
}

/** What the flows of a kind get. */
export interface Sent {
  kind: number;
  name: string;
  usesEcn: boolean;
  flows: number;
  eachMbps: number;
  /** Smallest window of one of them, in packets. */
  leastPackets: number;
}

/** Who gets what, and who waits. */
export interface Share {
  rateMbps: number;
  kinds: Sent[];
  /** Packets that say that they may be marked, and all others. */
  ect: Wait | null;
  others: Wait | null;
  /** Part of the time in which the link is busy. */
  busy: number | null;
  /** Packets that the queue marks and drops in a second. */
  marksPerS: number | null;
  dropsPerS: number | null;
  /** Frames of the video since the start, and those of the last moment. */
  frames: { late: number; of: number; lateNow: number; ofNow: number } | null;
}

/** Delays that a whole length may stand for, in s; 40 ms make a talk or a game uneasy. */
const LENGTHS_S = [0.04, 0.1, 0.2, 0.5, 1, 2, 5, 10];
const COLOURS = ["scalable", "classic", "video"];

export const ms = (seconds: number): string => `${(seconds * 1000).toFixed(seconds < 0.00995 ? 2 : 1)} ms`;
export const mbps = (value: number): string => `${value.toFixed(value < 9.95 ? 2 : 1)} Mbit/s`;

/** The kinds of flows that the controls have: all but the video. */
const senders = (share: Share): Share["kinds"] => share.kinds.filter(({ kind }) => kind < 2);

/** What the engine judges: `shoal_notices::Share`. */
export interface EngineShare {
  kinds: { name: string; usesEcn: boolean; eachBps: number }[];
  othersSend: boolean;
  ectS: number | undefined;
  notEctS: number | undefined;
}

/** What it says: `shoal_notices::Verdict`. */
export interface Verdict {
  sentence: string;
  waits: { who: string; is_ect: boolean; median_s: number }[];
}

export const NOTHING: Verdict = { sentence: "", waits: [] };

/** What the engine judges of a share; a video is no flow that fills the link. */
export function forEngine(share: Share): EngineShare {
  const kinds = senders(share);
  return {
    kinds: kinds.map(({ name, usesEcn, eachMbps }) => ({ name, usesEcn, eachBps: eachMbps * 1e6 })),
    othersSend: kinds.length < share.kinds.length,
    ectS: share.ect?.middle,
    notEctS: share.others?.middle,
  };
}

/** Who waits how long, of those whom the verdict tells apart. */
function lengths(share: Share, verdict: Verdict): { who: string; wait: Wait; colour: string }[] {
  return verdict.waits.flatMap(({ who, is_ect }) => {
    const wait = is_ect ? share.ect : share.others;
    const colour = who === "" ? "third" : is_ect ? "scalable" : "classic";
    return wait ? [{ who, wait, colour }] : [];
  });
}

/** The delay that whole lengths stand for, so that those of all these sides can be compared. */
export function wholeLength(shares: Share[]): number {
  const longest = Math.max(0, ...shares.flatMap(({ ect, others }) => [ect?.middle ?? 0, others?.middle ?? 0]));
  return LENGTHS_S.find((length) => length >= longest) ?? longest;
}

/** What stands beside a bar, the bar's length as a part of the whole, what the whole is, and the bar's colour. */
interface Bar {
  text: string;
  hint?: string;
  whole?: string;
  part: number;
  colour: string;
}

/** A line of text with a bar, which is changed in place: it is drawn with each picture. */
class Fact {
  private readonly text = new Text();
  private readonly hint = element("span", { class: "hint" });
  private readonly whole = element("small", {});
  private readonly bar = element("span", { class: "bar" });
  readonly root = element(
    "div",
    { class: "fact" },
    element("span", {}, this.text, this.hint),
    element("span", { class: "scale" }, element("span", { class: "track" }, this.bar), this.whole),
  );

  show({ text, hint = "", whole = "", part, colour }: Bar): void {
    this.text.data = text;
    this.hint.textContent = hint;
    this.whole.textContent = whole;
    this.bar.style.width = `${Math.min(100, 100 * part)}%`;
    this.bar.style.background = `var(--${colour})`;
  }
}

/** Bars for rates, lengths for delays, and the clock of the video. */
export class Facts {
  readonly root = element("div", { class: "facts" });
  private readonly rates: Fact[] = [];
  private readonly delays: Fact[] = [];
  private readonly clock = element("span", {});
  private readonly video = element("div", { class: "fact clock" }, element("i", {}), this.clock);

  /** `wholeS` is the delay that a whole length stands for. */
  show(share: Share, verdict: Verdict, wholeS: number): void {
    // The video has its clock.
    const rates = senders(share).map(({ kind, name, flows, eachMbps }) => ({
      text: `${flows} ${name}: ${mbps(eachMbps)}${flows > 1 ? " each" : ""}`,
      part: (eachMbps * flows) / share.rateMbps,
      colour: COLOURS[kind] ?? "third",
    }));
    const delays = lengths(share, verdict).map(({ who, wait, colour }) => ({
      text: `${who ? `${who} waits` : "Packets wait"} ${ms(wait.middle)}`,
      hint: ` (slowest 1 %: ${ms(wait.slowest)})`,
      whole: `of ${wholeS * 1000} ms`,
      part: wait.middle / wholeS,
      colour,
    }));
    const bars = [
      ...fill(this.rates, rates),
      ...fill(this.delays, delays),
    ];
    const shown = share.frames ? [...bars, this.video] : bars;
    const { children } = this.root;
    if (shown.length !== children.length || shown.some((fact, i) => fact !== children[i]))
      this.root.replaceChildren(...shown);
    this.tick(share.frames);
  }

  private tick(frames: Share["frames"]): void {
    if (!frames) return;
    const { lateNow, ofNow } = frames;
    this.clock.textContent = lateNow > 0 ? `Video: ${lateNow} of ${ofNow} frames late` : "Video: on time";
    this.video.classList.toggle("late", lateNow > 0);
  }
}

/** Shows bars in facts, of which there are as many as were ever needed; gives the elements of those that are shown. */
function fill(facts: Fact[], bars: Bar[]): HTMLElement[] {
  return bars.map((bar, i) => {
    const fact = (facts[i] ??= new Fact());
    fact.show(bar);
    return fact.root;
  });
}
