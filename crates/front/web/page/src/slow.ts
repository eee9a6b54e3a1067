// How slowly the picture of a link moves.

/** Packets that leave in a second of the reader's time: as many as eyes can follow. */
const LEAVING_PER_S = 22;
/** Bytes of a full packet on the wire, with Ethernet's framing. */
const WIRE_BYTES = 1538;
/** Length of a look in the reader's time, in s. */
export const LOOK_S = 5;

/** How many times slower than the link the picture moves: a number that reads easily. */
export function slowness(rateMbps: number): number {
  const exact = (rateMbps * 1e6) / 8 / WIRE_BYTES / LEAVING_PER_S;
  const power = 10 ** Math.floor(Math.log10(Math.max(exact, 1)));
  return Math.max(1, Math.round(exact / power) * power);
}

/** Time of the link that a look covers, in s. */
export function lookSeconds(rateMbps: number): number {
  return LOOK_S / slowness(rateMbps);
}
