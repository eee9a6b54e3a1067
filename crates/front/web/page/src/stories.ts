// Stories: what each claims and what to move to see it; of the four papers also what was published and measured.

import { element } from "./dom";

/** A figure or a table of a paper that the page can show, or a part of another story. */
export interface Figure {
  figure: string;
  claim: string;
  move: string;
  /** The controls that show it, as a link has them. */
  link: string;
  /** Rows of the paper's table of results, those outside of their tolerance first. */
  rows: { claim: string; what: string; published: string; measured: string; tolerance: string; verdict: string }[];
  /** Claims of this figure that are inside their tolerance, and all of them. */
  inside: number;
  of: number;
}

/** A story; one of a paper as the build puts it together from the paper's own files. */
export interface Story {
  paper?: string;
  title: string;
  reference: string;
  claim: string;
  figures: Figure[];
  /** Claims with a published value among all of the paper that are inside their tolerance, and all of them. */
  inside: number;
  of: number;
}

const HEADS = ["Claim", "What", "Published", "Measured", "Tolerance", "Verdict"];

/** A part for each story; `begin` gets the link of the figure that is to be seen. */
export function stories(all: Story[], begin: (link: string) => void): HTMLElement[] {
  return all.map((story) =>
    element(
      "details",
      { class: "story" },
      element("summary", {}, story.title),
      element("p", { class: "hint" }, story.reference),
      element("p", {}, story.claim),
      ...story.figures.map((one) => figure(one, begin)),
      ...(story.paper
        ? [
            element(
              "p",
              { class: "hint" },
              `The tables are of ideal hosts after those of the papers; the page's flows are of today's hosts. ` +
                `Of all ${story.of} cells of the paper with a published ` +
                `value ${story.inside} are inside their tolerance. All of them, with reasons for what is outside: ` +
                `papers/${story.paper}/RESULTS.md, or shoal reproduce ${story.paper}.`,
            ),
          ]
        : []),
    ),
  );
}

function figure(
  { figure: title, claim, move, link, rows, inside, of }: Figure,
  begin: (link: string) => void,
): HTMLElement {
  const head = HEADS.map((name) => element("th", { scope: "col" }, name));
  const body = rows.map((row) =>
    element(
      "tr",
      {},
      ...[row.claim, row.what, row.published || "no number", row.measured, row.tolerance, row.verdict].map((cell) =>
        element("td", {}, cell),
      ),
    ),
  );
  const caption =
    rows.length < of
      ? `${rows.length} of ${of} claims, what is outside first; ${inside} are inside`
      : `All ${of} claims; ${inside} are inside`;
  return element(
    "section",
    { class: "figure", "aria-label": title },
    element("h3", {}, title),
    element("p", {}, claim),
    element("p", {}, element("b", {}, "To see it: "), move),
    element(
      "button",
      { type: "button", class: "main", "aria-label": `Show it: ${title}`, click: () => begin(link) },
      "Show it",
    ),
    ...(of > 0
      ? [
          element(
            "div",
            { class: "scroll", tabindex: "0", role: "region", "aria-label": `Results of ${title}` },
            element(
              "table",
              { class: "left" },
              element("caption", {}, caption),
              element("thead", {}, element("tr", {}, ...head)),
              element("tbody", {}, ...body),
            ),
          ),
        ]
      : []),
  );
}
