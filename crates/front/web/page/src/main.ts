// The page.

import { CONTROLS, HOSTS, show } from "./controls";
import { at, element, save } from "./dom";
import { drawer } from "./drawer";
import type { Controls, Preset, Json } from "./plan";
import type { Parameters } from "./parameters";
import { onPrint } from "./print";
import type { FromWorker, ToWorker } from "./protocol";
import { fromFragment, toFragment } from "./share";
import { Side } from "./side";
import { seedsInWords, table } from "./steady";
import { stories, type Story } from "./stories";
import { glossary } from "./terms";
import type { Described } from "./law";
import { Laws, isLaw } from "./laws";
import { Tour } from "./tour";
import { forEngine, wholeLength, type Share } from "./verdict";

/** Runs for a steady state. */
const SEEDS = 5;
/** Largest module of a law that is read, in bytes. */
const LAW_MAX = 4 << 20;
/** Largest scenario file that is read, in bytes. */
const FILE_MAX = 200_000;
/** Time between two pictures in ms, if the reader has asked for reduced motion. */
const STILL_MS = 500;
/** Sections with buttons that ask something of the simulator: they cannot be pressed before it is ready. */
const NEED_SIMULATOR = ["controls", "stages", "sides", "tour", "papers", "bar", "time", "steady", "share"];
/** Time between two stills of the pictures in ms, if the reader has asked for reduced motion. */
const STILL_SCENE_MS = 1000;
/** Shortest time for which the sentences of what happens now stay, in ms. */
const READING_MS = 2500;
const still = matchMedia("(prefers-reduced-motion: reduce)");
const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 5, 10];
const DEFAULT: Controls = {
  queues: ["red-ecn", "dualpi2"],
  parameters: [{}, {}],
  rateMbps: 40,
  kinds: [
    { cc: "dctcp", flows: 2, rttMs: 10 },
    { cc: "cubic", flows: 2, rttMs: 10 },
  ],
  host: "ideal",
  lossPermille: 0,
  video: "remote",
  seed: 1,
};

/** Forms of a scenario: name of a file and its text. */
const FORMS = {
  "as TOML": (toml: string) => ["scenario.toml", toml],
  "as a command": (toml: string) => [
    "run.sh",
    `cat > scenario.toml <<'TOML'\n${toml.trimEnd()}\nTOML\nshoal run scenario.toml --out results/page\n`,
  ],
  "as Python": (toml: string) => [
    "run.py",
    `import shoal\n\nscenario = shoal.Scenario.from_toml(r"""\n${toml.trimEnd()}\n""")\nresult = ` +
      `shoal.run(scenario)\nprint(result.metrics)\n`,
  ],
} satisfies { [form: string]: (toml: string) => [string, string] };
type Form = keyof typeof FORMS;

let worker: Worker;
/** The queues that can be chosen; the build has them from the shipped scenarios. */
declare const VERSION: string;
const presets = JSON.parse(at("presets").textContent ?? "[]") as Preset[];
let controls: Controls = DEFAULT;
/** The controls of the run in progress, if there is one. */
let inProgress: Controls | null = null;
/** The first flow of each group of that run, and whether the packets of the group say that they may be marked. */
let firsts: number[] = [0];
let usesEcn: boolean[] = [];
let sides: Side[] = [];
let form: Form = "as TOML";
let running = true;
let speed = 1;
let now = 0;
/** Kept until the address is not changed so often that the browser complains. */
let addressTimer = 0;

const send = (message: ToWorker, transfer: Transferable[] = []) => worker.postMessage(message, transfer);
const note = (text: string) => (at("note").textContent = text);

function alarm(text: string | null): void {
  at("alert").hidden = text === null;
  at("alert").textContent = text ?? "";
}

/** The simulator's module, which the page holds packed. */
function packed(): ArrayBuffer {
  const letters = atob((at("wasm").textContent ?? "").trim());
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i += 1) bytes[i] = letters.charCodeAt(i);
  return bytes.buffer;
}

/** What the browser lacks, if it lacks something. */
function missing(): string | null {
  if (typeof WebAssembly !== "object") return "WebAssembly";
  if (typeof Worker !== "function") return "workers";
  if (typeof DecompressionStream !== "function") return "DecompressionStream";
  return null;
}

function boot(): void {
  const lacks = missing();
  if (lacks) {
    note("");
    return alarm(
      `This browser has no ${lacks}, which the simulator needs. Firefox 113, Chrome 80 and Safari 16.4 and their ` +
        `successors have it.`,
    );
  }
  const code = at("worker").textContent ?? "";
  const begun = new Worker(URL.createObjectURL(new Blob([code], { type: "text/javascript" })));
  worker = begun;
  // What one that has been replaced has still said is of no interest.
  worker.onmessage = (event: MessageEvent<FromWorker>) => begun === worker && on(event.data);
  worker.onerror = (event) => {
    if (begun !== worker) return event.preventDefault();
    if (laws.isFailure(event.message)) {
      event.preventDefault();
      return beginWithoutLaws(event.message);
    }
    alarm(
      `The simulator has stopped: ${event.message}\nReload the page to begin anew; the address holds the controls.`,
    );
  };
  const bytes = packed();
  send({ type: "boot", packed: bytes, presets }, [bytes]);
}

function fromAddress(): Controls {
  if (location.hash.length < 2) return DEFAULT;
  try {
    return fromFragment(location.hash.slice(1), {
      queues: presets.map((preset) => preset.name),
      ccs: CONTROLS,
      hosts: HOSTS,
    });
  } catch (error) {
    alarm(`${String(error)}\nThe page shows its own beginning instead.`);
    return DEFAULT;
  }
}

function on(message: FromWorker): void {
  laws.heard();
  switch (message.type) {
    case "ready":
      listen();
      for (const id of NEED_SIMULATOR) at(id).inert = false;
      // The clock first, so that the run goes on at once.
      send({ type: "clock", running, speed });
      send({ type: "restart", controls });
      return;
    case "began":
      // The plots' legends follow the kinds of flows.
      // A link moves the sliders, too; a slider that is being moved stays as it is.
      if (JSON.stringify(message.controls) !== JSON.stringify(controls)) built = "";
      controls = inProgress = message.controls;
      ({ firsts, usesEcn } = message);
      build();
      now = 0;
      note(message.why ? `A new run: ${message.why}.` : "A new run from 0 s.");
      return;
    case "news":
      now = message.time;
      // For those who watch the page with other tools.
      document.documentElement.dataset["bytes"] = `${message.bytes}`;
      message.sides.forEach((news, i) => sides[i]?.take(message.time, news));
      drawSides();
      if (message.behind) note("This machine simulates slower than asked for: simulated time passes more slowly.");
      if (message.over && running) {
        setRunning(false);
        note("The run is over: a live run takes 600 s of simulated time. Begin anew.");
      }
      return;
    case "progress":
      return void (at("steady-state").textContent = `${message.done} of ${message.of} runs`);
    case "steady":
      at("steady-state").textContent = "";
      at("steady-table").replaceChildren(
        table(
          message.sides,
          message.queues.map((name) => presetOf(name)?.title ?? ""),
          seedsInWords(message.sides[0]?.length ?? 0, message.durationS, message.warmupS),
        ),
      );
      return;
    case "running":
      if (isFileRunning) at("file-state").textContent = `${message.time.toFixed(1)} s simulated`;
      return;
    case "ran":
      if (isFileRunning) showRun(message.name, message.text, message.questions);
      return;
    case "text":
      return showText(...FORMS[form](message.toml));
    case "checked":
      showText("scenario.toml", message.toml);
      return offerRun(message.json);
    case "law":
      return useLaw(message.name, message.described);
    case "error":
      if (laws.isFailure(message.text)) return beginWithoutLaws(message.text);
      at("steady-state").textContent = "";
      alarm(message.text);
      // A run that could not begin leaves the one before in progress; in the beginning there is none.
      if (message.what !== "restart" && message.what !== "controls") return;
      if (!inProgress) return send({ type: "restart", controls: DEFAULT });
      controls = inProgress;
      show(at("controls"), controls, moved);
      for (const side of sides) side.show(controls);
      return;
  }
}

/** Laws of the reader's own, which may not end. */
const laws = new Laws(presets, beginWithoutLaws);

/** A law that was dropped is the control of the first kind of flows, or the queue on the right, from now on. */
function useLaw(name: string, described: Described): void {
  const queue = laws.take(name, described, controls, presetOf(controls.queues[1]));
  if (queue) send({ type: "preset", preset: queue });
  built = "";
  const role = queue ? "the queue on the right" : "the control of the first kind of flows";
  note(`${name.replace("file:", "")} is ${role}.`);
  if (queue) return choose(1, queue.name, {});
  moved({ ...controls, kinds: controls.kinds.map((kind, i) => (i === 0 ? { ...kind, cc: name } : kind)) });
}

/** A law has ended the simulator, or keeps it from answering: another one begins with what was before the law. */
function beginWithoutLaws(why: string): void {
  worker.terminate();
  const what = why.replace(/^(Uncaught )?(Error: )?/, "");
  alarm(`${what}\nThe page goes on without it. Drop the file again when it is mended.`);
  controls = laws.forget() ?? DEFAULT;
  inProgress = null;
  built = "";
  boot();
}

/** Draws what came last: one side with each frame, since both take longer than a frame of the moving pictures. */
function drawSides(): void {
  const [shares, time] = [sides.map((side) => side.share()), now];
  const wholeS = wholeLength(shares);
  const draw = (i: number) => {
    sides[i]?.draw(time, shares[i] as Share, wholeS);
    if (i + 1 < sides.length) return void requestAnimationFrame(() => draw(i + 1));
    judge(shares);
    at("clock").textContent = `${time.toFixed(1)} s`;
    // Whoever wants little motion gets two pictures a second.
    const drawn = shares.map(forEngine);
    setTimeout(() => send({ type: "drawn", shares: drawn }), still.matches ? STILL_MS : 0);
  };
  requestAnimationFrame(() => draw(0));
}

/** What happens now, in a sentence for each side; a reader has time to read it. */
let judgedAt = -Infinity;
const tour = new Tour(follow, pace);
function judge(shares: readonly Share[]): void {
  const time = performance.now();
  if (time - judgedAt < READING_MS) return;
  const sentences = sides.map(
    (side, i) => side.verdict() || (shares[i]?.kinds.length === 0 ? "Nothing is sent yet." : ""),
  );
  // The engine judges what has been drawn: of the first picture it has said nothing yet.
  if (sentences.includes("")) return;
  judgedAt = time;
  const names = ["Left", "Right"];
  at("verdict").replaceChildren(...sentences.flatMap((text, i) => [element("b", {}, `${names[i]}: `), `${text} `]));
  const [left, right] = sides;
  if (left && right) tour.look(now, (overS) => [left.share(overS), right.share(overS)]);
}

/** The pictures of this moment, over and over. */
function animate(time: number): void {
  for (const side of sides) side.drawScene(time);
  // Whoever wants little motion gets a still that changes now and then.
  if (still.matches) setTimeout(() => requestAnimationFrame(animate), STILL_SCENE_MS);
  else requestAnimationFrame(animate);
}

const presetOf = (name: string) => presets.find((preset) => preset.name === name);

function moved(wanted: Controls): void {
  alarm(null);
  controls = wanted;
  send({ type: "controls", controls });
  clearTimeout(addressTimer);
  addressTimer = setTimeout(() => history.replaceState(null, "", `#${toFragment(controls)}`), 300) as unknown as number;
}

/** What the legends and the controls show of the kinds of flows; a slider that is being moved stays as it is. */
let built = "";
function build(): void {
  const shape = JSON.stringify({
    ...controls,
    rateMbps: 0,
    queues: 0,
    parameters: 0,
    seed: 0,
    lossPermille: 0,
    host: 0,
    kinds: controls.kinds.map((kind) => ({ ...kind, flows: 0, rttMs: 0 })),
  });
  if (shape !== built) {
    built = shape;
    const focus = document.activeElement?.id;
    show(at("controls"), controls, moved);
    sides = [0, 1].map(
      (number) =>
        new Side(
          number,
          presets,
          controls,
          (name) => choose(number, name, {}),
          (parameters) => choose(number, controls.queues[number] ?? "", parameters),
        ),
    );
    at("stages").replaceChildren(...sides.map((side) => side.stage));
    at("sides").replaceChildren(...sides.map((side) => side.root));
    const [left, right] = sides;
    if (left && right) left.pair(right);
    if (focus) document.getElementById(focus)?.focus();
  }
  for (const side of sides) side.begin(controls, firsts, usesEcn);
}

function choose(number: number, name: string, parameters: Parameters): void {
  const wanted = {
    ...controls,
    queues: [...controls.queues] as [string, string],
    parameters: [...controls.parameters] as [Parameters, Parameters],
  };
  wanted.queues[number] = name;
  wanted.parameters[number] = parameters;
  moved(wanted);
}

function setRunning(value: boolean): void {
  running = value;
  at("pause").textContent = running ? "Pause" : "Go on";
  send({ type: "clock", running, speed });
}

function setSpeed(value: number): void {
  speed = value;
  at<HTMLSelectElement>("speed").value = `${speed}`;
  send({ type: "clock", running, speed });
}

/** The reader's speed while a guide has its own. */
let readersSpeed: number | null = null;
function pace(wanted: number | null): void {
  const value = wanted ?? readersSpeed;
  readersSpeed = wanted === null ? null : speed;
  if (value !== null) setSpeed(value);
}

/** Shows the controls of a link, as if it had been opened. */
function follow(link: string): void {
  if (location.hash === `#${link}`) send({ type: "restart", controls: fromAddress() });
  else location.hash = link;
  setRunning(true);
  if (!tour.root.contains(document.activeElement)) at("stages").scrollIntoView();
}

/** The file that was checked last. */
let checked: { text: string; name: string } | null = null;
/** Whether the run of a file goes on; what comes of it after it was stopped is not shown. */
let isFileRunning = false;

/** A file is a scenario: says what it is, where a reader sees it, and runs it. */
function offerRun(scenario: Json): void {
  const state = element("span", { id: "file-state", role: "status" });
  const file = checked;
  if (!file) return;
  const run = element(
    "button",
    {
      id: "file-run",
      type: "button",
      class: "main",
      click: () => ((state.textContent = "…"), (isFileRunning = true), send({ type: "run", ...file })),
    },
    "Run it again",
  );
  const stop = element(
    "button",
    { type: "button", click: () => ((state.textContent = "stopped"), (isFileRunning = false), send({ type: "stop" })) },
    "Stop",
  );
  const groups = Array.isArray(scenario["flows"]) ? scenario["flows"].length : 0;
  const what =
    `${file.name} is a scenario: \u201c${String(scenario["title"])}\u201d, ${String(scenario["duration"])}, ` +
    `${groups} ${groups === 1 ? "group" : "groups"} of flows.`;
  at("text").prepend(
    element("p", { role: "status" }, element("b", {}, what)),
    element("div", { class: "row" }, run, stop, state),
    element("div", { id: "file-result" }),
  );
  at("text").scrollIntoView({ block: "start" });
  run.click();
}

/** A question that a notice of a result raises. */
interface Question {
  notice: number;
  question: string;
  change: string | null;
}

/** What the run of a file has measured, with the questions that it raises. */
function showRun(name: string, text: string, questions: string): void {
  const result = JSON.parse(text) as Json & {
    window: { start_s: number; end_s: number };
    seed: number;
    notices: { text: string }[];
  };
  const note =
    `${name}, seed ${result.seed}, measured from ${result.window.start_s} s to ${result.window.end_s} s; ` +
    `the first bottleneck and all groups.`;
  const raised = new Map((JSON.parse(questions) as Question[]).map((question) => [question.notice, question]));
  const notices = result.notices.map(({ text }, position) => {
    const { question, change } = raised.get(position) ?? { question: "Notice:", change: null };
    return element("p", {}, element("strong", {}, question), ` ${text}.`, change ? ` What to change: ${change}.` : "");
  });
  const keep = element(
    "button",
    { type: "button", click: () => save("result.json", new Blob([text])) },
    "Save the whole result",
  );
  isFileRunning = false;
  at("file-state").textContent = "done";
  const row = element("div", { class: "row" }, keep);
  at("file-result").replaceChildren(...notices, table([[result]], [name], note), row);
}

function showText(name: string, text: string): void {
  const copy = element(
    "button",
    {
      type: "button",
      click: () =>
        navigator.clipboard.writeText(text).then(
          () => note("Copied."),
          () => note("The browser does not allow copying: mark the text instead."),
        ),
    },
    "Copy",
  );
  const keep = element("button", { type: "button", click: () => save(name, new Blob([text])) }, "Save");
  at("text").replaceChildren(
    element("div", { class: "row" }, copy, keep),
    element("pre", { tabindex: "0", "aria-label": name }, text),
  );
}

/** What stands around the bottlenecks. */
function toolbar(): void {
  const speeds = element(
    "select",
    { id: "speed" },
    ...SPEEDS.map((one) => element("option", { value: one }, `${one} ×`)),
  );
  speeds.value = `${speed}`;
  speeds.addEventListener("change", () => setSpeed(Number(speeds.value)));
  const themes = element(
    "button",
    { type: "button", click: () => setTheme(document.documentElement.dataset["theme"] !== "dark") },
    "Dark or light",
  );
  at("bar").replaceChildren(
    element("span", { id: "clock", "aria-label": "Simulated time" }, "0.0 s"),
    element("button", { id: "pause", type: "button", class: "main", click: () => setRunning(!running) }, "Pause"),
    ...drawer(),
  );
  at("time").replaceChildren(
    element(
      "button",
      { type: "button", click: () => (setRunning(false), send({ type: "step", seconds: 0.1 })) },
      "Step 0.1 s",
    ),
    element("label", { for: "speed" }, "Speed"),
    speeds,
    element(
      "button",
      { type: "button", click: () => (send({ type: "restart", controls }), setRunning(true)) },
      "Restart",
    ),
    themes,
  );
  const papers = JSON.parse(at("stories").textContent ?? "[]") as Story[];
  at("papers").replaceChildren(element("h2", {}, "Four papers and L4S, live"), ...stories(papers, follow));
  at("steady").replaceChildren(
    element(
      "div",
      { class: "row" },
      element("h2", {}, "Steady state"),
      element(
        "button",
        {
          id: "measure",
          type: "button",
          click: () => ((at("steady-state").textContent = "…"), send({ type: "steady", controls, seeds: SEEDS })),
        },
        `Jump to the steady state: ${SEEDS} seeds`,
      ),
      element("span", { id: "steady-state", role: "status" }),
    ),
    element("div", { id: "steady-table" }),
  );
  const link = () => `${location.href.split("#")[0]}#${toFragment(controls)}`;
  const of = element(
    "select",
    { id: "of" },
    element("option", { value: 0 }, "left"),
    element("option", { value: 1 }, "right"),
  );
  const file = element("input", {
    id: "file",
    type: "file",
    accept: ".toml,.wasm",
    hidden: true,
    change: () => {
      void readFile(file.files?.[0]);
      // The same file can be chosen again, when it has been mended.
      file.value = "";
    },
  });
  at("share").replaceChildren(
    element(
      "div",
      { class: "row" },
      element("h2", {}, "Share"),
      element("button", { type: "button", click: () => showText("link.txt", link()) }, "Link"),
      element("label", { for: "of" }, "Run in progress,"),
      of,
      ...(Object.keys(FORMS) as Form[]).map((as) =>
        element(
          "button",
          { type: "button", click: () => ((form = as), send({ type: "text", side: Number(of.value) })) },
          as,
        ),
      ),
      element("button", { type: "button", click: () => file.click() }, "Open a scenario or a law"),
      file,
    ),
    element(
      "p",
      { class: "hint" },
      "A link holds the controls. A scenario file can be dropped anywhere on the page: it is checked, and runs as a " +
        "whole. So can a law of your own, a module of WebAssembly as `shoal new law` makes one: it becomes the " +
        "control of the first kind of flows, or the queue on the right. The TOML holds all that has happened: flows " +
        "that joined and left, and steps of the rate. Its run gives the same bytes as this page.",
    ),
    element("div", { id: "text" }),
  );
}

async function readFile(file: File | undefined): Promise<void> {
  if (!file) return;
  alarm(null);
  if (isLaw(file.name)) return readLaw(file);
  if (file.size > FILE_MAX)
    return alarm(`${file.name} has ${file.size} bytes; the page reads scenario files of at most ${FILE_MAX}`);
  isFileRunning = false;
  send({ type: "stop" });
  checked = { text: await file.text(), name: file.name };
  send({ type: "check", ...checked });
}

async function readLaw(file: File): Promise<void> {
  if (file.size > LAW_MAX) return alarm(`${file.name} has ${file.size} bytes; a law has at most ${LAW_MAX}`);
  const content = await file.arrayBuffer();
  send({ type: "law", name: `file:${file.name}`, content }, [content]);
}

function setTheme(dark: boolean): void {
  document.documentElement.dataset["theme"] = dark ? "dark" : "light";
  refresh();
}

/** Draws everything anew. */
function refresh(): void {
  for (const side of sides) side.refresh();
}

function followTheme(): void {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  setTheme(dark.matches);
  dark.addEventListener("change", () => setTheme(dark.matches));
  let width = 0;
  new ResizeObserver(() => {
    if (width !== document.body.clientWidth) refresh();
    width = document.body.clientWidth;
  }).observe(document.body);
}

/** Links and files, once there is a simulator that can take them. */
let listens = false;
function listen(): void {
  if (listens) return;
  listens = true;
  window.addEventListener("hashchange", () => {
    alarm(null);
    const wanted = fromAddress();
    send({ type: "restart", controls: wanted });
  });
  window.addEventListener("dragover", (event) => {
    event.preventDefault();
    document.body.classList.add("drop");
  });
  window.addEventListener("dragleave", () => document.body.classList.remove("drop"));
  window.addEventListener("drop", (event) => {
    event.preventDefault();
    document.body.classList.remove("drop");
    void readFile(event.dataTransfer?.files[0]);
  });
  at("controls").addEventListener("submit", (event) => event.preventDefault());
}

// First of all, since the simulator can become ready meanwhile.
boot();
at("tour-place").replaceWith(tour.root);
at("about").before(glossary(presets));
at("about").append(` shoal ${VERSION}.`);
followTheme();
onPrint(refresh);
toolbar();
for (const id of NEED_SIMULATOR) at(id).inert = true;
controls = fromAddress();
build();
requestAnimationFrame(animate);
