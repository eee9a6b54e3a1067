// Laws of one's own: modules of WebAssembly that the browser runs beside the simulator's.

import { law } from "shoal-module";

/** Memory that one instance may have, as the interpreter of the command line has it. */
const MEMORY_MAX = 16 << 20;
/** Longest text of a module. */
const TEXT_MAX = 1 << 16;

/** What a law is. */
export interface Described {
  kind: "controller" | "queue";
  summary: string;
}

const said = (error: unknown) => (error instanceof Error ? error.message : String(error));

/** One instance of a module; what goes wrong is thrown as a text. */
class LawInstance {
  private readonly instance: WebAssembly.Instance;
  private readonly memory: WebAssembly.Memory;
  private readonly block: number;
  private readonly functions: (() => number)[] = [];

  constructor(module: WebAssembly.Module) {
    try {
      this.instance = new WebAssembly.Instance(module);
    } catch (error) {
      throw `it does not start: ${said(error)}`;
    }
    const { memory } = this.instance.exports;
    if (!(memory instanceof WebAssembly.Memory)) throw "it exports no memory called `memory`";
    this.memory = memory;
    this.block = this.call(this.required("shoal_io")) >>> 0;
  }

  /** Number of the function of this name, -1 if the module has none. */
  find(name: string): number {
    const found = this.instance.exports[name];
    if (found === undefined) return -1;
    if (typeof found !== "function") throw `its export \`${name}\` is no function`;
    return this.functions.push(found as () => number) - 1;
  }

  required(name: string): number {
    const found = this.find(name);
    if (found < 0) throw `it has no export \`${name}\``;
    return found;
  }

  call(number: number): number {
    let answer: number;
    try {
      answer = (this.functions[number] as () => number)() | 0;
    } catch (error) {
      throw `it stopped: ${said(error)}`;
    }
    if (this.memory.buffer.byteLength > MEMORY_MAX) throw `it asked for more than ${MEMORY_MAX >> 20} MiB of memory`;
    return answer;
  }

  /** Calls a function with these words, and leaves there what it answers. */
  exchange(number: number, words: BigUint64Array): number {
    this.words(words.length).set(words);
    const answer = this.call(number);
    words.set(this.words(words.length));
    return answer;
  }

  /** The text at an address, which ends with a zero. */
  text(address: number): string {
    const bytes = new Uint8Array(this.memory.buffer).subarray(address >>> 0).subarray(0, TEXT_MAX);
    const end = bytes.indexOf(0);
    if (end < 0) throw `there is no text of at most ${TEXT_MAX} bytes at ${address}`;
    return new TextDecoder().decode(bytes.slice(0, end));
  }

  /** The block of words; its view is made anew, because memory that has grown is another buffer. */
  private words(length: number): BigUint64Array {
    if (this.block % 8 > 0 || this.block + 8 * length > this.memory.buffer.byteLength)
      throw `the block of ${8 * length} bytes at ${this.block} is not within its memory, at a multiple of 8`;
    return new BigUint64Array(this.memory.buffer, this.block, length);
  }
}

/** A module that has been compiled. */
class LawModule {
  constructor(private readonly module: WebAssembly.Module) {}

  start(): LawInstance {
    return new LawInstance(this.module);
  }
}

/** Gives a module to the simulator, which calls it `name` from then on; throws a text that says what is wrong. */
export async function take(name: string, content: ArrayBuffer): Promise<Described> {
  if (!crypto.subtle) throw "a page that came without https cannot name a file by its SHA-256: open it with https";
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", content));
  const sha256 = Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
  try {
    const module = await WebAssembly.compile(content);
    const [imported] = WebAssembly.Module.imports(module);
    if (imported) throw `it imports \`${imported.module}.${imported.name}\`, and a law may import nothing`;
    const own = new LawModule(module);
    const instance = own.start();
    const description = instance.text(instance.call(instance.required("shoal_describe")));
    return JSON.parse(law(name, sha256, description, own)) as Described;
  } catch (error) {
    throw `${name.replace("file:", "")} is no law: ${said(error)}`;
  }
}
