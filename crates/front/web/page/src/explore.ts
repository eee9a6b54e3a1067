// Interactive plots of a report: the lines of its figures, built when a reader opens them.

import uPlot from "uplot";
import { element } from "./dom";
import { Plot, type Line } from "./plots";

/** A line of a figure; shoal/report/explore.py writes it. */
interface Drawn {
  label: string;
  colour: string;
  dash: boolean;
  steps: boolean;
  points: boolean;
  x: number[];
  y: (number | null)[];
}

/** A panel of a figure. */
interface Panel {
  title: string;
  x: string;
  y: string;
  log: boolean;
  range: [number, number];
  y_range: [number, number];
  lines: Drawn[];
}

const HEIGHT = 260;

function build(place: HTMLElement, panels: Panel[], name: string): Plot[] {
  const plots = panels.map((panel, i) => {
    const title = panel.title || `${panel.y} over ${panel.x}`;
    return new Plot(
      {
        title,
        x: panel.x,
        y: panel.y,
        name: `${name}-${i + 1}`,
        logarithmic: panel.log,
        yRange: panel.y_range,
        height: HEIGHT,
        explored: true,
      },
      [],
    );
  });
  const hint =
    "Drag to zoom, double click or Escape for everything; plus, minus and arrows on a plot; a name below a plot " +
    "switches its line. Bands, thresholds and rows of events are in the figure above.";
  place.replaceChildren(element("p", { class: "soft" }, hint), ...plots.map((plot) => plot.root));
  plots.forEach((plot, i) => {
    const panel = panels[i] as Panel;
    // Lines have times of their own; what is missing at another line's time is no gap.
    const [x, ...values] = uPlot.join(panel.lines.map((line) => [line.x, line.y] as uPlot.AlignedData)) as [
      number[],
      ...(number | null)[][],
    ];
    const lines = panel.lines.map(
      ({ label, colour, dash, steps, points }): Line => ({
        label,
        colour,
        steps,
        points,
        ...(dash ? { dash: [6, 4] } : {}),
      }),
    );
    plot.show(x, lines, values, panel.range, lines.map((line) => line.label).join(", "));
  });
  return plots;
}

for (const details of document.querySelectorAll<HTMLDetailsElement>("details.explore")) {
  const place = details.querySelector("div");
  const data = details.querySelector('script[type="application/json"]')?.textContent;
  if (!place || !data) continue;
  let plots: Plot[] | null = null;
  details.addEventListener("toggle", () => {
    if (details.open && !plots) plots = build(place, JSON.parse(data) as Panel[], details.dataset["name"] ?? "plot");
  });
  let width = 0;
  new ResizeObserver(() => {
    if (plots && width !== place.clientWidth) for (const plot of plots) plot.refresh();
    width = place.clientWidth;
  }).observe(place);
}
