// The controls of the traffic: one table says what each is and whether moving it takes a new run.

import { element } from "./dom";
import { FLOWS_MAX, type Controls, type Feedback, type Video } from "./plan";
import { LOSS_PERMILLE, RATE_MBPS, RTT_MS } from "./share";
import { slider } from "./slider";
import { meaningOf, term } from "./terms";

/** Names of congestion controls and of presets of hosts: the build has them from the schema of scenarios. */
declare const CC_NAMES: readonly string[];
declare const HOST_NAMES: readonly string[];
export const HOSTS = HOST_NAMES;

/** Congestion controls that the page offers: those that the simulator has a model of, and laws of the reader's. */
export const CONTROLS: string[] = [...CC_NAMES];

/** How receivers echo marks. */
const ECHOES: [Feedback | "", string][] = [
  ["", "as the control says"],
  ["dctcp", "each mark (RFC 8257)"],
  ["classic", "until CWR (RFC 3168)"],
];

const VIDEOS: [Video, string][] = [
  ["none", "none"],
  ["remote", "1 Mbit/s, due in 20 ms"],
  ["constant", "4 Mbit/s, due in 50 ms"],
  ["adaptive", "adapts itself, due in 80 ms"],
];

const KINDS = [
  { legend: "First kind of flows", colour: "scalable" },
  { legend: "Second kind of flows", colour: "classic" },
];

/** Fills the form; `moved` gets the controls after each movement. */
export function show(form: HTMLElement, controls: Controls, moved: (controls: Controls) => void): void {
  let now = controls;
  const set = (part: Partial<Controls>) => moved((now = { ...now, ...part }));
  const kinds = KINDS.map(({ legend, colour }, i) => {
    const kind = controls.kinds[i] as Controls["kinds"][number];
    const change = (part: Partial<typeof kind>) =>
      set({ kinds: now.kinds.map((own, at) => (at === i ? { ...own, ...part } : own)) });
    const choice = element(
      "select",
      { id: `cc-${i}` },
      ...CONTROLS.map((cc) => element("option", { value: cc, title: meaningOf(cc) }, cc)),
    );
    // What was chosen explains itself to whoever points at it.
    const say = () => (choice.title = meaningOf(choice.value));
    choice.value = kind.cc;
    say();
    choice.addEventListener("change", () => (say(), change({ cc: choice.value })));
    const echo = element(
      "select",
      { id: `echo-${i}` },
      ...ECHOES.map(([value, text]) => element("option", { value }, text)),
    );
    echo.value = kind.feedback ?? "";
    echo.addEventListener("change", () => {
      const { feedback: _before, ...rest } = now.kinds[i] as typeof kind;
      const kinds = now.kinds.map((own, at) =>
        at === i ? (echo.value ? { ...rest, feedback: echo.value as Feedback } : rest) : own,
      );
      set({ kinds });
    });
    const mark = element("span", { class: "mark" });
    const title = element("legend", {}, mark, legend);
    title.style.color = `var(--${colour})`;
    return element(
      "fieldset",
      {},
      title,
      slider(`flows-${i}`, "Flows", "", { min: 0, max: FLOWS_MAX }, kind.flows, false, (flows) => change({ flows })),
      element(
        "div",
        { class: "field" },
        element("label", { for: `cc-${i}`, class: "new-run" }, term("Control")),
        choice,
      ),
      slider(`rtt-${i}`, term("RTT"), " ms", RTT_MS, kind.rttMs, true, (rttMs) => change({ rttMs })),
      element(
        "div",
        { class: "field" },
        element("label", { for: `echo-${i}`, class: "new-run" }, term("Echo of marks")),
        echo,
      ),
    );
  });
  const videos = VIDEOS.map(([value, text]) => element("option", { value }, text));
  const video = element("select", { id: "video" }, ...videos);
  video.value = controls.video;
  video.addEventListener("change", () => set({ video: video.value as Video }));
  const hosts = element("select", { id: "host" }, ...HOSTS.map((host) => element("option", { value: host }, host)));
  hosts.value = controls.host;
  hosts.addEventListener("change", () => set({ host: hosts.value }));
  const link = element(
    "fieldset",
    {},
    element("legend", {}, "Link, path and hosts"),
    slider("rate", "Rate [Mbit/s]", "", RATE_MBPS, controls.rateMbps, false, (rateMbps) => set({ rateMbps })),
    slider("loss", term("Random loss"), " ‰", LOSS_PERMILLE, controls.lossPermille, true, (lossPermille) =>
      set({ lossPermille }),
    ),
    element("div", { class: "field" }, element("label", { for: "host", class: "new-run" }, term("Hosts")), hosts),
    element("div", { class: "field" }, element("label", { for: "video", class: "new-run" }, term("Video")), video),
    element(
      "p",
      { class: "hint" },
      "\u21bb takes a new run from 0 s. Flows and rate move in the run in progress: flows join and leave, the rate " +
        "steps.",
    ),
  );
  form.replaceChildren(...kinds, link);
}
