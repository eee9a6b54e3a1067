// The four papers: what each claims, what to move to see it, and what was published and measured.

import { element } from "./dom";

/** One paper as the build puts it together from the papers' own files. */
export interface Story {
  paper: string;
  title: string;
  reference: string;
  claim: string;
  move: string;
  /** The controls that show it, as a link has them. */
  link?: string;
  /** Rows of the paper's table of results. */
  rows: { claim: string; what: string; published: string; measured: string; tolerance: string; verdict: string }[];
  /** Claims with a published value among all of the paper that are inside their tolerance, and all of them. */
  inside: number;
  of: number;
}

/** A part for each paper; `begin` gets the link of the one that is to be seen. */
export function stories(all: Story[], begin: (link: string) => void): HTMLElement[] {
  return all.map((story) => {
    const { link } = story;
    const head = ["Claim", "What", "Published", "Measured", "Tolerance", "Verdict"].map((name) => element("th", { scope: "col" }, name));
    const rows = story.rows.map((row) =>
      element("tr", {}, ...[row.claim, row.what, row.published, row.measured, row.tolerance, row.verdict].map((cell) => element("td", {}, cell))),
    );
    return element(
      "details",
      { class: "story" },
      element("summary", {}, story.title),
      element("p", { class: "hint" }, story.reference),
      element("p", {}, story.claim),
      element("p", {}, element("b", {}, "To see it: "), story.move),
      ...(link ? [element("button", { type: "button", class: "main", click: () => begin(link) }, "Show it")] : []),
      element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `Results of ${story.paper}` }, element("table", { class: "left" }, element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...rows))),
      element(
        "p",
        { class: "hint" },
        `These are the first rows of the table of results; of all ${story.of} cells with a published value ${story.inside} are inside their tolerance. ` +
          `All of them, with reasons for what is outside: papers/${story.paper}/RESULTS.md, or shoal reproduce ${story.paper}.`,
      ),
    );
  });
}
