// The simulator, away from the page's own thread.

import { initSync, Live, Scenario, verdict } from "shoal-module";
import { Accountant } from "./explain";
import {
  AHEAD_S,
  SERIES,
  SERIES_S,
  STEP_S,
  begin,
  firstFlows,
  flowName,
  move,
  scenario,
  steady,
  type Controls,
  type Json,
  type Plan,
  type Preset,
} from "./plan";
import { take } from "./law";
import { lookSeconds } from "./slow";
import type { FromWorker, News, ToWorker } from "./protocol";
import { rowsOf, seriesOf } from "./rows";
import { NOTHING, type EngineShare, type Verdict } from "./verdict";

/** Events of one bottleneck between two looks at the messages: about 50 ms of computing. */
const BUDGET = 400_000;
/** Time between two looks at the clock in ms. */
const TICK_MS = 15;
/** So long after the time of a point it is there, in s. */
const BEHIND_S = 0.001;
/** What a standing queue adds to the start of a flow, in s. */
const WAITING_S = 0.1;
/** Time from one look at single packets to the next, in ms. */
const LOOK_EVERY_MS = 4500;
/** Longest time between two pictures that is caught up, in s. */
const PASSED_MAX_S = 1;
/** Length of the runs for a steady state, and the part of them that is not measured, in s. */
const STEADY_S = 30;
const STEADY_WARMUP_S = 10;

/** One bottleneck. */
interface Side {
  preset: Preset;
  live: Live;
  accountant: Accountant;
  /** When the last look at single packets began, in ms of the reader's time, and the rate then. */
  lookedAt: number;
  lookRateMbps: number;
  /** When waiting packets were last told, in s. */
  waitingSince: number;
}

const worker = self as unknown as { postMessage(message: FromWorker, transfer?: Transferable[]): void };
let memory: WebAssembly.Memory;
let presets = new Map<string, Preset>();
let plan: Plan;
let sides: Side[] = [];
let clock = { running: false, speed: 1 };
/** Simulated time that has been asked for, in s. */
let target = 0;
let last = 0;
let mayDraw = true;
/** What the engine says of what the page has drawn last, side by side. */
let verdicts: Verdict[] = [];
/** Simulated time up to which the page has been told, in s. */
let toldS = 0;
/** Simulated time of the point that somebody waits for, in s; 0 if nobody does. */
let awaited = 0;

function tell(message: FromWorker, transfer: Transferable[] = []): void {
  worker.postMessage(message, transfer);
}

function read(json: Json, name: string): Scenario {
  return Scenario.fromJson(JSON.stringify(json), name);
}

function preset(name: string): Preset {
  const found = presets.get(name);
  if (!found) throw `there is no bottleneck called \`${name}\``;
  return found;
}

/** The module is compiled while it is unpacked. */
async function boot(packed: ArrayBuffer, shipped: readonly Preset[]): Promise<void> {
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const response = new Response(stream, { headers: { "Content-Type": "application/wasm" } });
  memory = initSync({ module: await WebAssembly.compileStreaming(response) }).memory;
  presets = new Map(shipped.map((preset) => [preset.name, preset]));
  tell({ type: "ready" });
}

function restart(controls: Controls, why: string | null): void {
  const wanted = begin(controls);
  const begun: Side[] = [];
  let usesEcn: boolean[] = [];
  try {
    for (const [i, name] of controls.queues.entries()) {
      const own = preset(name);
      const given = read(scenario(wanted, own, i), own.name);
      usesEcn = ecnOf(given);
      const accountant = new Accountant((flow) => flowName(controls, firstFlows(wanted), flow));
      const live = new Live(given, undefined, true);
      begun.push({ preset: own, live, accountant, lookedAt: -Infinity, lookRateMbps: 0, waitingSince: 0 });
      given.free();
    }
  } catch (error) {
    for (const side of begun) side.live.free();
    throw error;
  }
  for (const side of sides) side.live.free();
  [plan, sides, target, toldS] = [wanted, begun, 0, -1];
  last = performance.now();
  mayDraw = true;
  verdicts = [];
  tell({ type: "began", controls, firsts: firstFlows(plan), usesEcn, why });
  skipTo(0);
}

/** Of each group, whether its packets say that they may be marked: the engine knows it of every congestion control. */
function ecnOf(given: Scenario): boolean[] {
  const { flows } = JSON.parse(given.json()) as { flows: { ecn: string }[] };
  return flows.map(({ ecn }) => ecn !== "off");
}

/** Lets the run in progress go on with other controls, or begins a new one if it cannot. */
function change(controls: Controls): void {
  const at = Math.max(target, ...sides.map((side) => side.live.earliest_change_s())) + AHEAD_S;
  const wanted = move(plan, controls, Math.ceil(at * 1e6) / 1e6);
  if (!wanted) return restart(controls, "this takes a run of its own, which has begun at 0 s");
  const given = sides.map((side, i) => read(scenario(wanted, side.preset, i), side.preset.name));
  try {
    sides.forEach((side, i) => side.live.replace(given[i] as Scenario));
    plan = wanted;
    // What stands in the queue delays the handshake of a flow that begins, and its data.
    skipTo(at + WAITING_S);
  } catch (error) {
    restart(controls, String(error));
  } finally {
    for (const one of given) one.free();
  }
}

/** The point of the series that is the first one after a time. */
const pointAfter = (time: number): number => Math.floor(time / SERIES_S) + 1;

/**
 * Whoever has moved something waits for what comes of it, not for time to pass: the run goes on at once to the first
 * point at which flows that begin at `from` have data on the link, as soon as the last picture has been drawn.
 */
function skipTo(from: number): void {
  const rttS = Math.max(...plan.controls.kinds.map(({ rttMs }) => rttMs)) / 1000;
  awaited = pointAfter(from + rttS) * SERIES_S + BEHIND_S;
}

function tick(): void {
  follow();
  setTimeout(tick, TICK_MS);
}

/** Goes on as far as time has passed. */
function follow(): void {
  // Only when the last picture has been drawn: time that passes in a tab in the background is not caught up.
  if (mayDraw) {
    const now = performance.now();
    if (clock.running && sides.length > 0) {
      target = Math.max(awaited, target + Math.min((now - last) / 1000, PASSED_MAX_S) * clock.speed);
      awaited = 0;
    }
    last = now;
  }
  advance();
}

/** Goes on towards the target, within the budget of events. */
function advance(): void {
  if (sides.length === 0) return;
  let reached = target;
  let over = true;
  for (const side of sides) {
    reached = Math.min(reached, side.live.advance(target, BUDGET));
    over &&= side.live.is_over();
  }
  const behind = reached < target - 0.05 && !over;
  // A machine that is too slow shows slower time, instead of falling behind without end.
  if (behind) target = Math.max(reached, target - 0.1);
  // Between two points there is nothing new to draw; a run that is held shows where it is held.
  if (mayDraw && (pointAfter(reached) > pointAfter(toldS) || !clock.running)) {
    mayDraw = false;
    toldS = reached;
    const news = sides.map((side, i) => newsOf(side, reached, verdicts[i] ?? NOTHING));
    tell({ type: "news", time: reached, over, behind, sides: news, bytes: memory.buffer.byteLength });
  }
}

function newsOf(side: Side, time: number, verdict: Verdict): News {
  const { live } = side;
  const controller = rowsOf(live, "controller", ["time_s", "flow", "cwnd_packets", "ssthresh_packets", "alpha"]);
  const news = {
    ...seriesOf(live),
    waiting: waiting(side, time),
    seen: seen(side),
    accounts: side.accountant.take(
      time,
      controller,
      rowsOf(live, "events", ["time_s", "flow", "kind"]),
      live.words("events", "kind") ?? [],
    ),
    verdict,
  };
  // What has been told is not kept: a run of ten minutes takes the memory of a second.
  live.forget();
  return news;
}

function judge({ kinds, othersSend, ectS, notEctS }: EngineShare): Verdict {
  const names = kinds.map(({ name }) => name);
  const usesEcn = Uint8Array.from(kinds, ({ usesEcn }) => Number(usesEcn));
  const eachBps = Float64Array.from(kinds, ({ eachBps }) => eachBps);
  return JSON.parse(verdict(names, usesEcn, eachBps, othersSend, ectS, notEctS)) as Verdict;
}

/** What the last look at single packets has shown; another one begins now and then. */
function seen(side: Side): News["seen"] {
  const numbers = side.live.seen();
  const now = performance.now();
  if (now - side.lookedAt > LOOK_EVERY_MS) {
    [side.lookedAt, side.lookRateMbps] = [now, plan.controls.rateMbps];
    side.live.look(lookSeconds(plan.controls.rateMbps));
  }
  return numbers ? { numbers, rateMbps: side.lookRateMbps } : null;
}

/** Mean numbers of waiting packets, twice a second. */
function waiting(side: Side, time: number): News["waiting"] {
  if (time - side.waitingSince < STEP_S) return null;
  side.waitingSince = time;
  return [time, side.live.queue(0, true) ?? 0, side.live.queue(0, false) ?? 0];
}

/** Runs with these controls from their start with several seeds: the results as the native engine writes them. */
async function measure(controls: Controls, seeds: number): Promise<void> {
  const found: Json[][] = controls.queues.map(() => []);
  const of = seeds * controls.queues.length;
  let done = 0;
  for (const [i, name] of controls.queues.entries()) {
    const given = read(steady(controls, preset(name), i, STEADY_S, STEADY_WARMUP_S), name);
    for (let seed = 1; seed <= seeds; seed += 1) {
      const run = given.run(BigInt(seed));
      const { bottlenecks, groups, metrics } = JSON.parse(run.json()) as Json;
      found[i]?.push({ bottlenecks, groups, metrics } as Json);
      run.free();
      done += 1;
      tell({ type: "progress", done, of });
      // Lets other messages in.
      await new Promise((resolve) => setTimeout(resolve));
    }
    given.free();
  }
  tell({ type: "steady", queues: controls.queues, sides: found, durationS: STEADY_S, warmupS: STEADY_WARMUP_S });
}

/** Which run of a file goes on; another number ends it. */
let fileRun = 0;

/** Carries out a scenario from a file as a whole, in pieces between which other messages come in. */
async function runFile(text: string, name: string): Promise<void> {
  const own = (fileRun += 1);
  const given = new Scenario(text, name);
  let live: Live;
  try {
    live = new Live(given);
  } finally {
    given.free();
  }
  while (!live.is_over()) {
    const time = live.advance(Number.MAX_SAFE_INTEGER, BUDGET);
    // The summary needs no series.
    live.forget();
    tell({ type: "running", time });
    await new Promise((resolve) => setTimeout(resolve));
    if (own !== fileRun) return live.free();
  }
  const run = live.finish();
  tell({ type: "ran", name, text: run.json(), questions: run.questions() });
  run.free();
}

async function on(message: ToWorker): Promise<void> {
  switch (message.type) {
    case "boot":
      await boot(message.packed, message.presets);
      setTimeout(tick, TICK_MS);
      return;
    case "restart":
      return restart(message.controls, null);
    case "controls":
      change(message.controls);
      return follow();
    case "clock":
      clock = message;
      last = performance.now();
      return;
    case "step":
      target += message.seconds;
      return;
    case "drawn":
      mayDraw = true;
      verdicts = message.shares.map(judge);
      return follow();
    case "steady":
      return measure(message.controls, message.seeds);
    case "text": {
      const side = sides[message.side];
      if (!side) return;
      const { trace: _trace, ...rest } = scenario(plan, side.preset, message.side);
      const given = read({ ...rest, trace: SERIES }, side.preset.name);
      tell({ type: "text", side: message.side, toml: given.toml() });
      given.free();
      return;
    }
    case "run":
      return runFile(message.text, message.name);
    case "stop":
      fileRun += 1;
      return;
    case "law":
      return tell({ type: "law", name: message.name, described: await take(message.name, message.content) });
    case "preset":
      presets.set(message.preset.name, message.preset);
      return;
    case "check": {
      const given = new Scenario(message.text, message.name);
      tell({ type: "checked", toml: given.toml(), json: JSON.parse(given.json()) as Json });
      given.free();
      return;
    }
  }
}

self.onmessage = (event: MessageEvent<ToWorker>) => {
  on(event.data).catch((error: unknown) => {
    // What the module refuses comes as text.
    tell({ type: "error", what: event.data.type, text: typeof error === "string" ? error : String(error) });
  });
};
