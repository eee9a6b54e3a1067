// Guides through the page: each step has a question, a prediction of the reader, what is measured then, and what to
// try.

import { BASICS } from "./basics";
import { BBR } from "./bbr";
import { element } from "./dom";
import type { Guide, Sides, Step } from "./guide";
import type { Lookback } from "./measured";

export const GUIDES: readonly Guide[] = [BASICS, BBR];

export class Tour {
  readonly root = element("section", { id: "tour", "aria-label": "Guided tours" });
  private guide: Guide | null = null;
  private step = -1;
  private chosen: number | null = null;
  private answer = element("div", { role: "status", "aria-live": "polite" });
  private said = "";
  /** Whether the present choice has its answer. */
  private isAnswered = false;

  /** `follow` shows a link, and `pace` sets how fast simulated time passes, or gives that back to the reader. */
  constructor(
    private readonly follow: (link: string) => void,
    private readonly pace: (speed: number | null) => void,
  ) {
    this.show();
  }

  private get present(): Step | undefined {
    return this.guide?.steps[this.step];
  }

  private go(guide: Guide, step: number): void {
    // Within a guide a reader may choose another speed.
    if (this.guide === null) this.pace(guide.answers.speed);
    [this.guide, this.step, this.chosen, this.said] = [guide, step, null, ""];
    this.show();
    const { present } = this;
    if (present) this.follow(present.link);
    this.root.querySelector<HTMLElement>("h2")?.focus();
  }

  private leave(): void {
    [this.guide, this.step] = [null, -1];
    this.pace(null);
    this.show();
    this.root.querySelector<HTMLElement>("button")?.focus();
  }

  private button(text: string, click: () => void, main = false): HTMLElement {
    return element("button", { type: "button", class: main ? "main" : "", click }, text);
  }

  private show(): void {
    const { guide, present } = this;
    // A phone has room for the pictures and a step, if it shows nothing else.
    document.body.classList.toggle("touring", Boolean(present));
    if (guide && present) this.ask(guide, present);
    else
      this.root.replaceChildren(
        // The first is for everybody, and looks like it.
        ...GUIDES.map((guide, i) =>
          element(
            "div",
            { class: "row" },
            this.button(guide.invitation, () => this.go(guide, 0), i === 0),
            element("span", { class: "hint" }, guide.hint),
          ),
        ),
      );
  }

  private ask(guide: Guide, { title, text, question, options }: Step): void {
    this.answer = element("div", { role: "status", "aria-live": "polite" });
    const choices = options.map((option, i) =>
      element("button", { type: "button", "aria-pressed": "false", click: () => this.choose(i) }, option),
    );
    const last = this.step === guide.steps.length - 1;
    const to = (text: string, step: number) => this.button(text, () => this.go(guide, step));
    this.root.replaceChildren(
      element("h2", { tabindex: "-1" }, `${this.step + 1} of ${guide.steps.length}: ${title}`),
      element("p", {}, text),
      element("p", {}, element("b", {}, question), " What do you think?"),
      element("div", { class: "row options" }, ...choices),
      this.answer,
      element(
        "div",
        { class: "row" },
        ...(this.step > 0 ? [to("Back", this.step - 1)] : []),
        ...(last ? [] : [to("Next step", this.step + 1)]),
        this.button(`${last ? "End of" : "Leave"} the ${guide.noun}`, () => this.leave()),
      ),
    );
  }

  private choose(option: number): void {
    [this.chosen, this.isAnswered] = [option, false];
    this.root
      .querySelectorAll(".options button")
      .forEach((button, i) => button.setAttribute("aria-pressed", `${i === option}`));
    this.say("Let us see what happens.");
  }

  /** Answers, once the run has gone on for long enough; `shares` has what both sides do as means over a time. */
  look(timeS: number, shares: (overS: Lookback) => Sides): void {
    const { guide, present } = this;
    if (!guide || !present || this.chosen === null) return;
    const { settledS, overS } = guide.answers;
    if (timeS < settledS) return this.say(`Let us see what happens: the answer comes at ${settledS} s.`);
    const sides = shares(overS);
    const right = present.right(sides);
    const agrees =
      right === null ? "" : right === this.chosen ? "As you said. " : `Not so: ${present.options[right] ?? ""}. `;
    const isFirst = !this.isAnswered;
    this.isAnswered = true;
    this.say(`${agrees}${present.measured(sides)}`, present.attempt);
    // A phone has no room for the pictures and all of a step: the answer is above the last buttons.
    if (isFirst) this.root.lastElementChild?.scrollIntoView({ block: "nearest" });
  }

  private say(text: string, attempt = ""): void {
    if (text === this.said) return;
    this.said = text;
    this.answer.replaceChildren(
      element("p", {}, text),
      ...(attempt ? [element("p", { class: "hint" }, `To try: ${attempt}`)] : []),
    );
  }
}
