// One bottleneck: its plots, and what happens there in words.

import { DelayWindow } from "./delays";
import { element, keepHeight } from "./dom";
import type { Account } from "./explain";
import { History } from "./history";
import { STEP_S, flowName, groupName, kindName, kindOf, type Controls, type Preset } from "./plan";
import { leaves, type Parameters } from "./parameters";
import { Plot, type Line } from "./plots";
import type { News } from "./protocol";
import { Scene, lookOf } from "./scene";
import { meaning, term } from "./terms";
import { Facts, NOTHING, mbps, ms, type Share, type Verdict, type Wait } from "./verdict";

/** What the plots show of the past, in s. */
const SPAN_S = 30;
/** Time over which words and distributions look back, in s. */
const RECENT_S = 5;
/** Frames that are shown. */
const FRAMES = 50;
/** Shortest time for which an account of what happened is shown, in ms. */
const READING_MS = 900;
const COLOURS = ["scalable", "classic", "video", "third"];


const thousands = (value: number | null): number | null => (value === null ? null : value * 1000);

export class Side {
  /** What a reader sees first: the choice of the queue, its picture, and what comes of it. */
  readonly stage: HTMLElement;
  readonly root: HTMLElement;
  readonly choice: HTMLSelectElement;
  private readonly scene: Scene;
  private readonly facts = new Facts();
  /** What the engine says of what was drawn last. */
  private judged: Verdict = NOTHING;
  /** The first flow of each group, and whether its packets say that they may be marked. */
  private firsts: number[] = [0];
  private usesEcn: boolean[] = [];
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
  private readonly histories = {
    rates: new History(SPAN_S),
    cwnd: new History(SPAN_S),
    alpha: new History(SPAN_S),
    queue: new History(SPAN_S),
    delay: new History(SPAN_S),
    waiting: new History(SPAN_S),
  };
  /** Delays by class: of the last half second, and of the last five. */
  private readonly recent = [new DelayWindow(RECENT_S), new DelayWindow(RECENT_S)];
  private step = [new DelayWindow(Infinity), new DelayWindow(Infinity)];
  private stepSince = 0;
  private groupOf = new Map<string, string>();
  private controls: Controls;
  private shownFrames: boolean[] = [];
  private lateFrames = 0;
  private allFrames = 0;

  constructor(
    readonly number: number,
    private readonly presets: readonly Preset[],
    controls: Controls,
    chosen: (name: string) => void,
    private readonly set: (parameters: Parameters) => void,
  ) {
    this.controls = controls;
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

  /** Position of a group among the kinds of flows: 2 for the video, -1 for none of them. */
  private positionOf(group: string): number {
    if (group === "video") return 2;
    return this.controls.kinds.findIndex((_, i) => groupName(this.controls, i) === group);
  }

  private lineOf(group: string): Line {
    const position = this.positionOf(group);
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
    [this.firsts, this.usesEcn] = [firsts, usesEcn];
    this.show(controls);
    this.scene.begin();
    for (const history of Object.values(this.histories)) history.clear();
    for (const delays of [...this.recent, ...this.step]) delays.clear();
    [this.stepSince, this.shownFrames, this.lateFrames, this.allFrames] = [0, [], 0, 0];
    this.groupOf.clear();
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
    this.takeFlows(news);
    const { queue } = news;
    for (let i = 0; i < (queue["time_s"]?.length ?? 0); i += 1) {
      const of = (column: string) => queue[column]?.[i] ?? 0;
      const before = this.histories.queue.times.at(-1) ?? 0;
      const span = of("time_s") - before || 1;
      const probability = queue["probability"]?.[i];
      this.histories.queue.push(of("time_s"), [
        ["probability", probability === undefined || Number.isNaN(probability) ? null : probability],
        ["marks", of("marks") / span / 1000],
        ["drops", of("drops") / span / 1000],
        ["utilisation", of("utilisation")],
      ]);
    }
    news.delays.forEach((ranges, i) => {
      this.recent[i]?.push(time, ranges);
      this.step[i]?.push(time, ranges);
    });
    if (time - this.stepSince >= STEP_S) {
      const p99 = (i: number) => {
        const value = this.step[i]?.quantile(0.99) ?? null;
        return value === null ? null : value * 1000;
      };
      this.histories.delay.push(time, [
        ["ect", p99(0)],
        ["not_ect", p99(1)],
      ]);
      this.step.forEach((one) => one.clear());
      this.stepSince = time;
    }
    if (news.waiting) {
      const [at, ect, others] = news.waiting;
      this.histories.waiting.push(at, [
        ["ect", ect],
        ["not_ect", others],
      ]);
    }
    const late = news.frames["late_s"] ?? [];
    for (const value of late) {
      this.shownFrames.push(value > 0);
      this.allFrames += 1;
      this.lateFrames += value > 0 ? 1 : 0;
    }
    this.shownFrames = this.shownFrames.slice(-FRAMES);
    this.tell(news.accounts);
    this.judged = news.verdict;
    if (news.seen) this.scene.take(lookOf(news.seen.numbers, news.seen.rateMbps));
  }

  /** Draws the picture of this moment of the reader's time, in ms. */
  drawScene(now: number): void {
    this.scene.draw(now);
  }

  /** What each kind of flows gets, and how long packets wait: of the last seconds. */
  share(): Share {
    const { rates } = this.histories;
    const kinds = new Map<string, number[]>();
    for (const name of rates.lines.keys()) {
      const mean = rates.mean(name, RECENT_S);
      // Flows that are there now.
      if (mean === null || rates.lines.get(name)?.at(-1) === null) continue;
      const group = this.groupOf.get(name) ?? "";
      kinds.set(group, [...(kinds.get(group) ?? []), mean]);
    }
    const [ect = null, others = null] = this.recent.map((window): Wait | null => {
      const [middle, slowest] = [window.quantile(0.5), window.quantile(0.99)];
      return middle === null || slowest === null ? null : { middle, slowest };
    });
    return {
      rateMbps: this.controls.rateMbps,
      kinds: [...kinds].map(([group, flows]) => {
        const kind = this.positionOf(group);
        const eachMbps = flows.reduce((sum, value) => sum + value, 0) / flows.length;
        const name = kindName(this.controls, kind);
        return { kind, name, usesEcn: this.usesEcn[kind] ?? false, flows: flows.length, eachMbps };
      }),
      ect,
      others,
      busy: this.histories.queue.mean("utilisation", RECENT_S),
      marksPerS: thousands(this.histories.queue.mean("marks", RECENT_S)),
      dropsPerS: thousands(this.histories.queue.mean("drops", RECENT_S)),
      frames:
        this.allFrames > 0
          ? {
              late: this.lateFrames,
              of: this.allFrames,
              lateNow: this.shownFrames.filter((isLate) => isLate).length,
              ofNow: this.shownFrames.length,
            }
          : null,
    };
  }

  /** What happens here now, in a sentence. */
  verdict(): string {
    return this.judged.sentence || "Nothing is sent yet.";
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

  private takeFlows({ flows, groups }: News): void {
    const times = flows["time_s"] ?? new Float64Array();
    let first = 0;
    while (first < times.length) {
      const time = times[first] ?? 0;
      let behind = first;
      const [rates, cwnd, alpha]: [string, number | null][][] = [[], [], []];
      for (; behind < times.length && times[behind] === time; behind += 1) {
        const of = (column: string) => flows[column]?.[behind] ?? NaN;
        // A flow that has not begun, or has ended, sends nothing.
        if (of("wire_bps") === 0) continue;
        const name = `${of("flow")}`;
        const group = groups[of("group")] ?? "";
        this.groupOf.set(name, group);
        rates?.push([name, of("wire_bps") / 1e6]);
        cwnd?.push([name, of("cwnd_packets")]);
        if (group.startsWith("dctcp")) alpha?.push([name, of("alpha")]);
      }
      this.histories.rates.push(time, rates ?? []);
      this.histories.cwnd.push(time, cwnd ?? []);
      this.histories.alpha.push(time, alpha ?? []);
      first = behind;
    }
  }

  /** Draws what has been taken in, with the share of it; `wholeS` is the delay that a whole length stands for. */
  draw(time: number, share: Share, wholeS: number): void {
    const range: [number, number] = [Math.max(0, time - SPAN_S), Math.max(time, SPAN_S)];
    const perFlow = (plot: Plot, history: History, summary: string) => {
      const names = [...history.lines.keys()];
      const lines = names.map((name) => ({
        ...this.lineOf(this.groupOf.get(name) ?? ""),
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
    perFlow(this.plots.rates, this.histories.rates, summary);
    perFlow(this.plots.cwnd, this.histories.cwnd, "windows of the flows, in packets");
    perFlow(this.plots.alpha, this.histories.alpha, "alpha of the DCTCP flows");
    const line = (history: History, name: string) => history.lines.get(name) ?? history.times.map(() => null);
    const { delay, queue, waiting } = this.histories;
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
    this.recent.forEach((window, i) => {
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
    while (this.frames.children.length < this.shownFrames.length) this.frames.append(element("span"));
    [...this.frames.children].forEach((frame, i) => (frame.className = this.shownFrames[i] ? "late" : ""));
    this.frames.setAttribute("role", "img");
    this.frames.setAttribute("aria-label", `${this.lateFrames} of ${this.allFrames} frames late`);
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
