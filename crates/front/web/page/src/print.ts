// Print: paper is light, has no pointer to which a word could explain itself, and shows what is outside of the window.

import { at } from "./dom";

/** Makes the page ready for print and for the screen again; `refresh` draws everything anew. */
export function onPrint(refresh: () => void): void {
  let back: (() => void) | null = null;
  const turn = (isPrinted: boolean) => {
    // Browsers say it in two ways, some in only one of them.
    if (isPrinted === (back !== null)) return;
    if (isPrinted) {
      const { dataset } = document.documentElement;
      const words = at<HTMLDetailsElement>("words");
      const [theme, isOpen] = [dataset["theme"] ?? "light", words.open];
      back = () => ([dataset["theme"], words.open] = [theme, isOpen]);
      [dataset["theme"], words.open] = ["light", true];
    } else {
      back?.();
      back = null;
    }
    refresh();
  };
  addEventListener("beforeprint", () => turn(true));
  addEventListener("afterprint", () => turn(false));
  matchMedia("print").addEventListener("change", ({ matches }) => turn(matches));
}
