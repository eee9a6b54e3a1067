// One bottleneck: its plots, and what happens there in words.

import { element, keepHeight } from "./dom";
import type { Account } from "./explain";
import type { History } from "./history";
import { Measured, RECENT_S, SPAN_S, type Lookback } from "./measured";
import { STEP_S, flowName, groupName, kindName, kindOf, positionOf, type Controls, type Preset } from "./plan";
import { leaves, type Parameters } from "./parameters";
import { Plot, type Line } from "./plots";
import type { News } from "./protocol";
import { Scene, lookOf } from "./scene";
import { meaning, term } from "./terms";
import { Facts, NOTHING, mbps, ms, type Share, type Verdict, type Wait } from "./verdict";

/** Shortest time for which an account of what happened is shown, in ms. */
const READING_MS = 900;
const COLOURS = ["scalable", "classic", "video", "third"];

export class Side {
  /** What a reader sees first: the choice of the queue, its picture, and what comes of it. */
  readonly stage: HTMLElement;
  readonly root: HTMLElement;
  readonly choice: HTMLSelectElement;
  private readonly scene: Scene;
  private readonly facts = new Facts();
  /** What the engine says of what was drawn last. */
  private judged: Verdict = NOTHING;
  /** The first flow of each group. */
  private firsts: number[] = [0];
  private readonly measured: Measured;
  private readonly about = element("p", { class: "hint" });
  private readonly fields = element("div", { class: "parameters" });
  private readonly words = element("p", { class: "words" });
  private readonly happened = element("div", { class: "happened" });
  /** When an account was last shown, in ms of the reader's time. */
  private toldAt = 0;
  private readonly frames = element("div", { class: "frames" });
  private readonly video = element(
    "div",
    {},
    element("h3", {}, "Video: the last two seconds, frames on time (filled) and late (hollow)"),
    this.frames,
  );
  private readonly plots: {
    rates: Plot;
    delay: Plot;
    waiting: Plot;
    distribution: Plot;
    probability: Plot;
    cwnd: Plot;
    alpha: Plot;
  };
  private controls: Controls;

  constructor(
    readonly number: number,
    private readonly presets: readonly Preset[],
    controls: Controls,
    chosen: (name: string) => void,
    private readonly set: (parameters: Parameters) => void,
  ) {
    this.controls = controls;
    this.measured = new Measured(controls);
    const where = number === 0 ? "Left" : "Right";
    this.choice = element(
      "select",
      { id: `queue-${number}`, change: () => chosen(this.choice.value) },
      ...presets.map((preset) => element("option", { value: preset.name }, preset.title)),
    );
    this.choice.value = controls.queues[number] ?? "";
    const name = (what: string) => `shoal-${where.toLowerCase()}-${what}`;
    const time = "Time [s]";
    const classes = (what: string): Line[] => [
      { label: `ECN-capable, ${what}`, colour: "scalable" },
      { label: `not ECN-capable, ${what}`, colour: "classic", dash: [6, 4] },
    ];
    const kinds = controls.kinds.map((_, i): Line => this.lineOf(groupName(controls, i)));
    const flows = controls.video !== "none" ? [...kinds, this.lineOf("video")] : kinds;
    this.plots = {
      rates: new Plot(
        { title: "Rate of each flow", about: meaning("rate of a flow"), x: time, y: "Mbit/s", name: name("rates") },
        flows,
      ),
      delay: new Plot(
        { title: `Queueing delay, P99 per ${STEP_S} s`, about: meaning("P99"), x: time, y: "ms", name: name("delay") },
        classes("P99"),
      ),
      waiting: new Plot(
        {
          title: `Waiting packets, mean per ${STEP_S} s`,
          about: meaning("queue"),
          x: time,
          y: "packets",
          name: name("waiting"),
        },
        classes("waiting"),
      ),
      distribution: new Plot(
        {
          title: `Queueing delay, last ${RECENT_S} s`,
          about: meaning("delay"),
          x: "Delay [ms]",
          y: "part at or below",
          name: name("distribution"),
          logarithmic: true,
          yRange: [0, 1],
        },
        classes("all packets"),
      ),
      probability: new Plot(
        {
          title: "Probability, marks and drops",
          about: meaning("probability"),
          x: time,
          y: "part; 1000 per s",
          name: name("probability"),
        },
        [
          { label: "probability, if the law keeps one", colour: "third" },
          { label: "marks, thousands per s", colour: "scalable", dash: [6, 4] },
          { label: "drops, thousands per s", colour: "classic", dash: [2, 3] },
        ],
      ),
      cwnd: new Plot(
        { title: "cwnd of each flow", about: meaning("cwnd"), x: time, y: "packets", name: name("cwnd") },
        flows,
      ),
      alpha: new Plot(
        {
          title: "alpha of each DCTCP flow",
          about: meaning("alpha"),
          x: time,
          y: "alpha",
          name: name("alpha"),
          yRange: [0, 1],
        },
        kinds.filter((line) => line.label.startsWith("dctcp")),
      ),
    };
    // On phones the sides are swiped, so each plot says whose it is.
    for (const { root } of Object.values(this.plots))
      root.querySelector("h3")?.prepend(element("span", { class: "where" }, `${where}: `));
    keepHeight(this.words);
    keepHeight(this.happened);
    this.scene = new Scene(
      `${where} bottleneck`,
      (flow) => kindOf(this.firsts, flow),
      (kind) => (this.isShown(kind) ? kindName(this.controls, kind) : ""),
    );
    this.stage = element(
      "article",
      { class: "stage", "aria-label": `${where} bottleneck` },
      element(
        "div",
        { class: "field" },
        element("h2", {}, element("label", { for: `queue-${number}`, class: "new-run" }, where)),
        this.choice,
      ),
      this.scene.root,
      this.facts.root,
    );
    this.root = element(
      "article",
      { class: "side", "aria-label": `${where} bottleneck, over time` },
      element("h2", {}, where),
      this.about,
      element("details", {}, element("summary", { class: "new-run" }, term("Parameters of the queue")), this.fields),
      this.words,
      this.happened,
      this.video,
      element("div", { class: "plots" }, ...Object.values(this.plots).map((plot) => plot.root)),
    );
  }

  /** Gives the plots of both sides the same axes. */
  pair(other: Side): void {
    for (const [name, plot] of Object.entries(this.plots)) plot.pair(other.plots[name as keyof Side["plots"]]);
  }

  /** Whether there are flows of this kind. */
  private isShown(kind: number): boolean {
    const own = this.controls.kinds[kind];
    return own ? own.flows > 0 : this.controls.video !== "none";
  }

  private lineOf(group: string): Line {
    const position = positionOf(this.controls, group);
    const colour = COLOURS[position] ?? "third";
    return position === 1 ? { label: group, colour, dash: [6, 4] } : { label: group, colour };
  }

  /** Shows what the bottleneck is. */
  show(controls: Controls): void {
    this.controls = controls;
    this.choice.value = controls.queues[this.number] ?? "";
    const preset = this.presets.find(({ name }) => name === this.choice.value);
    this.about.textContent = preset ? `${preset.title}: ${preset.about}` : "";
    this.showParameters();
  }

  /** Forgets what was shown: another run begins. */
  begin(controls: Controls, firsts: number[], usesEcn: boolean[]): void {
    this.firsts = firsts;
    this.measured.begin(controls, usesEcn);
    this.show(controls);
    this.scene.begin();
    this.happened.replaceChildren();
    this.toldAt = 0;
    this.video.hidden = controls.video === "none";
    this.frames.replaceChildren();
  }

  /** A field for each parameter, with the value of the run in progress. */
  private showParameters(): void {
    const name = this.controls.queues[this.number];
    const own = this.controls.parameters[this.number] ?? {};
    const preset = this.presets.find((one) => one.name === name);
    const focus = document.activeElement?.id;
    const fields = leaves(preset?.bottleneck ?? {}).flatMap(([path, shipped]) => {
      // What the law is, the list above says.
      if (path === "aqm.kind") return [];
      const id = `parameter-${this.number}-${path}`;
      const input = element("input", {
        id,
        class: "number",
        value: own[path] ?? `${shipped}`,
        size: 10,
        spellcheck: "false",
      });
      input.addEventListener("change", () => {
        const { [path]: _before, ...others } = own;
        this.set(input.value === `${shipped}` ? others : { ...others, [path]: input.value });
      });
      return [element("div", { class: "parameter" }, element("label", { for: id }, path.replace("aqm.", "")), input)];
    });
    this.fields.replaceChildren(...fields);
    if (focus?.startsWith(`parameter-${this.number}-`)) document.getElementById(focus)?.focus();
  }

  /** Takes in what is new. */
  take(time: number, news: News): void {
    this.measured.take(time, news);
    this.tell(news.accounts);
    this.judged = news.verdict;
    if (news.seen) this.scene.take(lookOf(news.seen.numbers, news.seen.rateMbps));
  }

  /** Draws the picture of this moment of the reader's time, in ms. */
  drawScene(now: number): void {
    this.scene.draw(now);
  }

  /** What each kind of flows gets, and how long packets wait: of the last `overS` seconds. */
  share(overS: Lookback = RECENT_S): Share {
    return this.measured.share(overS);
  }

  /** What happens here now, in a sentence; empty if the engine has said nothing of it yet. */
  verdict(): string {
    return this.judged.sentence;
  }

  /** Shows the latest account, but none so soon that the one before could not be read. */
  private tell(accounts: Account[]): void {
    const account = accounts.at(-1);
    const now = performance.now();
    if (!account || now - this.toldAt < READING_MS) return;
    this.toldAt = now;
    this.happened.replaceChildren(
      element("h3", {}, `What happened from ${account.fromS} s to ${account.toS} s`),
      element("ul", {}, ...account.sentences.map((sentence) => element("li", {}, sentence))),
    );
  }

  /** Draws what has been taken in, with the share of it; `wholeS` is the delay that a whole length stands for. */
  draw(time: number, share: Share, wholeS: number): void {
    const { histories, groupOf } = this.measured;
    const range: [number, number] = [Math.max(0, time - SPAN_S), Math.max(time, SPAN_S)];
    const perFlow = (plot: Plot, history: History, summary: string) => {
      const names = [...history.lines.keys()];
      const lines = names.map((name) => ({
        ...this.lineOf(groupOf.get(name) ?? ""),
        label: flowName(this.controls, this.firsts, Number(name)),
      }));
      plot.show(
        history.times,
        lines,
        names.map((name) => history.lines.get(name) ?? []),
        range,
        summary,
      );
    };
    const summary = this.say(share, wholeS);
    perFlow(this.plots.rates, histories.rates, summary);
    perFlow(this.plots.cwnd, histories.cwnd, "windows of the flows, in packets");
    perFlow(this.plots.alpha, histories.alpha, "alpha of the DCTCP flows");
    const line = (history: History, name: string) => history.lines.get(name) ?? history.times.map(() => null);
    const { delay, queue, waiting } = histories;
    const classes: Line[] = [
      { label: "ECN-capable", colour: "scalable" },
      { label: "not ECN-capable", colour: "classic", dash: [6, 4] },
    ];
    this.plots.delay.show(delay.times, classes, [line(delay, "ect"), line(delay, "not_ect")], range, summary);
    this.plots.waiting.show(
      waiting.times,
      classes,
      [line(waiting, "ect"), line(waiting, "not_ect")],
      range,
      "packets in the queue by class",
    );
    this.plots.probability.show(
      queue.times,
      [
        { label: "probability", colour: "third" },
        { label: "marks", colour: "scalable", dash: [6, 4] },
        { label: "drops", colour: "classic", dash: [2, 3] },
      ],
      [line(queue, "probability"), line(queue, "marks"), line(queue, "drops")],
      range,
      "probability, marks and drops over time",
    );
    this.drawDistribution(classes, summary);
    this.drawFrames();
  }

  private drawDistribution(classes: Line[], summary: string): void {
    const floor = 0.01;
    const points = new Map<number, (number | null)[]>();
    this.measured.recent.forEach((window, i) => {
      const { delays, parts } = window.distribution();
      delays.forEach((delay, at) => {
        // A logarithmic axis has no zero: what did not wait stands at its left edge.
        const x = Math.max(delay * 1000, floor);
        const own = points.get(x) ?? [null, null];
        own[i] = parts[at] ?? null;
        points.set(x, own);
      });
    });
    const x = [...points.keys()].sort((a, b) => a - b);
    const values = [0, 1].map((i) => {
      let last: number | null = null;
      // Between its points a distribution stays.
      return x.map((at) => (last = points.get(at)?.[i] ?? last));
    });
    this.plots.distribution.show(x, classes, values, [floor, 1000], summary);
  }

  private drawFrames(): void {
    if (this.controls.video === "none") return;
    const { late, of, shown } = this.measured.frames;
    while (this.frames.children.length < shown.length) this.frames.append(element("span"));
    [...this.frames.children].forEach((frame, i) => (frame.className = shown[i] ? "late" : ""));
    this.frames.setAttribute("role", "img");
    this.frames.setAttribute("aria-label", `${late} of ${of} frames late`);
  }

  /** What the last seconds were like; returns it as plain text, too. */
  private say(share: Share, wholeS: number): string {
    this.facts.show(share, this.judged, wholeS);
    const parts: (Node | string)[] = [`Mean of the last ${RECENT_S} s: `];
    for (const { name, flows, eachMbps } of share.kinds)
      parts.push(`${flows} ${name} `, element("b", {}, mbps(eachMbps)), flows > 1 ? " each; " : "; ");
    if (share.kinds.length === 0) parts.push("no flow sends; ");
    const { ect, others, busy, frames } = share;
    const wait = ({ middle, slowest }: Wait, ...who: (Node | string)[]) =>
      parts.push(...who, element("b", {}, ms(middle)), ` (slowest 1 %: ${ms(slowest)}); `);
    if (ect) wait(ect, term("ECN-capable"), " packets wait ");
    if (others) wait(others, "others ");
    if (busy !== null) parts.push(`the link is ${(busy * 100).toFixed(1)} % busy.`);
    if (frames) parts.push(` Video: ${frames.late} of ${frames.of} frames late since the start.`);
    const text = parts.map((part) => (typeof part === "string" ? part : part.textContent)).join("");
    if (text !== this.words.textContent) this.words.replaceChildren(...parts);
    return text;
  }

  /** Draws with the present colours and width, whether a reader sees it or not. */
  refresh(): void {
    this.scene.refresh(performance.now());
    for (const plot of Object.values(this.plots)) plot.refresh();
  }
}
