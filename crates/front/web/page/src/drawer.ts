// The controls: a panel beside the pictures where the window is wide, and else a drawer, as the style has it.

import { at, element } from "./dom";

/** Makes the drawer, and the buttons by which readers come to it and to the plots. */
export function drawer(): HTMLElement[] {
  const panel = at("panel");
  const button = element(
    "button",
    {
      type: "button",
      class: "narrow",
      "aria-controls": "panel",
      "aria-expanded": "false",
      click: () => turn(!isOpen()),
    },
    "Controls",
  );
  const isOpen = () => panel.classList.contains("open");
  const turn = (open: boolean) => {
    panel.classList.toggle("open", open);
    button.setAttribute("aria-expanded", `${open}`);
    // Without the drawer, as in a wide window, the button is not there, and the panel is.
    (open || !button.offsetParent ? panel : button).focus();
  };
  at("close").addEventListener("click", () => turn(false));
  at("skip").addEventListener("click", () => turn(true));
  panel.addEventListener("keydown", ({ key }) => key === "Escape" && isOpen() && turn(false));
  // Nobody is held in the drawer: whoever goes on by keys leaves it, and it covers nothing that has the focus.
  panel.addEventListener("focusout", ({ relatedTarget: next }) => {
    if (!(next instanceof Node) || panel.contains(next) || button.contains(next)) return;
    panel.classList.remove("open");
    button.setAttribute("aria-expanded", "false");
  });
  const plots = element("button", { type: "button", click: () => show(at("sides")) }, "Plots");
  return [plots, button];
}

/** Goes to the plots, by keys, too. */
function show(sides: HTMLElement): void {
  sides.focus({ preventScroll: true });
  sides.querySelector(".plots")?.scrollIntoView();
}
