// Plots of the page: uPlot with the page's colours, a PNG and a CSV.

import uPlot from "uplot";
import { element, save } from "./dom";

/** A line of a plot. */
export interface Line {
  label: string;
  /** Name of a colour in the style sheet. */
  colour: string;
  dash?: number[];
}

/** One plot with a heading, a legend and its files. */
export class Plot {
  readonly root: HTMLElement;
  private plot: uPlot | null = null;
  private drawn: Line[] = [];
  private data: uPlot.AlignedData = [[]];
  private readonly canvas = element("div", { role: "img" });
  private readonly legend = element("div", { class: "legend" });

  constructor(
    private readonly what: { title: string; x: string; y: string; name: string; logarithmic?: boolean; yRange?: [number, number | null] },
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
        element("h3", {}, what.title),
        element("div", { class: "tools" }, tool("PNG", "Save as PNG", () => this.png()), tool("CSV", "Save as CSV", () => this.csv())),
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
  }

  /** Shows lines over common values of x; `summary` says the same in words. */
  show(x: number[], lines: Line[], values: (number | null)[][], range: [number, number], summary: string): void {
    this.canvas.setAttribute("aria-label", `${this.what.title}: ${summary}`);
    this.data = [x, ...values] as uPlot.AlignedData;
    const same = lines.length === this.drawn.length && lines.every((line, i) => line.label === this.drawn[i]?.label);
    if (!this.plot || !same) this.build(lines);
    this.plot?.setData(this.data, false);
    this.plot?.batch(() => {
      this.plot?.setScale("x", { min: range[0], max: range[1] });
      this.plot?.setScale("y", this.bounds(values));
    });
  }

  private bounds(values: (number | null)[][]): { min: number; max: number } {
    const [low, high] = this.what.yRange ?? [0, null];
    let most = 0;
    for (const line of values) for (const value of line) if (value !== null && value > most) most = value;
    // In steps, so that the axis does not tremble.
    const step = 10 ** Math.floor(Math.log10(most || 1));
    return { min: low, max: high ?? (Math.ceil((most * 1.05) / step) * step || 1) };
  }

  /** Draws anew with the present colours and width. */
  refresh(): void {
    if (this.drawn.length === 0) return;
    const { x, y } = this.plot?.scales ?? {};
    this.build(this.drawn);
    this.plot?.setData(this.data, false);
    if (x?.min != null && x.max != null) this.plot?.setScale("x", { min: x.min, max: x.max });
    if (y?.min != null && y.max != null) this.plot?.setScale("y", { min: y.min, max: y.max });
  }

  private build(lines: Line[]): void {
    this.plot?.destroy();
    this.drawn = lines;
    const style = getComputedStyle(document.documentElement);
    const colour = (name: string) => style.getPropertyValue(`--${name}`).trim();
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
        height: 165,
        padding: [8, 18, 0, 0],
        cursor: { points: { size: 6 }, drag: { x: false, y: false } },
        legend: { show: false },
        scales: { x: { time: false, auto: false, ...(this.what.logarithmic ? { distr: 3 as const, log: 10 as const } : {}) }, y: { auto: false } },
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
            points: { show: false },
            ...(line.dash ? { dash: line.dash } : {}),
          })),
        ],
      },
      this.data,
      this.canvas,
    );
  }

  private png(): void {
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
    const head = [this.what.x, ...this.drawn.map((line) => line.label)].map((name) => `"${name}"`);
    const rows = Array.from(x ?? [], (value, i) => [value, ...lines.map((line) => line?.[i] ?? "")].join(","));
    save(`${this.what.name}.csv`, new Blob([[head.join(","), ...rows].join("\n"), "\n"], { type: "text/csv" }));
  }
}
