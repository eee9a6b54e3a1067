// What guides through the page have in common: steps that ask, wait for a prediction, and answer by what is measured.

import { LONG_S, RECENT_S, type Lookback } from "./measured";
import { mbps, ms, type Share, type Wait } from "./verdict";

/** What both bottlenecks do now, left and right. */
export type Sides = readonly [Share, Share];

/** When and of what time an answer is measured. */
export interface Answers {
  /** Simulated time after which there is an answer, in s: flows take some to settle. */
  settledS: number;
  /** Time over which the numbers are means, in s. */
  overS: Lookback;
  /** How fast simulated time passes from the first step on; null leaves it to the reader. */
  speed: number | null;
}

/** For flows that settle within some seconds. */
export const SOON: Answers = { settledS: 8, overS: RECENT_S, speed: null };
/** For flows whose cycles take ten seconds and more. */
export const SLOW: Answers = { settledS: 30, overS: LONG_S, speed: 5 };

export interface Step {
  title: string;
  text: string;
  /** The controls, as a link holds them. */
  link: string;
  question: string;
  options: readonly string[];
  /** Which of the options the numbers show; null if they show none of them yet. */
  right: (sides: Sides) => number | null;
  measured: (sides: Sides) => string;
  attempt: string;
}

/** A series of steps. */
export interface Guide {
  /** What its buttons call it. */
  noun: string;
  /** The button that begins it, and what stands beside that. */
  invitation: string;
  hint: string;
  steps: readonly Step[];
  answers: Answers;
}

const longer = ({ ect, others }: Share): Wait | null =>
  (ect?.middle ?? 0) > (others?.middle ?? 0) ? ect : (others ?? ect);
/** How long packets wait, of the class that waits longer; in s. */
export const wait = (share: Share): number => longer(share)?.middle ?? 0;
export const waits = ([left, right]: Sides): string =>
  `On the left packets wait ${ms(wait(left))}, on the right ${ms(wait(right))}.`;
/** What a flow of the first or of the second kind gets, in Mbit/s. */
export const eachMbps = (share: Share, kind: number): number =>
  share.kinds.find((sent) => sent.kind === kind)?.eachMbps ?? 0;
export const rates = (share: Share): string =>
  share.kinds.map(({ name, eachMbps }) => `a flow of ${name} gets ${mbps(eachMbps)}`).join(", and ");
/** 0: about the same; 1: the first kind gets more than `factor` times as much; 2: the second does. */
export const more = (share: Share, factor: number): number | null => {
  const [first, second] = [eachMbps(share, 0), eachMbps(share, 1)];
  if (first === 0 && second === 0) return null;
  if (first > factor * second) return 1;
  return second > factor * first ? 2 : 0;
};
