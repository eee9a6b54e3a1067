// The page of a box on the wire: real packets instead of simulated ones.

import { DelayWindow } from "./delays";
import { at, element } from "./dom";
import { drawer } from "./drawer";
import { History } from "./history";
import { RECENT_S, SPAN_S } from "./measured";
import { STEP_S } from "./plan";
import { Plot, type Line } from "./plots";
import { slider } from "./slider";
import { mbps, ms } from "./verdict";

declare const VERSION: string;

/** What can be moved while the box runs. */
interface Control {
  key: string;
  label: string;
  unit: string;
  value: number;
  min: number;
  max: number;
  step: number;
}

/** What a flow has got since the last news. */
interface Gained {
  flow: string;
  bytes: number;
  marked: number;
  dropped: number;
}

/** What the box tells; python/shoal/linux/box_page.py writes it. */
type FromBox =
  | {
      type: "about";
      title: string;
      queue: string;
      controls: Control[];
      /** Lateness of the 99th percentile up to which rates and delays are those of the scenario. */
      trusted_us: number;
    }
  | {
      type: "news";
      at_s: number;
      over_s: number;
      flows: Gained[];
      others: { flows: number; bytes: number };
      bytes: number;
      marked: number;
      dropped: number;
      waiting_packets: number;
      /** Triples from s, to s, packets: of ECN-capable packets and of all others. */
      delays: [number[], number[]];
      /** Frames of videos that go through the box, by name. */
      videos: { [name: string]: { of: number; late: number; recent: boolean[] } };
      /** The 99th percentile; null as long as no frame has left. */
      late_us: number | null;
      lost_by_box: number;
    }
  | { type: "moved"; key: string; value: string; error: string | null };
type News = Extract<FromBox, { type: "news" }>;

/** Time between two moves that are sent, in ms: a hand makes more of them. */
const MOVE_MS = 200;
const COLOURS = ["scalable", "classic", "video", "third"];
const CLASSES = ["ECN-capable", "not ECN-capable"];

const TIME = "Time [s]";
const ofClasses: Line[] = [
  { label: "ECN-capable", colour: "scalable" },
  { label: "not ECN-capable", colour: "classic", dash: [6, 4] },
];
const signals: Line[] = [
  { label: "marks", colour: "scalable", dash: [6, 4] },
  { label: "drops", colour: "classic", dash: [2, 3] },
];
const plots = {
  rates: new Plot({ title: "Rate of each flow", x: TIME, y: "Mbit/s", name: "shoal-box-rates" }, []),
  delay: new Plot(
    { title: `Queueing delay, P99 per ${STEP_S} s`, x: TIME, y: "ms", name: "shoal-box-delay" },
    ofClasses,
  ),
  waiting: new Plot({ title: "Waiting packets", x: TIME, y: "packets", name: "shoal-box-waiting" }, []),
  signals: new Plot({ title: "Marks and drops", x: TIME, y: "per s", name: "shoal-box-signals" }, signals),
};
const histories = {
  rates: new History(SPAN_S),
  marks: new History(SPAN_S),
  drops: new History(SPAN_S),
  delay: new History(SPAN_S),
  waiting: new History(SPAN_S),
  signals: new History(SPAN_S),
};
const recent = CLASSES.map(() => new DelayWindow(RECENT_S));
const step = CLASSES.map(() => new DelayWindow(Infinity));
let stepSince = 0;
/** Marks and drops since then. */
let signalled = [0, 0];
/** Flows that the plots show, each with a number that no other has, which gives it its colour. */
const known = new Map<string, number>();
let last: News | null = null;
let trustedUs = Infinity;

const note = (text: string) => (at("note").textContent = text);

function lineOf(flow: string): Line {
  const position = known.get(flow) ?? 0;
  const colour = COLOURS[position % COLOURS.length] ?? "third";
  return position % 2 === 1 ? { label: flow, colour, dash: [6, 4] } : { label: flow, colour };
}

/** Forgets flows that are not shown any more, and gives new ones the first numbers that are free. */
function know(shown: History["lines"]): void {
  for (const flow of known.keys()) if (!shown.has(flow)) known.delete(flow);
  for (const flow of shown.keys()) {
    if (known.has(flow)) continue;
    const taken = new Set(known.values());
    let number = 0;
    while (taken.has(number)) number++;
    known.set(flow, number);
  }
}

function about(said: Extract<FromBox, { type: "about" }>): void {
  at("alert").hidden = true;
  trustedUs = said.trusted_us;
  at("title").textContent = `A box between ${said.title}`;
  at("lead").textContent = `What passes it waits in a queue of the kind ${said.queue}.`;
  at("controls").replaceChildren(...said.controls.map(control));
}

/** The slider of a control; a hand that moves it is followed at a pace that the box can keep. */
function control({ key, label, unit, value, min, max, step }: Control): HTMLElement {
  let timer = 0;
  let wanted = value;
  const send = () => {
    timer = 0;
    fetch("move", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ key, value: `${wanted} ${unit}` }),
    }).then(
      (response) => response.ok || alarm(`The box refuses the move: ${response.status} ${response.statusText}.`),
      () => alarm("The box does not answer."),
    );
  };
  const made = slider(`move-${key}`, label, ` ${unit}`, { min, max, step }, value, false, (moved) => {
    wanted = moved;
    timer ||= setTimeout(send, MOVE_MS) as unknown as number;
  });
  made.dataset["key"] = key;
  made.dataset["held"] = `${value} ${unit}`;
  return made;
}

/** A control has been moved, here or on another page of the same box. */
function moved({ key, value, error }: Extract<FromBox, { type: "moved" }>): void {
  const field = document.querySelector<HTMLElement>(`[data-key="${CSS.escape(key)}"]`);
  const label = field?.querySelector("label")?.textContent ?? key;
  if (error === null) note(`${label} is ${value} since ${(last?.at_s ?? 0).toFixed(1)} s.`);
  else note(`${label} ${value} is refused: ${error}`);
  const input = field?.querySelector("input");
  const output = field?.querySelector("output");
  if (!field || !input || !output) return;
  if (error === null) field.dataset["held"] = value;
  // What a hand holds is not taken from it, unless the box has it otherwise.
  else if (document.activeElement === input) input.blur();
  if (document.activeElement === input) return;
  const held = field.dataset["held"] ?? value;
  input.value = `${Number.parseFloat(held)}`;
  output.textContent = held;
}

function alarm(text: string): void {
  at("alert").hidden = false;
  at("alert").textContent = text;
}

function take(news: News): void {
  if (!last) stepSince = news.at_s - news.over_s;
  last = news;
  const perS = 1 / (news.over_s || 1);
  const push = (history: History, of: (gained: Gained) => number) =>
    history.push(
      news.at_s,
      news.flows.map((gained): [string, number] => [gained.flow, of(gained)]),
    );
  push(histories.rates, ({ bytes }) => bytes * 8e-6 * perS);
  know(histories.rates.lines);
  push(histories.marks, ({ marked }) => marked * perS);
  push(histories.drops, ({ dropped }) => dropped * perS);
  histories.waiting.push(news.at_s, [["packets", news.waiting_packets]]);
  signalled = signalled.map((count, i) => count + (i === 0 ? news.marked : news.dropped));
  for (const windows of [recent, step])
    news.delays.forEach((ranges, i) => windows[i]?.push(news.at_s, Float64Array.from(ranges)));
  const stepS = news.at_s - stepSince;
  if (stepS < STEP_S) return;
  stepSince = news.at_s;
  histories.signals.push(
    news.at_s,
    signalled.map((count, i): [string, number] => [signals[i]?.label ?? "", count / stepS]),
  );
  signalled = [0, 0];
  histories.delay.push(
    news.at_s,
    CLASSES.map((name, i): [string, number | null] => {
      const p99 = step[i]?.quantile(0.99) ?? null;
      return [name, p99 === null ? null : p99 * 1000];
    }),
  );
  for (const window of step) window.clear();
}

/** Draws what came last. */
function draw(): void {
  if (!last) return;
  const range: [number, number] = [Math.max(0, last.at_s - SPAN_S), Math.max(last.at_s, SPAN_S)];
  const summary = say(last);
  const show = (plot: Plot, history: History, lines: Line[], names: string[]) =>
    plot.show(
      history.times,
      lines,
      names.map((name) => history.lines.get(name) ?? history.times.map(() => null)),
      range,
      summary,
    );
  const flows = [...histories.rates.lines.keys()];
  show(plots.rates, histories.rates, flows.map(lineOf), flows);
  show(plots.delay, histories.delay, ofClasses, CLASSES);
  show(plots.waiting, histories.waiting, [{ label: "packets", colour: "third" }], ["packets"]);
  show(plots.signals, histories.signals, signals, ["marks", "drops"]);
  table();
  videos(last.videos);
  at("clock").textContent = `${last.at_s.toFixed(1)} s`;
}

/** What the last seconds were like; returns it as plain text, too. */
function say({ bytes, over_s, others, late_us, lost_by_box }: News): string {
  const rate = (of: number) => mbps((of * 8e-6) / (over_s || 1));
  const parts: (Node | string)[] = ["Now ", element("b", {}, rate(bytes)), " leave the queue; "];
  recent.forEach((window, i) => {
    const [middle, slowest] = [window.quantile(0.5), window.quantile(0.99)];
    if (middle === null || slowest === null) return;
    const tail = ` (slowest 1\u00a0%: ${ms(slowest)}); `;
    parts.push(`packets that are ${CLASSES[i]} wait `, element("b", {}, ms(middle)), tail);
  });
  if (late_us === null) {
    parts.push("no frame has left yet.");
  } else {
    parts.push(`frames leave at most ${late_us.toFixed(0)} us late (P99 since the start)`);
    parts.push(late_us > trustedUs ? ", which is too late to be trusted." : ".");
  }
  if (lost_by_box > 0) parts.push(` The box itself has lost ${lost_by_box} frames that no queue has seen.`);
  if (others.flows > 0) parts.push(` ${others.flows} more flows have ${rate(others.bytes)} together.`);
  at("words").replaceChildren(...parts);
  return parts.map((part) => (typeof part === "string" ? part : part.textContent)).join("");
}

/** The last frames of each video. */
function videos(of: News["videos"]): void {
  const shown = Object.entries(of).flatMap(([name, { of, late, recent }]): HTMLElement[] => {
    const text = `${name}: ${late} of ${of} frames late`;
    const frames = recent.map((isLate) => element("span", { class: isLate ? "late" : "" }));
    return [
      element("h3", {}, text),
      element("div", { class: "frames", role: "img", "aria-label": text }, ...frames),
    ];
  });
  const hint = element("p", { class: "hint" }, "The last frames: on time (filled) and late (hollow).");
  if (shown.length > 0) shown.push(hint);
  at("videos").replaceChildren(...shown);
}

/** The flows of the last seconds, which is the legend of their rates, too. */
function table(): void {
  const mean = (history: History, flow: string) => history.mean(flow, RECENT_S) ?? 0;
  const rows = [...histories.rates.lines.keys()]
    .sort((one, other) => (known.get(one) ?? 0) - (known.get(other) ?? 0))
    .map((flow) => {
      const { colour, dash } = lineOf(flow);
      const mark = element("i", { class: dash ? "dashed" : "" });
      mark.style.borderColor = `var(--${colour})`;
      const perS = (history: History) => mean(history, flow).toFixed(1);
      const cells = [mbps(mean(histories.rates, flow)), perS(histories.marks), perS(histories.drops)];
      return element(
        "tr",
        {},
        element("th", { scope: "row", class: "legend" }, element("span", {}, mark, flow)),
        ...cells.map((cell) => element("td", {}, cell)),
      );
    });
  const heads = [`Flow, mean of ${RECENT_S} s`, "Rate", "Marks per s", "Drops per s"];
  at("flows").replaceChildren(
    element("thead", {}, element("tr", {}, ...heads.map((head) => element("th", { scope: "col" }, head)))),
    element("tbody", {}, ...rows),
  );
}

function setTheme(dark: boolean): void {
  document.documentElement.dataset["theme"] = dark ? "dark" : "light";
  for (const plot of Object.values(plots)) plot.refresh();
}

const clock = element("span", { id: "clock", "aria-label": "Time since the box began" }, "0.0 s");
at("bar").replaceChildren(clock, ...drawer());
at("plots").replaceChildren(...Object.values(plots).map((plot) => plot.root));
at("about").textContent = `shoal ${VERSION}.`;
at("controls").addEventListener("submit", (event) => event.preventDefault());
const dark = matchMedia("(prefers-color-scheme: dark)");
setTheme(dark.matches);
dark.addEventListener("change", () => setTheme(dark.matches));
let width = 0;
new ResizeObserver(() => {
  if (width !== document.body.clientWidth) for (const plot of Object.values(plots)) plot.refresh();
  width = document.body.clientWidth;
}).observe(document.body);

const events = new EventSource("events");
let willDraw = false;
events.onmessage = ({ data }: MessageEvent<string>) => {
  const said = JSON.parse(data) as FromBox;
  if (said.type === "about") return about(said);
  if (said.type === "moved") return moved(said);
  take(said);
  if (willDraw) return;
  willDraw = true;
  requestAnimationFrame(() => {
    willDraw = false;
    draw();
  });
};
events.onerror = () => alarm("The box has ended, or does not answer: the page shows what came last.");
