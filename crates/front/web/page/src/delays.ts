// Queueing delays as the engine tells them: ranges with numbers of packets.

/** Triples from s, to s, packets. */
export type Ranges = Float64Array;

/**
 * The delays of the packets that left within the last `span` seconds. The engine's ranges never overlap in part, so
 * packets are added up by the upper end of theirs: what is asked for costs as much as there are different ranges,
 * however long the window is.
 */
export class DelayWindow {
  private parts: { time: number; ranges: Ranges }[] = [];
  /** Packets by the upper end of their range in s; the lower end does not matter to what is asked. */
  private readonly packets = new Map<number, number>();
  private count = 0;
  /** The upper ends in rising order, once somebody has asked for them; null when there are others since. */
  private order: number[] | null = null;

  constructor(readonly span: number) {}

  push(time: number, ranges: Ranges): void {
    // A window without an end forgets nothing, so that it need not know when its packets left.
    if (this.span < Infinity) this.parts.push({ time, ranges });
    this.add(ranges, 1);
    while ((this.parts[0]?.time ?? time) <= time - this.span)
      this.add(this.parts.shift()?.ranges ?? new Float64Array(), -1);
  }

  private add(ranges: Ranges, sign: number): void {
    for (let i = 0; i + 2 < ranges.length; i += 3) {
      const [to, weight] = [ranges[i + 1] ?? 0, sign * (ranges[i + 2] ?? 0)];
      const before = this.packets.get(to);
      const after = (before ?? 0) + weight;
      if (after === 0) this.packets.delete(to);
      else this.packets.set(to, after);
      if (before === undefined || after === 0) this.order = null;
      this.count += weight;
    }
  }

  clear(): void {
    [this.parts, this.count, this.order] = [[], 0, null];
    this.packets.clear();
  }

  private ends(): number[] {
    return (this.order ??= [...this.packets.keys()].sort((a, b) => a - b));
  }

  /** Points of the cumulative distribution: delays in s, and the parts of the packets that waited no longer. */
  distribution(): { delays: number[]; parts: number[]; packets: number } {
    let below = 0;
    const parts = this.ends().map((to) => (below += this.packets.get(to) ?? 0) / this.count);
    return { delays: this.ends(), parts, packets: this.count };
  }

  /** The delay in s that the given part of the packets does not exceed; null without packets. */
  quantile(part: number): number | null {
    let below = 0;
    for (const to of this.ends()) {
      below += this.packets.get(to) ?? 0;
      if (below >= part * this.count) return to;
    }
    return null;
  }
}
