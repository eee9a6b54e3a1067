// The controls of the traffic: one table says what each is and whether moving it takes a new run.

import { element } from "./dom";
import { FLOWS_MAX, type Controls } from "./plan";
import { RATE_MBPS, RTT_MS } from "./share";

/** Congestion controls that the page offers, by kind; the program has more. */
export const CONTROLS = {
  scalable: ["dctcp", "dctcp-ikr", "dctcp-linux-3.18"],
  classic: ["cubic", "reno"],
};

const KINDS = [
  { legend: "Scalable flows", colour: "scalable", ccs: CONTROLS.scalable },
  { legend: "Classic flows", colour: "classic", ccs: CONTROLS.classic },
];

/** A slider with its label and its value. */
function slider(
  id: string,
  label: string,
  unit: string,
  { min, max }: { min: number; max: number },
  value: number,
  newRun: boolean,
  moved: (value: number) => void,
): HTMLElement {
  const output = element("output", { for: id }, `${value}${unit}`);
  const input = element("input", { id, type: "range", min, max, step: 1, value });
  input.addEventListener("input", () => {
    output.textContent = `${input.value}${unit}`;
    input.setAttribute("aria-valuetext", `${input.value}${unit}`);
    moved(Number(input.value));
  });
  input.setAttribute("aria-valuetext", `${value}${unit}`);
  return element("div", { class: "field" }, element("label", { for: id, class: newRun ? "new-run" : "" }, label), input, output);
}

/** Fills the form; `moved` gets the controls after each movement. */
export function show(form: HTMLElement, controls: Controls, moved: (controls: Controls) => void): void {
  let now = controls;
  const set = (part: Partial<Controls>) => moved((now = { ...now, ...part }));
  const kinds = KINDS.map(({ legend, colour, ccs }, i) => {
    const kind = controls.kinds[i] as Controls["kinds"][number];
    const change = (part: Partial<typeof kind>) => set({ kinds: now.kinds.map((own, at) => (at === i ? { ...own, ...part } : own)) });
    const choice = element("select", { id: `cc-${i}` }, ...ccs.map((cc) => element("option", { value: cc }, cc)));
    choice.value = kind.cc;
    choice.addEventListener("change", () => change({ cc: choice.value }));
    const mark = element("span", { class: "mark" });
    const title = element("legend", {}, mark, legend);
    title.style.color = `var(--${colour})`;
    return element(
      "fieldset",
      {},
      title,
      slider(`flows-${i}`, "Flows", "", { min: 0, max: FLOWS_MAX }, kind.flows, false, (flows) => change({ flows })),
      element("div", { class: "field" }, element("label", { for: `cc-${i}`, class: "new-run" }, "Control"), choice),
      slider(`rtt-${i}`, "RTT", " ms", RTT_MS, kind.rttMs, true, (rttMs) => change({ rttMs })),
    );
  });
  const video = element("input", { id: "video", type: "checkbox" });
  video.checked = controls.video;
  video.addEventListener("change", () => set({ video: video.checked }));
  const link = element(
    "fieldset",
    {},
    element("legend", {}, "Link, the same on both sides"),
    slider("rate", "Rate [Mbit/s]", "", RATE_MBPS, controls.rateMbps, false, (rateMbps) => set({ rateMbps })),
    element("div", { class: "row tight" }, video, element("label", { for: "video", class: "new-run" }, "Video: 4 Mbit/s, frames due in 50 ms")),
    element("p", { class: "hint" }, "\u21bb takes a new run from 0 s. Flows and rate move in the run in progress: flows join and leave, the rate steps."),
  );
  form.replaceChildren(...kinds, link);
}
