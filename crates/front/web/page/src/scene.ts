// The picture of one bottleneck in slow motion: each packet that arrives at the queue, waits, is marked or dropped, and
// leaves over the link, as the simulator has it.

import { element } from "./dom";
import { LOOK_S, slowness } from "./slow";

/** Time of the reader in which a packet gets from its sender to the queue, along the link, and falls, in s. */
const FLIGHT_S = 0.45;
const LINK_S = 0.9;
const FALL_S = 0.8;
/** Shortest time between two texts for those who do not see the picture, in ms. */
const SPOKEN_MS = 5000;
const EVENTS = ["arrive", "mark", "drop", "depart"] as const;

/** A packet of the picture. */
interface Item {
  flow: number;
  seq: number;
  marked: boolean;
  x: number;
  y: number;
  /** When it began to move as it does, in s of the look. */
  since: number;
}

/** An event of a look; its time is in s since the look began. */
interface Happening {
  at: number;
  what: (typeof EVENTS)[number];
  flow: number;
  seq: number;
  marked: boolean;
}

/** What the simulator saw from one moment on. */
interface Look {
  fromS: number;
  /** How many times slower than the link it is shown. */
  slow: number;
  happenings: Happening[];
  /** Packets that wait when it begins. */
  waiting: { flow: number; seq: number; marked: boolean }[];
}

/** Reads the numbers of `Live.seen`, of a link with this rate. */
export function lookOf(numbers: Float64Array, rateMbps: number): Look {
  const of = (place: number) => numbers[place] ?? 0;
  const [fromS, count] = [of(0), of(1)];
  const waiting = Array.from({ length: count }, (_, i) => {
    const place = 2 + 3 * i;
    return { flow: of(place), seq: of(place + 1), marked: of(place + 2) > 0 };
  });
  const happenings: Happening[] = [];
  for (let place = 2 + 3 * count; place < numbers.length; place += 5) {
    happenings.push({
      at: of(place) - fromS,
      what: EVENTS[of(place + 1)] ?? "arrive",
      flow: of(place + 2),
      seq: of(place + 3),
      marked: of(place + 4) > 0,
    });
  }
  return { fromS, slow: slowness(rateMbps), happenings, waiting };
}

/** Width of a letter of a sender's name, at most, in pixels. */
const LETTER = 7.5;

/** Places of a picture of this size, in pixels, with senders whose names have at most so many letters. */
function placesOf(width: number, height: number, letters: number) {
  const size = width < 360 ? 6 : 8;
  const mouth = Math.round(width * 0.6);
  const ground = height - 30;
  const rows = Math.max(4, Math.floor((ground - 14) / (size + 1)));
  const senders = Math.min(letters * LETTER + 12, width * 0.4);
  return { size, mouth, ground, rows, step: size + 1, senders, end: width - 4 };
}

/** Colours and letters of the picture, as the style sheet has them now. */
function paletteOf() {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string) => style.getPropertyValue(`--${name}`);
  return {
    kinds: ["scalable", "classic", "video"].map(colour),
    third: colour("third"),
    grid: colour("grid"),
    soft: colour("soft"),
    ink: colour("ink"),
    lit: colour("lit"),
    font: style.fontFamily || "sans-serif",
  };
}

export class Scene {
  readonly root = element("div", { class: "scene" });
  private readonly canvas = element("canvas", { role: "img" });
  private readonly caption = element("p", { class: "hint" });
  private look: Look | null = null;
  private next: Look | null = null;
  /** When the look began in the reader's time, in ms, and how many of its packets have set out and arrived. */
  private began = 0;
  private set = 0;
  private done = 0;
  private queue: Item[] = [];
  private flying: Item[] = [];
  private leaving: Item[] = [];
  private falling: Item[] = [];
  private counts = { marked: 0, dropped: 0, left: 0 };
  private spokenAt = -Infinity;
  private width = 0;
  private height = 0;
  private places = placesOf(0, 0, 0);
  private palette: ReturnType<typeof paletteOf> | null = null;

  constructor(
    private readonly title: string,
    /** Position of the kind of a flow: 0 and 1 as in the controls, 2 for video. */
    private readonly kindOf: (flow: number) => number,
    private readonly nameOf: (kind: number) => string,
  ) {
    this.root.append(this.canvas, this.caption);
    // To ask for its size with each picture would have the browser lay out the page each time.
    new ResizeObserver(() => this.measure()).observe(this.canvas);
  }

  /** Another run begins. */
  begin(): void {
    this.look = this.next = null;
    // Other senders may have longer names.
    this.measure();
    this.clear();
    this.caption.textContent = "The first packets set out.";
  }

  /** Takes what was seen, and shows it when what it shows is over. */
  take(look: Look): void {
    this.next = look;
  }

  private clear(): void {
    [this.queue, this.flying, this.leaving, this.falling] = [[], [], [], []];
    [this.set, this.done] = [0, 0];
    this.counts = { marked: 0, dropped: 0, left: 0 };
  }

  /** Where the packet at this position of the queue stands: the first is at the bottom, beside the link. */
  private slot(position: number): [number, number] {
    const { size, mouth, ground, rows, step } = this.places;
    const column = Math.floor(position / rows);
    return [mouth - size - 4 - column * step, ground - size - (position % rows) * step];
  }

  private sender(flow: number): [number, number] {
    const { senders, ground } = this.places;
    return [senders, 14 + (this.kindOf(flow) + 0.5) * ((ground - 10) / 3)];
  }

  /** Shows the picture of this moment; `now` is the reader's time in ms. */
  draw(now: number): void {
    this.fit();
    if (!this.look || (now - this.began) / 1000 > LOOK_S) this.turn(now);
    if (!this.look) return;
    const played = (now - this.began) / 1000;
    this.advance(this.look, played);
    this.paint(played);
    this.speak(now);
  }

  /** Shows the next look, or the same one again while the run stands still. */
  private turn(now: number): void {
    const look = this.next ?? this.look;
    if (!look) return;
    [this.look, this.next, this.began] = [look, null, now];
    this.clear();
    this.queue = look.waiting.map((packet, position) => {
      const [x, y] = this.slot(position);
      return { ...packet, x, y, since: 0 };
    });
    const { slow } = look;
    this.caption.textContent =
      `Slow motion, ${slow} times slower: the ${((LOOK_S / slow) * 1000).toPrecision(2)} ms after ` +
      `${look.fromS.toFixed(2)} s.`;
  }

  private advance(look: Look, played: number): void {
    const { slow, happenings } = look;
    // Packets set out before they arrive.
    for (; this.set < happenings.length; this.set += 1) {
      const happening = happenings[this.set] as Happening;
      if (happening.at * slow - FLIGHT_S > played) break;
      if (happening.what !== "arrive") continue;
      const [x, y] = this.sender(happening.flow);
      this.flying.push({ ...happening, x, y, since: happening.at * slow - FLIGHT_S });
    }
    for (; this.done < happenings.length; this.done += 1) {
      const happening = happenings[this.done] as Happening;
      if (happening.at * slow > played) break;
      this.happen(happening, happening.at * slow);
    }
    this.leaving = this.leaving.filter((item) => played - item.since < LINK_S);
    this.falling = this.falling.filter((item) => played - item.since < FALL_S);
  }

  private happen({ what, flow, seq, marked }: Happening, at: number): void {
    const isIt = (item: Item) => item.flow === flow && item.seq === seq;
    const remove = (items: Item[], last: boolean) => {
      const place = last ? items.findLastIndex(isIt) : items.findIndex(isIt);
      return place < 0 ? undefined : items.splice(place, 1)[0];
    };
    switch (what) {
      case "arrive": {
        const [x, y] = this.sender(flow);
        const item = remove(this.flying, false) ?? { flow, seq, marked, x, y, since: at };
        this.queue.push({ ...item, marked, since: at });
        return;
      }
      case "mark": {
        const item = this.queue.find((other) => isIt(other) && !other.marked) ?? this.leaving.find(isIt);
        if (item) item.marked = true;
        this.counts.marked += 1;
        return;
      }
      case "drop": {
        const item = remove(this.queue, true);
        if (item) this.falling.push({ ...item, since: at });
        this.counts.dropped += 1;
        return;
      }
      case "depart": {
        const item = remove(this.queue, false);
        const [x, y] = this.slot(0);
        this.leaving.push({ ...(item ?? { flow, seq, x, y }), marked, since: at });
        this.counts.left += 1;
      }
    }
  }

  /** Finds the places of things in the canvas as large as it is. */
  private measure(): void {
    const { clientWidth, clientHeight } = this.canvas;
    [this.width, this.height] = [clientWidth, clientHeight];
    const letters = [0, 1, 2].map((kind) => this.nameOf(kind).length);
    this.places = placesOf(clientWidth, clientHeight, Math.max(...letters));
  }

  /** Draws this moment with the present colours. */
  refresh(now: number): void {
    this.palette = null;
    this.measure();
    this.draw(now);
  }

  /** Makes the canvas as large as its place, in the pixels of the screen. */
  private fit(): void {
    // A canvas has whole pixels, whatever the ratio is; to set its size empties it, even if the size stays.
    const [width, height] = [this.width, this.height].map((length) => Math.round(length * (devicePixelRatio || 1)));
    if (this.canvas.width !== width) this.canvas.width = width ?? 0;
    if (this.canvas.height !== height) this.canvas.height = height ?? 0;
  }

  private paint(played: number): void {
    const pen = this.canvas.getContext("2d");
    if (!pen || this.width === 0) return;
    const ratio = devicePixelRatio || 1;
    const { kinds, third, grid, soft, ink, lit, font } = (this.palette ??= paletteOf());
    const { size, mouth, ground, end, rows, step, senders } = this.places;
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, this.width, this.height);
    pen.font = `${this.width < 360 ? 11 : 12}px ${font}`;
    // The link, as wide as a packet, and the ground on which the queue stands.
    pen.fillStyle = grid;
    pen.fillRect(mouth, ground - size - 3, end - mouth, size + 6);
    pen.fillRect(8, ground + 1, mouth - 8, 2);
    pen.fillStyle = soft;
    const waiting = this.queue.length;
    pen.textAlign = "right";
    pen.fillText(`${waiting} ${waiting === 1 ? "packet waits" : "packets wait"}`, mouth, ground + 17);
    pen.textAlign = "left";
    pen.fillText("the link", mouth + 10, ground + 17);
    for (const kind of [0, 1, 2]) {
      const name = this.nameOf(kind);
      if (!name) continue;
      const y = 14 + (kind + 0.5) * ((ground - 10) / 3);
      pen.fillStyle = kinds[kind] ?? "";
      pen.beginPath();
      pen.arc(senders, y, 4, 0, 7);
      pen.fill();
      pen.textAlign = "right";
      pen.fillText(name, senders - 8, y + 4, senders - 10);
    }
    const box = (item: Item, x: number, y: number) => {
      pen.fillStyle = kinds[this.kindOf(item.flow)] ?? third;
      pen.fillRect(x, y, size, size);
      if (item.marked) {
        // A mark is a light with a dark rim, whatever the colour below.
        pen.fillStyle = lit;
        pen.strokeStyle = ink;
        pen.lineWidth = 1;
        pen.beginPath();
        pen.arc(x + size / 2, y + size / 2, size / 2 - 1, 0, 7);
        pen.fill();
        pen.stroke();
      }
    };
    // Those that wait move up without a jump.
    const columns = Math.max(1, Math.floor((mouth - senders - 30) / step));
    this.queue.forEach((item, position) => {
      const [x, y] = this.slot(position);
      item.x += (x - item.x) * 0.35;
      item.y += (y - item.y) * 0.35;
      if (position < rows * columns) box(item, item.x, item.y);
    });
    const hidden = this.queue.length - rows * columns;
    if (hidden > 0) {
      pen.fillStyle = ink;
      pen.textAlign = "left";
      pen.fillText(`and ${hidden} more`, this.slot(rows * columns)[0], 12);
    }
    const tail = this.slot(Math.min(this.queue.length, rows * columns));
    for (const item of this.flying) {
      const part = Math.min(1, Math.max(0, (played - item.since) / FLIGHT_S));
      const [x, y] = this.sender(item.flow);
      item.x = x + (tail[0] - x) * part;
      item.y = y + (tail[1] - y) * part * part;
      box(item, item.x, item.y);
    }
    for (const item of this.leaving) {
      const part = (played - item.since) / LINK_S;
      box(item, mouth + (end - mouth - size) * part, ground - size);
    }
    for (const item of this.falling) {
      const part = (played - item.since) / FALL_S;
      pen.save();
      pen.globalAlpha = 1 - part;
      pen.translate(item.x - 12 * part + size / 2, item.y + (this.height - item.y) * part * part + size / 2);
      pen.rotate(part * 2);
      box(item, -size / 2, -size / 2);
      pen.restore();
    }
  }

  /** The picture in words, now and then. */
  private speak(now: number): void {
    if (now - this.spokenAt < SPOKEN_MS) return;
    this.spokenAt = now;
    const waiting = [0, 1, 2].map((kind) => this.queue.filter((item) => this.kindOf(item.flow) === kind).length);
    const each = waiting.map((count, kind) => (count > 0 ? `${count} of ${this.nameOf(kind)}` : "")).filter(Boolean);
    const { marked, dropped, left } = this.counts;
    this.canvas.setAttribute(
      "aria-label",
      `${this.title} in slow motion: ${this.queue.length} packets wait${each.length ? ` (${each.join(", ")})` : ""}; ` +
        `${left} have left, ${marked} were marked and ${dropped} dropped since ${this.look?.fromS.toFixed(3)} s.`,
    );
  }
}
