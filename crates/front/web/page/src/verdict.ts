// What comes of the traffic behind one bottleneck: bars, a length, a clock, and a sentence.

import { element } from "./dom";

/** How long packets of a class wait, in s: half of them at most so long, and all but the slowest 1 %. */
export interface Wait {
  middle: number;
  slowest: number;
}

/** Who gets what, and who waits. */
export interface Share {
  rateMbps: number;
  kinds: { kind: number; name: string; usesEcn: boolean; flows: number; eachMbps: number }[];
  /** Packets that say that they may be marked, and all others. */
  ect: Wait | null;
  others: Wait | null;
  /** Part of the time in which the link is busy. */
  busy: number | null;
  /** Packets that the queue marks and drops in a second. */
  marksPerS: number | null;
  dropsPerS: number | null;
  frames: { late: number; of: number; lastIsLate: boolean } | null;
}

/** Ratio of rates up to which two kinds get the same, and from which on one is starved. */
const SAME = 1.5;
const STARVED = 10;
/** Ratio of delays from which on both are told. */
const OTHER_WAIT = 3;
/** Delay that fills the length, in s: what makes a talk or a game uneasy. */
const LENGTH_S = 0.04;
const COLOURS = ["scalable", "classic", "video"];

export const ms = (seconds: number): string => `${(seconds * 1000).toFixed(seconds < 0.00995 ? 2 : 1)} ms`;
export const mbps = (value: number): string => `${value.toFixed(value < 9.95 ? 2 : 1)} Mbit/s`;

/** What happens, in a sentence. */
export function verdict(share: Share): string {
  const kinds = share.kinds.filter(({ kind }) => kind < 2);
  const [first, second] = [...kinds].sort((a, b) => b.eachMbps - a.eachMbps);
  if (!first) return "Nothing is sent yet.";
  return `${rates(first, second)}${waits(share)}.`;
}

function rates(more: Share["kinds"][number], less: Share["kinds"][number] | undefined): string {
  if (!less) return `${more.name} has the link to itself`;
  const ratio = more.eachMbps / Math.max(less.eachMbps, 1e-6);
  if (ratio < SAME) return `A flow of ${more.name} and one of ${less.name} get about the same`;
  if (ratio < STARVED) return `A flow of ${more.name} gets ${ratio.toFixed(1)} times as much as one of ${less.name}`;
  return `${less.name} is starved: ${mbps(less.eachMbps)} for a flow, where ${more.name} gets ${mbps(more.eachMbps)}`;
}

function waits(share: Share): string {
  const [first, second] = lengths(share);
  if (!first) return "";
  if (!second) return `, and packets wait ${ms(first.wait.middle)}`;
  return `; packets of ${first.who} wait ${ms(first.wait.middle)}, those of ${second.who} ${ms(second.wait.middle)}`;
}

/** Who waits how long: all alike, or those that say that they may be marked and all others. */
function lengths(share: Share): { who: string; wait: Wait; colour: string }[] {
  const { ect, others } = share;
  const who = (usesEcn: boolean) =>
    share.kinds
      .filter((kind) => kind.usesEcn === usesEcn)
      .map(({ name }) => name)
      .join(" and ") || (usesEcn ? "ECN" : "others");
  const one = ect ?? others;
  if (!one) return [];
  const differ =
    ect && others && Math.max(ect.middle, others.middle) > OTHER_WAIT * Math.min(ect.middle, others.middle);
  if (!differ) return [{ who: "", wait: one, colour: "third" }];
  return [
    { who: who(true), wait: ect, colour: "scalable" },
    { who: who(false), wait: others, colour: "classic" },
  ];
}

/** Bars for rates, a length for the delay, and the clock of the video. */
export class Facts {
  readonly root = element("div", { class: "facts" });

  show(share: Share): void {
    const bars = share.kinds.map(({ kind, name, flows, eachMbps }) => {
      const bar = element("span", { class: "bar" });
      bar.style.width = `${Math.min(100, (100 * eachMbps * flows) / share.rateMbps)}%`;
      bar.style.background = `var(--${COLOURS[kind] ?? "third"})`;
      const what = `${flows} ${name}: ${mbps(eachMbps)}${flows > 1 ? " each" : ""}`;
      return element("div", { class: "fact" }, element("span", {}, what), element("span", { class: "track" }, bar));
    });
    this.root.replaceChildren(...bars, ...this.delays(share), ...this.clock(share));
  }

  private delays(share: Share): HTMLElement[] {
    return lengths(share).map(({ who, wait, colour }) => {
      const bar = element("span", { class: "bar thin" });
      bar.style.width = `${Math.min(100, (100 * wait.middle) / LENGTH_S)}%`;
      bar.style.background = `var(--${colour})`;
      const slowest = element("span", { class: "hint" }, ` (slowest 1 %: ${ms(wait.slowest)})`);
      return element(
        "div",
        { class: "fact", title: `The whole length is ${ms(LENGTH_S)}.` },
        element("span", {}, `${who ? `${who} waits` : "Packets wait"} ${ms(wait.middle)}`, slowest),
        element("span", { class: "track" }, bar),
      );
    });
  }

  private clock({ frames }: Share): HTMLElement[] {
    if (!frames) return [];
    const { late, of, lastIsLate } = frames;
    const text = `Video: ${lastIsLate ? "late" : "on time"} (${late} of ${of} frames late)`;
    const mark = element("i", {});
    return [element("div", { class: `fact clock${lastIsLate ? " late" : ""}` }, mark, element("span", {}, text))];
  }
}
