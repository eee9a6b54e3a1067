// node build.mjs MODULE_FOLDER SCENARIOS_FOLDER PAPERS_FOLDER T95 OUT.html: writes the page, one file that needs no
// other, and box.html beside it, the page of a box on the wire.
// T95 is a list of quantiles of Student's t distribution for 1, 2, ... degrees of freedom. The same inputs give the
// same bytes.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
// Packs the module 4 % smaller than zlib does at its best, in some seconds.
import zopfli from "@gfx/zopfli";
import { parse as parseCsv } from "csv-parse/sync";
import { build } from "esbuild";
import { parse as parseToml } from "smol-toml";

// The page may have at most so many bytes when a server has packed it.
const PACKED_MAX = 900_000;
// Bottlenecks of the demonstration, in the order of the list: names on the page, shipped scenarios, and what they do,
// for those who do not know the name.
const PRESETS = [
  [
    "RED with ECN",
    "red-ecn",
    "Random Early Detection: signals begin at a mean queue of half of what the path holds and become more " +
      "as it grows. Packets that may be marked are marked, the others dropped.",
  ],
  [
    "Coupled",
    "coupled",
    "One queue with two rules: packets that may be marked are marked with some probability, the others " +
      "dropped with one that goes with its square, as DCTCP and Reno need it.",
  ],
  [
    "Dual queue, coupled",
    "dualq-coupled",
    "Two queues: the one with packets that may be marked goes first. The queue of the others decides how " +
      "many of both are marked and dropped. The picture shows one pile for both queues.",
  ],
  [
    "DualPI2",
    "dualpi2",
    "Two queues with one controller: packets that may be marked have a short queue, the others a longer " +
      "one. The picture shows one pile for both queues.",
  ],
  [
    "DualPI2, ECT(1) only",
    "l4s",
    "DualPI2 as it comes to the Internet: only packets that say that they are from a sender like Prague " +
      "have the short queue. The picture shows one pile for both queues.",
  ],
  [
    "DualPI2, queue protection",
    "queue-protection",
    "DualPI2 that sends packets of a flow that fills the short queue to the long one. The picture shows " +
      "one pile for both queues.",
  ],
  [
    "Dual RED, threshold",
    "coexistence",
    "One queue with two rules: packets that may be marked are marked above a fixed length, the others " +
      "dropped as by RED.",
  ],
  [
    "Dual RED, slope",
    "dual-red-slope",
    "One queue with RED twice, with rules of their own for packets that may be marked and for the others.",
  ],
  [
    "Step marking",
    "step-single",
    "Each packet that may be marked is marked while more than a fixed number of packets wait. Others are " +
      "dropped when the queue is full.",
  ],
  [
    "FIFO",
    "compare/reno-fifo-10m-4bdp",
    "First in, first out: the queue accepts packets until it is full and drops what does not fit.",
  ],
  [
    "CoDel",
    "codel",
    "Controlled delay: packets are dropped, or marked if its parameters say so, when packets have waited " +
      "for more than a few milliseconds for some time.",
  ],
  [
    "FQ-CoDel",
    "fq-codel",
    "Each flow has a queue of its own, served in turn, with CoDel in each. The picture shows one pile for " +
      "all queues.",
  ],
];

const here = dirname(fileURLToPath(import.meta.url));
const [module, scenarios, papers, t95, out] = process.argv
  .slice(2)
  .map((given) => (given.startsWith("[") ? given : resolve(given)));
if (!out || !t95.startsWith("[")) {
  console.error("usage: node build.mjs MODULE_FOLDER SCENARIOS_FOLDER PAPERS_FOLDER T95 OUT.html");
  process.exit(2);
}

// Rows of a paper's results that a figure of its story shows.
const STORY_ROWS = 4;

/** A story with what the paper's own files say: its title and its results in the reading that was chosen. */
function story({ figures, ...own }) {
  if (own.paper === undefined)
    return {
      ...own,
      figures: figures.map(({ shows: _shows, ...figure }) => ({ ...figure, rows: [], inside: 0, of: 0 })),
    };
  const folder = join(papers, own.paper);
  const { title, reference, chosen } = parseToml(readFileSync(join(folder, "paper.toml"), "utf8"));
  const results = parseCsv(readFileSync(join(folder, "RESULTS.csv"), "utf8"), {
    columns: true,
    comment: "#",
    comment_no_infix: true,
  });
  const claims = results.filter((row) => row.role === "claim" && row.reading === (chosen ?? results[0].reading));
  const published = claims.filter((row) => row.published !== "");
  const inside = (rows) => rows.filter((row) => row.verdict === "inside").length;
  // What the figures show is for the tests.
  const withRows = figures.map(({ item, shows: _shows, ...figure }) => {
    const of = claims.filter((row) => row.item === item);
    if (of.length === 0) throw new Error(`${own.paper} has no claims of ${item}`);
    // A reader sees first what does not agree.
    const rows = [...of.filter((row) => row.verdict !== "inside"), ...of.filter((row) => row.verdict === "inside")]
      .slice(0, STORY_ROWS)
      .map(({ claim, what, published, measured, tolerance, verdict }) => ({
        claim,
        what,
        published,
        measured,
        tolerance,
        verdict,
      }));
    return { ...figure, rows, inside: inside(of), of: of.length };
  });
  return { ...own, title, reference, figures: withRows, inside: inside(published), of: published.length };
}

// What the engine reads from the scenarios, so that a reader need not wait for that.
const engine = await import(pathToFileURL(join(module, "shoal.js")));
const code = readFileSync(join(module, "shoal_bg.wasm"));
engine.initSync({ module: code });
const presets = PRESETS.map(([title, name, about]) => {
  const given = new engine.Scenario(readFileSync(join(scenarios, `${name}.toml`), "utf8"), `${name}.toml`);
  // The rate is one of the controls.
  const { rate: _rate, schedule: _schedule, ...bottleneck } = JSON.parse(given.json()).bottleneck;
  return { name: name.split("/").at(-1), title, about, bottleneck };
});

// What may be chosen, from the schema of scenarios.
const group = JSON.parse(readFileSync(join(scenarios, "schema.json"), "utf8")).properties.flows.items.properties;
const ccs = group.cc.anyOf[0].enum;
const hosts = group.host.oneOf.find((form) => form.enum).enum;

async function bundle(entry) {
  const result = await build({
    entryPoints: [join(here, "src", entry)],
    alias: { "shoal-module": join(module, "shoal.js") },
    bundle: true,
    minify: true,
    format: "iife",
    target: "es2022",
    // The glue of the module can load it from its own address, which the page never does.
    define: {
      "import.meta.url": '"shoal:"',
      T95: t95,
      CC_NAMES: JSON.stringify(ccs),
      HOST_NAMES: JSON.stringify(hosts),
      VERSION: JSON.stringify(engine.version()),
    },
    write: false,
    logLevel: "warning",
  });
  // Nothing inside of a script element may look like its end.
  return result.outputFiles[0].text.trim().replaceAll("</script", "<\\/script");
}

const sha = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
const style =
  readFileSync(join(here, "node_modules/uplot/dist/uPlot.min.css"), "utf8").trim() +
  readFileSync(join(here, "src/page.css"), "utf8").trim();
const [main, worker, box] = await Promise.all([bundle("main.ts"), bundle("worker.ts"), bundle("box.ts")]);
const packedModule = await zopfli.gzipAsync(code, { numiterations: 5 });
const wasm = Buffer.from(packedModule).toString("base64");
const parts = {
  // Only what is in this file: its scripts by their checksums, and the worker that it makes of one of them. A style may
  // be set by
  // the library of plots, so styles are allowed inline.
  "@CSP@": [
    `default-src 'none'; script-src ${sha(main)} 'wasm-unsafe-eval'; worker-src blob:; style-src 'unsafe-inline'`,
    "img-src data: blob:; base-uri 'none'; form-action 'none'",
  ].join("; "),
  "@STYLE@": style,
  "@WASM@": wasm,
  "@PRESETS@": JSON.stringify(presets).replaceAll("<", "\\u003c"),
  "@STORIES@": JSON.stringify(JSON.parse(readFileSync(join(here, "src/stories.json"), "utf8")).map(story)).replaceAll(
    "<",
    "\\u003c",
  ),
  "@WORKER@": worker,
  "@MAIN@": main,
};
const boxParts = {
  // It hears from the box that serves it, and tells it what was moved.
  "@CSP@": [
    `default-src 'none'; script-src ${sha(box)}; connect-src 'self'; style-src 'unsafe-inline'`,
    "img-src data: blob:; base-uri 'none'; form-action 'none'",
  ].join("; "),
  "@STYLE@": style,
  "@MAIN@": box,
};
const filled = (name, parts) =>
  Object.entries(parts).reduce(
    (page, [mark, text]) => page.replace(mark, () => text),
    readFileSync(join(here, "src", name), "utf8"),
  );
const page = filled("page.html", parts);
const packed = gzipSync(page, { level: 9 }).length;
if (packed > PACKED_MAX) {
  console.error(`the page has ${packed} bytes gzipped, and at most ${PACKED_MAX} are allowed`);
  process.exit(1);
}
// At once or not at all.
mkdirSync(dirname(out), { recursive: true });
for (const [path, text] of [
  [join(dirname(out), "box.html"), filled("box.html", boxParts)],
  [out, page],
]) {
  writeFileSync(`${path}.part`, text);
  renameSync(`${path}.part`, path);
}
console.log(`${out}: ${page.length} bytes, ${packed} gzipped; box.html beside it`);
