// The page's words: each term is explained where it stands, and in a list at the end.

import { element } from "./dom";

const TERMS = {
  packet: "A piece of data of at most 1500 bytes, the unit in which networks carry and lose data.",
  queue: "Packets that wait in front of a link, because they come faster than the link carries them.",
  drop: "A packet that the queue throws away. Its sender sends it again, and slower.",
  mark:
    "Two bits in a packet (ECN) by which a queue says that it grows, without throwing the packet away. The " +
    "receiver tells the sender.",
  "ECN-capable":
    "A packet that says, by the same two bits, that it may be marked in place of dropped, as those of DCTCP and " +
    "Prague do.",
  flow: "The packets of one connection from a sender to a receiver.",
  "rate of a flow": "What a flow carries over the link in a second, with all headers.",
  RTT:
    "Round-trip time: how long a packet and its acknowledgement take for the whole way there and back, without any " +
    "waiting.",
  Control:
    "Congestion control: the rule by which a sender decides how much it sends. Reno and CUBIC halve or nearly " +
    "halve at a drop; DCTCP and Prague slow down by the part of their packets that is marked.",
  Reno: "The control of 1990: a packet more with each round trip, half of the window at a drop or a mark.",
  CUBIC:
    "The control that most computers have: after a drop it grows back to the window before, slowly near it, and " +
    "faster beyond.",
  DCTCP: "Data Center TCP: it slows down by half of the part of its packets that is marked.",
  Prague: "TCP Prague, for L4S: it slows down as DCTCP does, and says so by a codepoint of its own, ECT(1).",
  BBR:
    "A control with a model of the path: it sends as fast as its packets arrive, and has about twice as many on the " +
    "way as the path holds. Version 1 (bbr) hardly slows down at drops; version 3 (bbr3) does, until it probes " +
    "again. Their packets do not say that they may be marked.",
  ProbeRTT:
    "What BBR does when it has seen no shorter way for ten seconds (version 3: five): it sends little for 0.2 s, so " +
    "that the queue drains and the shortest round trip shows.",
  LEDBAT:
    "Low Extra Delay Background Transport: a control that takes what others leave. It measures how long its packets " +
    "wait, and slows down where they wait longer than 100 ms.",
  BDP: "Bandwidth-delay product: what a path holds while nothing waits, its rate times its round-trip time.",
  "Echo of marks":
    "How a receiver tells the sender of marks: each one by itself, or by all acknowledgements until the sender has " +
    "answered.",
  Hosts:
    "Computers at both ends: ideal ones send each packet by itself, others hand several packets at once to their " +
    "network card, as real ones do.",
  "Random loss": "Packets that are lost on the way behind the queue, as on a radio link; of a thousand.",
  Video:
    "A picture every 40 ms, which is of use only if all of it has arrived in time: within 20 ms for whoever steers " +
    "something by it, as in a game from afar; within 50 ms or 80 ms for a call. Its sender has the control and the " +
    "round-trip time of the first kind of flows.",
  delay:
    "How long a packet waits in the queue. \u201cThe slowest 1 %\u201d are the packets that wait longest: all " +
    "others wait shorter.",
  P99: "99 of 100 packets wait at most so long.",
  cwnd:
    "Congestion window: how many packets a sender may have on the way at once. Divided by the round-trip time it " +
    "is the rate.",
  "slow start":
    "The beginning of a flow: its window doubles with each round trip, until a first mark or drop says that the " +
    "link is full.",
  alpha: "DCTCP's and Prague's estimate of the part of their packets that is marked, from 0 to 1.",
  probability: "With what probability the queue's law marks or drops the next packet.",
  "Jain's index": "How equally flows share: 1 if all get the same, and 1/n if one of n gets everything.",
  seed: "The number from which all chance of a run is drawn: the same seed gives the same run.",
  "Parameters of the queue":
    "Numbers of the law that decides when packets are marked or dropped; their names are those of scenario files.",
} as const;
export type Term = keyof typeof TERMS;

/** What a term means. */
export const meaning = (name: Term): string => TERMS[name];

/** Beginnings of names of congestion controls, and the terms that explain them. */
const LAWS: readonly [string, Term][] = [
  ["cubic", "CUBIC"],
  ["dctcp", "DCTCP"],
  ["prague", "Prague"],
  ["bbr", "BBR"],
  ["ledbat", "LEDBAT"],
];

/** What laws of the reader's own say of themselves, by the names of their files. */
export const ownLaws = new Map<string, string>();

/** What a congestion control does; all that are none of the others are kinds of Reno. */
export const meaningOf = (cc: string): string =>
  ownLaws.get(cc) ??
  meaning(LAWS.find(([start]) => cc.startsWith(start))?.[1] ?? "Reno");

/** A term that explains itself to whoever points at it. */
export function term(name: Term, shown: string = name): HTMLElement {
  return element("abbr", { title: TERMS[name] }, shown);
}

/** All terms and the queues, for those who read, print, or have no pointer. */
export function glossary(queues: readonly { title: string; about: string }[]): HTMLElement {
  const all = [...Object.entries(TERMS), ...queues.map(({ title, about }) => [title, about] as const)];
  const entries = all.flatMap(([name, text]) => [
    element("dt", {}, name),
    element("dd", {}, text),
  ]);
  return element("details", { id: "words" }, element("summary", {}, "Words"), element("dl", {}, ...entries));
}
