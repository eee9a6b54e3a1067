// Laws of the reader's own: what the page knows of them, and what it does when one does not end.

import { CONTROLS } from "./controls";
import type { Described } from "./law";
import type { Controls, Preset } from "./plan";
import { ownLaws } from "./terms";

/** So long the simulator may be silent before a law is taken for one that does not end, in ms. */
const SILENCE_MS = 10_000;

/** Whether a file is that of a law. */
export const isLaw = (name: string): boolean => name.endsWith(".wasm");

/** The laws of this page. */
export class Laws {
  private heardAt = performance.now();
  /** The controls before the first law came. */
  private before: Controls | null = null;

  constructor(
    private readonly presets: Preset[],
    onSilence: (why: string) => void,
  ) {
    setInterval(() => {
      if (ownLaws.size === 0 || performance.now() - this.heardAt < SILENCE_MS) return;
      // What is in the background is not told anything either.
      if (document.hidden) return this.heard();
      onSilence(`The simulator has not answered for ${SILENCE_MS / 1000} s: the law does not end.`);
    }, 1000);
  }

  /** The simulator has said something. */
  heard(): void {
    this.heardAt = performance.now();
  }

  /** Whether this is what a law ends the simulator with. */
  isFailure(text: string): boolean {
    return ownLaws.size > 0 && text.includes("the law `");
  }

  /** Takes a law: another congestion control, or the queue that is returned, like another one but for its law. */
  take(name: string, { kind, summary }: Described, controls: Controls, like: Preset | undefined): Preset | null {
    this.before ??= controls;
    ownLaws.set(name, summary);
    if (kind === "controller") {
      if (!CONTROLS.includes(name)) CONTROLS.push(name);
      return null;
    }
    const bottleneck = { ...like?.bottleneck, aqm: { kind: "module", name } };
    const preset = { name, title: name.replace(/^file:|\.wasm$/g, ""), about: summary, bottleneck };
    const known = this.presets.findIndex((other) => other.name === name);
    this.presets.splice(known < 0 ? this.presets.length : known, known < 0 ? 0 : 1, preset);
    return preset;
  }

  /** Forgets all laws; returns the controls before them. */
  forget(): Controls | null {
    for (const name of ownLaws.keys()) {
      for (const list of [CONTROLS, this.presets] as (string | Preset)[][]) {
        const at = list.findIndex((item) => item === name || (typeof item === "object" && item.name === name));
        if (at >= 0) list.splice(at, 1);
      }
    }
    ownLaws.clear();
    this.heard();
    return this.before;
  }
}
