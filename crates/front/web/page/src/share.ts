// A link to the page holds the controls: what they are, not what has happened.

import type { Parameters } from "./parameters";
import { FLOWS_MAX, IDEAL, type Controls, type Feedback, type Kind, type Video } from "./plan";

/** A link longer than this is refused. */
const LENGTH_MAX = 2000;
export const RATE_MBPS = { min: 1, max: 200 } as const;
export const RTT_MS = { min: 1, max: 200 } as const;
export const LOSS_PERMILLE = { min: 0, max: 50 } as const;
const FEEDBACKS: Feedback[] = ["dctcp", "classic"];

/** How links say which video there is. */
const VIDEOS: Record<Exclude<Video, "none">, string> = {
  remote: "remote",
  constant: "1",
  adaptive: "adaptive",
};

/** The video that links call so. */
function videoOf(name: string): Video {
  const [video] = Object.entries(VIDEOS).find(([, said]) => said === name) ?? ["none"];
  return video as Video;
}

const SIDES = ["left", "right"] as const;

/** The controls as the part of an address behind `#`. */
export function toFragment(controls: Controls): string {
  const words = new URLSearchParams({
    left: controls.queues[0],
    right: controls.queues[1],
    rate: `${controls.rateMbps}`,
  });
  for (const kind of controls.kinds)
    words.append("flows", [kind.flows, kind.cc, kind.rttMs, ...(kind.feedback ? [kind.feedback] : [])].join(" "));
  controls.parameters.forEach((own, side) => {
    for (const [path, value] of Object.entries(own)) words.append(`${SIDES[side]}.${path}`, value);
  });
  if (controls.host !== IDEAL) words.set("host", controls.host);
  if (controls.lossPermille > 0) words.set("loss", `${controls.lossPermille}`);
  if (controls.video !== "none") words.set("video", VIDEOS[controls.video]);
  if (controls.seed !== 1) words.set("seed", `${controls.seed}`);
  return words.toString();
}

/** The controls that a link holds; throws a text that says what is wrong with it. */
export function fromFragment(
  fragment: string,
  known: { queues: string[]; ccs: readonly string[]; hosts: readonly string[] },
): Controls {
  if (fragment.length > LENGTH_MAX) throw `the link has ${fragment.length} characters; at most ${LENGTH_MAX} are read`;
  const words = new URLSearchParams(fragment);
  const number = (
    what: string,
    text: string | null | undefined,
    { min, max }: { min: number; max: number },
  ): number => {
    const value = Number(text);
    if (!text || !Number.isInteger(value) || value < min || value > max)
      throw `the link says \`${text ?? "nothing"}\` for ${what}: it takes a whole number from ${min} to ${max}`;
    return value;
  };
  const word = (what: string, text: string | null | undefined, all: readonly string[]): string => {
    if (!text || !all.includes(text))
      throw `the link says \`${text ?? "nothing"}\` for ${what}: there are ${all.join(", ")}`;
    return text;
  };
  const kinds = words.getAll("flows").map((text): Kind => {
    const [flows, cc, rtt, feedback] = text.split(" ");
    return {
      flows: number("a number of flows", flows, { min: 0, max: FLOWS_MAX }),
      cc: word("a congestion control", cc, known.ccs),
      rttMs: number("an RTT in ms", rtt, RTT_MS),
      ...(feedback === undefined ? {} : { feedback: word("an echo of marks", feedback, FEEDBACKS) as Feedback }),
    };
  });
  if (kinds.length !== 2) throw `the link has ${kinds.length} kinds of flows; the page shows two`;
  // Whether a bottleneck has such a parameter, and what it takes, the engine says.
  const under = (prefix: string): Parameters =>
    Object.fromEntries(
      [...words].filter(([key]) => key.startsWith(prefix)).map(([key, value]) => [key.slice(prefix.length), value]),
    );
  return {
    queues: [
      word("the left bottleneck", words.get("left"), known.queues),
      word("the right bottleneck", words.get("right"), known.queues),
    ],
    parameters: [under("left."), under("right.")],
    rateMbps: number("the rate in Mbit/s", words.get("rate"), RATE_MBPS),
    kinds,
    host: words.has("host") ? word("the hosts", words.get("host"), known.hosts) : IDEAL,
    lossPermille: words.has("loss")
      ? number("losses on the path in packets of a thousand", words.get("loss"), LOSS_PERMILLE)
      : 0,
    video: words.has("video") ? videoOf(word("the video", words.get("video"), Object.values(VIDEOS))) : "none",
    seed: words.has("seed") ? number("the seed", words.get("seed"), { min: 1, max: 1e9 }) : 1,
  };
}
