// Series of the last seconds, with one column for each line of a plot.

/** Values over time; all lines have the same times. */
export class History {
  times: number[] = [];
  lines = new Map<string, (number | null)[]>();

  constructor(readonly span: number) {}

  /** Adds a point to some lines; the others have none at this time. */
  push(time: number, values: Iterable<[string, number | null]>): void {
    for (const [name, value] of values) {
      let line = this.lines.get(name);
      if (!line) this.lines.set(name, (line = this.times.map(() => null)));
      line.push(value);
    }
    this.times.push(time);
    for (const line of this.lines.values()) if (line.length < this.times.length) line.push(null);
    const first = this.times.findIndex((one) => one > time - this.span);
    if (first > 0) {
      this.times.splice(0, first);
      for (const [name, line] of this.lines) {
        line.splice(0, first);
        if (line.every((value) => value === null)) this.lines.delete(name);
      }
    }
  }

  /** Values of a line in the last `span` seconds. */
  private last(name: string, span: number): number[] {
    const line = this.lines.get(name) ?? [];
    const since = (this.times.at(-1) ?? 0) - span;
    return line.filter((value, i): value is number => value !== null && (this.times[i] ?? 0) > since);
  }

  /** Mean of a line over the last `span` seconds; null without values. */
  mean(name: string, span: number): number | null {
    const values = this.last(name, span);
    return values.length > 0 ? values.reduce((sum, value) => sum + value, 0) / values.length : null;
  }

  /** Smallest value of a line in the last `span` seconds; null without values. */
  least(name: string, span: number): number | null {
    const values = this.last(name, span);
    return values.length > 0 ? Math.min(...values) : null;
  }

  clear(): void {
    this.times = [];
    this.lines.clear();
  }
}
