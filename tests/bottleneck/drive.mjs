// Reads a trace, does in the WebAssembly module what its input says, and writes what is heard; README.md says what that
// is: node drive.mjs MODULE TRACE
import { readFileSync } from "node:fs";

const [module, trace] = process.argv.slice(2);
const { instance } = await WebAssembly.instantiate(readFileSync(module));
const c = instance.exports;

// Room for the scenario, and an event of shoal.h, whose fields begin at 0, 8, 16, 20, 22, 23 and 24.
const text = readFileSync(trace, "utf8");
const start = text.indexOf("\nscenario\n") + "\nscenario\n".length;
const middle = text.indexOf("\ninput\n") + 1;
const scenario = new TextEncoder().encode(text.slice(start, middle));
const room = c.shoal_memory(scenario.length + 1000);
new Uint8Array(c.memory.buffer).set(scenario, room);
const error = room + scenario.length;
const event = c.shoal_memory(64);
const bottleneck = c.shoal_bottleneck_new(room, scenario.length, 0, 1n, error, 1000);
if (bottleneck === 0) {
  const bytes = new Uint8Array(c.memory.buffer, error, 1000);
  throw new Error(new TextDecoder().decode(bytes.subarray(0, bytes.indexOf(0))));
}

const output = [];
let wanted = null;
let handle = 0n;

function ask(now) {
  for (;;) {
    const kind = c.shoal_bottleneck_next(bottleneck, now, event);
    // Memory that has grown has another buffer.
    const told = new DataView(c.memory.buffer, event);
    const [at, name] = [told.getBigUint64(0, true), told.getBigUint64(8, true)];
    if (kind === 2) {
      const [flow, bytes] = [told.getUint32(16, true), told.getUint16(20, true)];
      output.push(`p ${at} ${name} ${flow} ${bytes} ${told.getUint8(22)} ${told.getUint8(23)}`);
    } else if (kind === 3) {
      output.push(`l ${at} ${name} ${told.getUint8(24)}`);
    } else if (kind === 0 || kind === 1) {
      wanted = kind === 1 ? at : null;
      return;
    } else {
      throw new Error("a call failed");
    }
  }
}

// BigInt of 64 bits without a sign, as the module wants to have it.
const unsigned = (number) => BigInt.asUintN(64, number);

function until(now) {
  while (wanted !== null && wanted < now) ask(wanted);
}

for (const line of text.slice(middle, text.indexOf("\noutput\n")).split("\n").slice(1)) {
  const [word, ...rest] = line.split(" ");
  if (word === "packets") {
    const [first, gap, count, bytes] = rest.slice(0, 4).map(BigInt);
    for (let n = 0; n < count; n += 1, handle += 1n) {
      const now = first + gap * BigInt(n);
      until(now);
      const ecn = Number(rest[4][n % rest[4].length]);
      const flow = n % Number(rest[5]);
      const verdict = c.shoal_bottleneck_enqueue(bottleneck, now, Number(bytes), ecn, flow, handle, event);
      if (verdict !== 0) output.push(`e ${handle} ${verdict} ${new DataView(c.memory.buffer, event).getUint8(0)}`);
      ask(now);
    }
  } else if (word === "rate" || word === "delay") {
    const [at, value] = rest.map(BigInt);
    until(at);
    if (c[`shoal_bottleneck_set_${word}`](bottleneck, at, value) !== 0) output.push("f");
    ask(at);
  } else if (word === "end") {
    until(unsigned(-1n));
  }
}
c.shoal_bottleneck_counters(bottleneck, event);
const counters = new DataView(c.memory.buffer, event);
output.push(`c ${[0, 8, 16, 24, 32, 40, 48, 56].map((at) => counters.getBigUint64(at, true)).join(" ")}`);
process.stdout.write(output.join("\n") + "\n");
