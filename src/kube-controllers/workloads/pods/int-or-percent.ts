import type { IntOrPercent } from "#kube";
/**
 * `maxSurge: 25%` as a number of Pods, at most 2,147,483,647: fields of the API have 32 bits. A value that is neither a number nor a
 * percentage counts as 0, which a validated object never has.
 */

/** The largest value of a replicas field. */
export const MAX_INT32 = 2_147_483_647;

export function scaledValue(value: IntOrPercent | undefined, total: number, round: "up" | "down"): number {
  if (value === undefined) return 0;
  if (typeof value === "number") return value;
  const percent = /^([0-9]+)%$/.exec(value)?.[1];
  if (percent === undefined) return 0;
  const exact = Number(percent) * total;
  return Math.min(round === "up" ? Math.ceil(exact / 100) : Math.floor(exact / 100), MAX_INT32);
}
