// The story of BBR: what a sender with a model of the path does to senders that listen to drops and marks.

import { SLOW, eachMbps, more, rates, wait, waits, type Guide, type Sides, type Step } from "./guide";
import { ms, type Share } from "./verdict";

/** A flow gets more if it gets more than this many times as much. */
const FACTOR = 2;
const FIFO = "reno-fifo-10m-4bdp";
/** BBR is the second kind in all steps, so that it has one colour, and packets that may be marked have theirs. */
const WHO = ["neither", "DCTCP", "BBR"];
/** Smallest window of BBR's flow, in packets. */
const least = ({ kinds }: Share): number => kinds.find(({ kind }) => kind === 1)?.leastPackets ?? Infinity;
/** What the flow beside BBR gets, in Mbit/s. */
const besideMbps = (share: Share): number => eachMbps(share, 0);
const busy = ({ busy }: Share): string => `${((busy ?? 0) * 100).toFixed(0)} % busy`;
const drops = (share: Share): string => (share.dropsPerS ?? 0).toFixed(1);
/** Where the flow beside BBR gets more. 0: on the left; 1: on the right; 2: on neither. */
const where = ([left, right]: Sides): number | null => {
  const [there, here] = [besideMbps(left), besideMbps(right)];
  if (there === 0 && here === 0) return null;
  if (there > FACTOR * here) return 0;
  return here > FACTOR * there ? 1 : 2;
};

/** Links with buffers of these sizes in BDP, of 40 ms at 20 Mbit/s. */
const fifos = (left: number, right: number, flows: string): string =>
  `left=${FIFO}&left.buffer=${left}+BDP&right=${FIFO}&right.buffer=${right}+BDP&rate=20&${flows}`;
const ALONE = fifos(8, 0.25, "flows=0+cubic+40&flows=1+bbr+40");
const beside = (version: string): string => fifos(0.5, 8, `flows=1+cubic+40&flows=1+${version}+40`);
const dctcp = (left: string, right: string): string =>
  `left=${left}&right=${right}&rate=40&flows=1+dctcp+20&flows=1+bbr+20`;

const STEPS: readonly Step[] = [
  {
    title: "A model of the path",
    text:
      "Senders of the tour send more until a drop or a mark stops them. BBR measures how fast its packets arrive and " +
      "how long the shortest way there and back takes, and sends as fast as they arrive. The buffer on the left " +
      "holds 320 ms of packets, the one on the right 10 ms.",
    link: ALONE,
    question: "How long will packets of BBR wait in the large buffer on the left?",
    options: ["less than a tenth of what it holds", "about all of it"],
    right: ([left]) => (wait(left) < 0.032 ? 0 : 1),
    measured: (sides) =>
      `${waits(sides)} The left link is ${busy(sides[0])}. On the right ${drops(sides[1])} packets are dropped in a ` +
      `second, and the link is ${busy(sides[1])}.`,
    attempt: "Choose cubic in place of bbr, and watch both queues.",
  },
  {
    title: "ProbeRTT",
    text:
      "How long the shortest way takes shows only while no packet waits. Below there is a plot of the flow's window, " +
      "cwnd, over the last 30 s.",
    link: ALONE,
    question: "What does BBR do every ten seconds to see it?",
    options: ["It sends hardly anything for a moment", "Nothing: some packets never wait"],
    right: ([left]) => (least(left) === Infinity ? null : least(left) <= 4 ? 0 : 1),
    measured: ([left]) =>
      `In the last 20 s its smallest window on the left was ${least(left)} packets. The link is ${busy(left)}.`,
    attempt: "Add a second flow of BBR: do both do it at the same time?",
  },
  {
    title: "Beside CUBIC: a small and a large buffer",
    text:
      "CUBIC slows down at a drop, BBR hardly. CUBIC fills any buffer; BBR has about twice as many packets on the " +
      "way as the path holds, and no more. The buffer on the left, of 20 ms, is the small one now.",
    link: beside("bbr"),
    question: "Where does CUBIC get more than twice as much as behind the other buffer?",
    options: ["behind the small one", "behind the large one", "behind neither"],
    right: where,
    measured: ([left, right]) =>
      `On the left ${rates(left)}, and ${drops(left)} packets are dropped in a second. On the right ` +
      `${rates(right)}, and ${drops(right)} are dropped.`,
    attempt: "Move the buffers: open the parameters of a queue, and take 1, 2 or 4 BDP.",
  },
  {
    title: "BBR, version 3",
    text:
      "Version 3 listens to drops, too: a round trip with drops lowers what it sends until it probes again, and a " +
      "probe ends when more than 2 of 100 packets are lost. The buffers are the same as before.",
    link: beside("bbr3"),
    question: "How much of the link does CUBIC get behind the small buffer on the left now?",
    options: ["less than a sixth of it", "more than a sixth of it"],
    right: ([left]) => (besideMbps(left) > left.rateMbps / 6 ? 1 : 0),
    measured: ([left, right]) =>
      `On the left ${rates(left)}, and ${drops(left)} packets are dropped in a second. On the right ${rates(right)}.`,
    attempt: "Choose bbr in its place, and compare the rates and the drops.",
  },
  {
    title: "Beside DCTCP: marks",
    text:
      "The queue on the left marks packets that may be marked while more than 20 wait, and drops only when it is " +
      "full. Packets of DCTCP say that they may be marked, those of BBR do not.",
    link: dctcp("step-single", "fq-codel"),
    question: "Who gets more than twice as much as the other on the left?",
    options: WHO,
    right: ([left]) => more(left, FACTOR),
    measured: ([left]) =>
      `On the left ${rates(left)}. The queue marks ${(left.marksPerS ?? 0).toFixed(0)} packets a second, and packets ` +
      `wait ${ms(wait(left))}.`,
    attempt: "Raise the threshold of the left queue, or add flows of DCTCP.",
  },
  {
    title: "A queue for each flow",
    text: "FQ-CoDel on the right gives each flow a queue of its own, and lets them send in turn.",
    link: dctcp("step-single", "fq-codel"),
    question: "Who gets more than twice as much as the other on the right?",
    options: WHO,
    right: ([, right]) => more(right, FACTOR),
    measured: ([, right]) => `On the right ${rates(right)}.`,
    attempt: "Choose cubic in place of dctcp, or add flows of BBR.",
  },
  {
    title: "DualPI2",
    text:
      "DualPI2 on the right has two queues: a short one for packets that may be marked, and another one for all " +
      "others, those of BBR among them. A rule couples both: where it drops more of the others, it marks more.",
    link: dctcp("fq-codel", "dualpi2"),
    question: "Who gets more than twice as much as the other on the right?",
    options: WHO,
    right: ([, right]) => more(right, FACTOR),
    measured: ([left, right]) =>
      `On the left, behind FQ-CoDel, ${rates(left)}. On the right ${rates(right)}; packets of DCTCP wait ` +
      `${ms(right.ect?.middle ?? 0)}, those of BBR ${ms(right.others?.middle ?? 0)}, and ${drops(right)} packets are ` +
      `dropped in a second.`,
    attempt: "Choose bbr3 in place of bbr, or cubic, for which the coupling is made.",
  },
];

export const BBR: Guide = {
  noun: "story",
  invitation: "What BBR does to DCTCP and CUBIC behind each queue: seven steps",
  hint: "For those who know drops and marks. Time passes five times faster.",
  steps: STEPS,
  answers: SLOW,
};
