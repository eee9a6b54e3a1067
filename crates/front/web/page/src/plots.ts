// Plots of the page: uPlot with the page's colours, a PNG and a CSV.

import uPlot from "uplot";
import { element, save } from "./dom";

/** A line of a plot. */
export interface Line {
  label: string;
  /** Name of a colour in the style sheet, or a colour as #rrggbb. */
  colour: string;
  dash?: number[];
  /** Whether a value stays up to the next one, instead of going there in a straight line. */
  steps?: boolean;
  /** Whether the values are points that nothing joins. */
  points?: boolean;
}

/** What a plot shows, over what, and how much a reader can do with it. */
export interface What {
  title: string;
  /** What is plotted, for those who do not know the word. */
  about?: string;
  x: string;
  y: string;
  /** Stem of the files that it is saved to. */
  name: string;
  logarithmic?: boolean;
  yRange?: [number, number | null];
  height?: number;
  /** Whether a reader can zoom, switch lines off and read values. Without it the plot moves with time. */
  explored?: boolean;
}

/** How far outside the window a plot is drawn with each picture, so that scrolling meets no old one. */
const MARGIN = "300px";
/** Time between two drawings of plots that are outside of the window, in ms. */
const UNSEEN_MS = 100;
const plots = new WeakMap<Element, Plot>();
/** Plots with data that are not drawn yet, since nobody sees them; the one that waits longest comes first. */
const behind = new Set<Plot>();
let timer = 0;
/** Plots outside of the window are drawn one after the other, for pictures of the whole page and for print. */
function catchUp(): void {
  const [plot] = behind;
  plot?.draw();
  timer = behind.size > 0 ? (setTimeout(catchUp, UNSEEN_MS) as unknown as number) : 0;
}
/** Tells plots that move with time whether a reader can see them. */
const watch = new IntersectionObserver(
  (entries) => entries.forEach((entry) => plots.get(entry.target)?.see(entry.isIntersecting)),
  { rootMargin: MARGIN },
);

/** One plot with a heading, a legend and its files. */
export class Plot {
  readonly root: HTMLElement;
  private plot: uPlot | null = null;
  /** What the lines of the data are; null as long as there are no data. */
  private lines: Line[] | null = null;
  private drawn: Line[] = [];
  private isSeen = false;
  private data: uPlot.AlignedData = [[]];
  /** The plot beside it of the same quantity, which has the same vertical axis. */
  private twin: Plot | null = null;
  /** The range that is shown in full. */
  private whole: [number, number] = [0, 1];
  private readonly canvas = element("div", { role: "img" });
  private readonly legend = element("div", { class: "legend" });

  constructor(
    private readonly what: What,
    legend: (Line & { text?: string })[],
  ) {
    const tool = (text: string, label: string, click: () => void) =>
      element("button", { type: "button", "aria-label": `${label}: ${what.title}`, click }, text);
    this.root = element(
      "div",
      { class: "plot" },
      element(
        "div",
        { class: "head" },
        element("h3", {}, what.about ? element("abbr", { title: what.about }, what.title) : what.title),
        element(
          "div",
          { class: "tools" },
          tool("PNG", "Save as PNG", () => this.png()),
          tool("CSV", "Save as CSV", () => this.csv()),
        ),
      ),
      this.canvas,
      this.legend,
    );
    for (const { label, colour, dash } of legend) {
      const mark = element("i", { class: dash ? "dashed" : "" });
      mark.style.borderColor = `var(--${colour})`;
      this.legend.append(element("span", {}, mark, label));
    }
    this.canvas.setAttribute("aria-label", `${what.title}: no data yet`);
    if (what.explored) {
      // It is drawn once, for print, too.
      this.isSeen = true;
      this.explore();
    } else {
      plots.set(this.root, this);
      watch.observe(this.root);
    }
  }

  /** Gives both plots one vertical axis, so that they can be compared. */
  pair(twin: Plot): void {
    [this.twin, twin.twin] = [twin, this];
  }

  /** The plot has come into view, or has left it. */
  see(isSeen: boolean): void {
    this.isSeen = isSeen;
    if (isSeen) this.draw();
  }

  /** Makes the plot one that can be zoomed by keys, too, and its legend one that switches lines off. */
  private explore(): void {
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute("role", "application");
    this.canvas.setAttribute("aria-roledescription", "plot: plus and minus zoom, arrows move, Escape shows everything");
    this.canvas.addEventListener("keydown", (event) => {
      const { min = null, max = null } = this.plot?.scales["x"] ?? {};
      if (min === null || max === null) return;
      const log = this.what.logarithmic;
      const [from, to] = log ? [Math.log(min), Math.log(max)] : [min, max];
      const back = (a: number, b: number) => this.zoom(log ? [Math.exp(a), Math.exp(b)] : [a, b]);
      const width = to - from;
      const steps: { [key: string]: () => void } = {
        "+": () => back(from + width / 4, to - width / 4),
        "=": () => back(from + width / 4, to - width / 4),
        "-": () => back(from - width / 2, to + width / 2),
        ArrowLeft: () => back(from - width / 5, to - width / 5),
        ArrowRight: () => back(from + width / 5, to + width / 5),
        Escape: () => this.zoom(this.whole),
      };
      const step = steps[event.key];
      if (!step) return;
      event.preventDefault();
      step();
    });
    this.canvas.addEventListener("dblclick", () => this.zoom(this.whole));
  }

  private zoom([from, to]: [number, number]): void {
    const width = to - from;
    if (!(width > 0)) return;
    // Never beyond what there is.
    const [first, last] = this.whole;
    const min = Math.max(first, Math.min(from, last - width));
    this.plot?.setScale("x", { min, max: Math.min(last, Math.max(min + width, first + 1e-12)) });
  }

  /** A legend whose entries switch their lines on and off, and show the values at the cursor. */
  private switches(lines: Line[]): void {
    this.legend.replaceChildren(
      ...lines.map((line, i) => {
        const mark = element("i", { class: line.dash ? "dashed" : "" });
        mark.style.borderColor = line.colour.startsWith("#") ? line.colour : `var(--${line.colour})`;
        const button: HTMLButtonElement = element(
          "button",
          {
            type: "button",
            "aria-pressed": "true",
            click: () => {
              const show = button.getAttribute("aria-pressed") !== "true";
              button.setAttribute("aria-pressed", `${show}`);
              this.plot?.setSeries(i + 1, { show });
            },
          },
          mark,
          line.label,
          element("output", { class: "value" }),
        );
        return button;
      }),
    );
  }

  /** Shows the values at the cursor: of each line the last one up to there. */
  private values(): void {
    const at = this.plot?.cursor.idx;
    const x = at == null ? null : this.data[0]?.[at];
    this.legend.querySelectorAll("output").forEach((output, i) => {
      let value: number | null | undefined = null;
      const line = this.data[i + 1];
      for (let k = at ?? -1; k >= 0 && value == null; k -= 1) value = line?.[k];
      output.textContent =
        x == null || value == null ? "" : ` ${Number(value.toPrecision(4))} at ${Number(x.toPrecision(6))}`;
    });
  }

  /** Shows lines over common values of x; `summary` says the same in words. */
  show(x: number[], lines: Line[], values: (number | null)[][], range: [number, number], summary: string): void {
    this.canvas.setAttribute("aria-label", `${this.what.title}: ${summary}`);
    this.data = [x, ...values] as uPlot.AlignedData;
    this.lines = lines;
    this.whole = range;
    if (this.isSeen) return this.draw();
    behind.add(this);
    timer ||= setTimeout(catchUp, UNSEEN_MS) as unknown as number;
  }

  /** Draws what was shown last. */
  draw([min, max]: [number, number] = this.whole): void {
    behind.delete(this);
    const { lines } = this;
    if (!lines) return;
    const same = lines.length === this.drawn.length && lines.every((line, i) => line.label === this.drawn[i]?.label);
    if (!this.plot || !same) this.build(lines);
    this.plot?.batch(() => {
      this.plot?.setData(this.data, false);
      this.plot?.setScale("x", { min, max });
      this.plot?.setScale("y", this.bounds());
    });
  }

  /** The largest value. */
  private most(): number {
    let most = 0;
    for (const line of this.data.slice(1))
      for (const value of line ?? []) if (value != null && value > most) most = value;
    return most;
  }

  private bounds(): { min: number; max: number } {
    const [low, high] = this.what.yRange ?? [0, null];
    const most = Math.max(this.most(), this.twin?.most() ?? 0);
    // In steps, so that the axis does not tremble.
    const step = 10 ** Math.floor(Math.log10(most || 1));
    return { min: low, max: high ?? (Math.ceil((most * 1.05) / step) * step || 1) };
  }

  /** Draws anew with the present colours and width. */
  refresh(): void {
    if (!this.lines) return;
    const { min, max } = this.plot?.scales["x"] ?? {};
    this.build(this.lines);
    // A reader's zoom stays.
    this.draw(this.what.explored && min != null && max != null ? [min, max] : this.whole);
  }

  private build(lines: Line[]): void {
    this.plot?.destroy();
    this.drawn = lines;
    const { explored } = this.what;
    if (explored) this.switches(lines);
    const style = getComputedStyle(this.root);
    const colour = (name: string) => (name.startsWith("#") ? name : style.getPropertyValue(`--${name}`).trim());
    const axis = {
      stroke: colour("soft"),
      grid: { stroke: colour("grid"), width: 1 },
      ticks: { stroke: colour("grid"), width: 1, size: 4 },
      font: "12px system-ui, 'DejaVu Sans', sans-serif",
      labelFont: "12px system-ui, 'DejaVu Sans', sans-serif",
      labelSize: 18,
    };
    this.plot = new uPlot(
      {
        width: Math.max(200, this.canvas.clientWidth || this.root.clientWidth || 400),
        height: this.what.height ?? 165,
        padding: [8, 18, 0, 0],
        cursor: {
          points: { size: 6 },
          drag: { x: explored ?? false, y: false },
          // The library would show all data; the figure has a range of its own.
          ...(explored ? { bind: { dblclick: () => null } } : {}),
        },
        ...(explored ? { hooks: { setCursor: [() => this.values()] } } : {}),
        legend: { show: false },
        scales: {
          x: { time: false, auto: false, ...(this.what.logarithmic ? { distr: 3 as const, log: 10 as const } : {}) },
          y: { auto: false },
        },
        axes: [
          { ...axis, label: this.what.x, size: 34 },
          { ...axis, label: this.what.y, size: 52 },
        ],
        series: [
          {},
          ...lines.map((line) => ({
            label: line.label,
            stroke: colour(line.colour),
            width: 1.6,
            points: { show: line.points ?? false, size: 4 },
            ...(line.dash ? { dash: line.dash } : {}),
            ...(line.steps && uPlot.paths.stepped ? { paths: uPlot.paths.stepped({ align: 1 }) } : {}),
            ...(line.points ? { paths: () => null } : {}),
          })),
        ],
      },
      this.data,
      this.canvas,
    );
  }

  private png(): void {
    this.draw();
    const canvas = this.canvas.querySelector("canvas");
    if (!canvas) return;
    // On the ground of the page, since the plot itself has none.
    const copy = element("canvas", { width: canvas.width, height: canvas.height });
    const context = copy.getContext("2d");
    if (!context) return;
    context.fillStyle = getComputedStyle(document.documentElement).getPropertyValue("--card");
    context.fillRect(0, 0, copy.width, copy.height);
    context.drawImage(canvas, 0, 0);
    copy.toBlob((blob) => blob && save(`${this.what.name}.png`, blob));
  }

  private csv(): void {
    const [x, ...lines] = this.data;
    const head = [this.what.x, ...(this.lines ?? []).map((line) => line.label)].map((name) => `"${name}"`);
    const rows = Array.from(x ?? [], (value, i) => [value, ...lines.map((line) => line?.[i] ?? "")].join(","));
    save(`${this.what.name}.csv`, new Blob([[head.join(","), ...rows].join("\n"), "\n"], { type: "text/csv" }));
  }
}
