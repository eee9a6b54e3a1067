// Queueing delays as the engine tells them: ranges with numbers of packets.

/** Triples from s, to s, packets. */
export type Ranges = Float64Array;

/** The delays of the packets that left within the last `span` seconds. */
export class DelayWindow {
  private parts: { time: number; ranges: Ranges }[] = [];

  constructor(readonly span: number) {}

  push(time: number, ranges: Ranges): void {
    this.parts.push({ time, ranges });
    while ((this.parts[0]?.time ?? time) <= time - this.span) this.parts.shift();
  }

  clear(): void {
    this.parts = [];
  }

  /** All ranges in rising order, and the number of packets in them. */
  private sorted(): { ranges: [number, number, number][]; packets: number } {
    const ranges: [number, number, number][] = [];
    let packets = 0;
    for (const { ranges: own } of this.parts) {
      for (let i = 0; i + 2 < own.length; i += 3) {
        const weight = own[i + 2] ?? 0;
        ranges.push([own[i] ?? 0, own[i + 1] ?? 0, weight]);
        packets += weight;
      }
    }
    ranges.sort((a, b) => a[0] - b[0]);
    return { ranges, packets };
  }

  /** Points of the cumulative distribution: delays in s, and the parts of the packets that waited no longer. */
  distribution(): { delays: number[]; parts: number[]; packets: number } {
    const { ranges, packets } = this.sorted();
    const [delays, parts]: [number[], number[]] = [[], []];
    let below = 0;
    for (const [, to, weight] of ranges) {
      below += weight;
      if (delays.at(-1) === to) parts[parts.length - 1] = below / packets;
      else {
        delays.push(to);
        parts.push(below / packets);
      }
    }
    return { delays, parts, packets };
  }

  /** The delay in s that the given part of the packets does not exceed; null without packets. */
  quantile(part: number): number | null {
    const { ranges, packets } = this.sorted();
    let below = 0;
    for (const [, to, weight] of ranges) {
      below += weight;
      if (below >= part * packets) return to;
    }
    return null;
  }
}
