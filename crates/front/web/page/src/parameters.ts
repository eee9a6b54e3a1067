// Parameters of a bottleneck: every text, number and switch of the keys that its preset has, by their paths.

import type { Json } from "./plan";

/** Values that differ from the preset, by path, as in `aqm.threshold`. */
export type Parameters = { [path: string]: string };

/** Paths and values of all leaves, in the order of the keys. */
export function leaves(json: Json, under = ""): [string, string | number | boolean][] {
  return Object.entries(json).flatMap(([key, value]): [string, string | number | boolean][] => {
    const path = under + key;
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return leaves(value as Json, `${path}.`);
    return typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? [[path, value]] : [];
  });
}

/**
 * The bottleneck with other values. Each keeps its type; what is wrong with a value, the engine says. Throws a text for
 * a path that is not there.
 */
export function withParameters(bottleneck: Json, parameters: Parameters): Json {
  const changed = structuredClone(bottleneck);
  const known = new Map(leaves(bottleneck));
  for (const [path, value] of Object.entries(parameters)) {
    const before = known.get(path);
    if (before === undefined)
      throw `the bottleneck has no parameter \`${path}\`; it has ${[...known.keys()].join(", ")}`;
    const keys = path.split(".");
    const last = keys.pop() as string;
    let table = changed;
    for (const key of keys) table = table[key] as Json;
    // What is no number stays a text, so that the engine refuses it with its place.
    const number = value.trim() === "" || Number.isNaN(Number(value)) ? value : Number(value);
    table[last] = typeof before === "number" ? number : typeof before === "boolean" ? value === "true" : value;
  }
  return changed;
}
