// Sliders of the controls.

import { element } from "./dom";

/** A slider with its label and its value; `newRun` says that moving it takes a new run. */
export function slider(
  id: string,
  label: string | HTMLElement,
  unit: string,
  { min, max, step = 1 }: { min: number; max: number; step?: number },
  value: number,
  newRun: boolean,
  moved: (value: number) => void,
): HTMLElement {
  const output = element("output", { for: id }, `${value}${unit}`);
  const input = element("input", { id, type: "range", min, max, step, value });
  input.addEventListener("input", () => {
    output.textContent = `${input.value}${unit}`;
    input.setAttribute("aria-valuetext", `${input.value}${unit}`);
    moved(Number(input.value));
  });
  input.setAttribute("aria-valuetext", `${value}${unit}`);
  return element(
    "div",
    { class: "field" },
    element("label", { for: id, class: newRun ? "new-run" : "" }, label),
    input,
    output,
  );
}
