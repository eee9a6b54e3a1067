// The tour: seven steps for readers who know nothing of TCP.

import { SOON, more, rates, wait, waits, type Guide, type Step } from "./guide";
import { ms } from "./verdict";

const STEPS: readonly Step[] = [
  {
    title: "What a queue is",
    text:
      "A link carries so many packets a second. What comes faster waits in front of it, in a queue. Here a sender " +
      "called CUBIC, as most computers have it, sends as fast as it can. The queue on the left is large, and " +
      "nothing is dropped before it is full.",
    link: "left=reno-fifo-10m-4bdp&right=codel&rate=40&flows=1+cubic+20&flows=0+reno+20",
    question: "The way there and back takes 20 ms. How long will a packet wait in the large queue?",
    options: ["hardly at all", "longer than the whole way takes"],
    right: ([left]) => (wait(left) > 0.02 ? 1 : 0),
    measured: waits,
    attempt: "Choose another rate of the link: the queue stays filled.",
  },
  {
    title: "What a drop tells a sender",
    text:
      "On the right stands CoDel: it drops a packet when packets have waited for too long. A lost packet is sent " +
      "again, which costs time.",
    link: "left=reno-fifo-10m-4bdp&right=codel&rate=40&flows=1+cubic+20&flows=0+reno+20",
    question: "What else does a sender do when a packet was dropped?",
    options: ["It sends less for a while, so that packets wait shorter", "It goes on as before"],
    right: ([left, right]) => (wait(right) < wait(left) / 2 ? 0 : 1),
    measured: (sides) =>
      `${waits(sides)} The right queue drops ${(sides[1].dropsPerS ?? 0).toFixed(1)} packets a second.`,
    attempt: "Add flows: each one takes a part of the link, and more is dropped.",
  },
  {
    title: "What a mark tells it",
    text:
      "A queue can also mark a packet in place of dropping it, with two bits that are called ECN. The packet " +
      "arrives, and the receiver tells the sender of the mark. Here the senders are Reno's, with ECN: they take a " +
      "mark as they take a drop. The queue on the left marks, the one on the right cannot.",
    link: "left=red-ecn&right=reno-fifo-10m-4bdp&rate=40&flows=2+ecn-reno+20&flows=0+reno+20",
    question: "How many packets are lost on the left?",
    options: ["none, or nearly none", "as many as are marked"],
    right: ([{ dropsPerS, marksPerS }]) =>
      !marksPerS ? null : (dropsPerS ?? 0) < 0.1 * marksPerS ? 0 : 1,
    measured: ([{ dropsPerS, marksPerS }]) =>
      `The left queue marks ${(marksPerS ?? 0).toFixed(1)} packets a second and drops ${(dropsPerS ?? 0).toFixed(1)}.`,
    attempt: "Wait for a light in the left picture, or for a packet that falls in the right one: few are enough.",
  },
  {
    title: "Why DCTCP's queue is short",
    text:
      "Reno halves its rate at a mark, so it needs a long queue to live on meanwhile. DCTCP, made for data " +
      "centres, counts which part of its packets is marked, and slows down by half of that part. A queue can then " +
      "mark early: on the left from 20 packets on.",
    link: "left=step-single&right=red-ecn&rate=40&flows=2+dctcp+20&flows=0+reno+20",
    question: "How much of the link will two DCTCP flows use with such a short queue?",
    options: ["nearly all of it", "about a half"],
    right: ([left]) => (left.busy === null ? null : left.busy > 0.9 ? 0 : 1),
    measured: (sides) => `The left link is ${((sides[0].busy ?? 0) * 100).toFixed(0)} % busy. ${waits(sides)}`,
    attempt: "Choose reno in place of dctcp, and watch how busy the left link is.",
  },
  {
    title: "Why Reno starves beside it",
    text:
      "Now a DCTCP flow and a Reno flow share the queue on the left, which marks packets of DCTCP and drops " +
      "those of Reno, as it must, since Reno's do not say that they may be marked.",
    link: "left=red-ecn&right=coupled&rate=40&flows=1+dctcp+10&flows=1+reno+10",
    question: "Who gets more of the link on the left?",
    options: ["both about the same", "DCTCP, more than twice as much", "Reno, more than twice as much"],
    right: ([left]) => more(left, 2),
    measured: ([left]) =>
      `On the left ${rates(left)}: the same part of their packets meets a signal, a mark or a drop, and Reno ` +
      "answers each with half of its rate.",
    attempt: "Add Reno flows, or give Reno the shorter way: it stays so.",
  },
  {
    title: "Coupling",
    text:
      "A queue that knows both kinds gives Reno fewer signals. The coupled queue on the right does so: where it " +
      "marks one in 5 packets of DCTCP, it drops about one in 66 of Reno's.",
    link: "left=red-ecn&right=coupled&rate=40&flows=1+dctcp+10&flows=1+reno+10",
    question: "Who gets more of the link on the right?",
    options: [
      "both about the same, or not twice as much",
      "DCTCP, more than twice as much",
      "Reno, more than twice as much",
    ],
    right: (sides) => more(sides[1], 2),
    measured: (sides) => `On the right ${rates(sides[1])}. ${waits(sides)}`,
    attempt: "Add flows of both kinds, up to ten of each.",
  },
  {
    title: "Two queues",
    text:
      "Both kinds still wait in one queue, as long as Reno needs. So give each a queue of its own, coupled as " +
      "before: that is DualPI2, on the right. The picture shows one pile for both queues.",
    link: "left=coupled&right=dualpi2&rate=40&flows=1+dctcp+10&flows=1+reno+10",
    question: "How long do packets of DCTCP wait on the right?",
    options: ["much shorter than those of Reno", "as long as those of Reno"],
    right: ([, { ect, others }]) => (!ect || !others ? null : ect.middle < others.middle / 3 ? 0 : 1),
    measured: ([, right]) =>
      `On the right ${rates(right)}. Packets of DCTCP wait ${ms(right.ect?.middle ?? 0)}, those of Reno ` +
      `${ms(right.others?.middle ?? 0)}.`,
    attempt: "Choose prague-0.7 and the queue “DualPI2, ECT(1) only”: that is L4S, as it comes to the Internet.",
  },
];

export const BASICS: Guide = {
  noun: "tour",
  invitation: "Take the tour: seven steps, three minutes",
  hint: "What queues, drops and marks do, from the beginning.",
  steps: STEPS,
  answers: SOON,
};
