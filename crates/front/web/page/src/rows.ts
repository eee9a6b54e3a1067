// New rows of a live run as the page reads them.

import type { Live } from "shoal-module";
import type { News, Rows } from "./protocol";

/** Columns of a series of a live run, as far as there are rows. */
export const rowsOf = (live: Live, table: string, columns: string[]): Rows =>
  Object.fromEntries(columns.map((name) => [name, live.numbers(table, name, 0) ?? new Float64Array()]));

/** What the page's plots and numbers are made of. */
export function seriesOf(live: Live): Pick<News, "queue" | "flows" | "groups" | "frames" | "delays"> {
  return {
    queue: rowsOf(live, "queue", ["time_s", "packets", "bytes", "probability", "marks", "drops", "utilisation"]),
    flows: rowsOf(live, "flows", ["time_s", "flow", "group", "wire_bps", "cwnd_packets", "alpha", "srtt_s"]),
    groups: live.words("flows", "group") ?? [],
    frames: rowsOf(live, "deliveries", ["time_s", "took_s", "late_s"]),
    delays: [live.delays(0, true) ?? new Float64Array(), live.delays(0, false) ?? new Float64Array()],
  };
}
