/** `maxSurge: 25%` as a number of Pods. A value that is neither a number nor a percentage counts as 0, which a validated object never has. */
import type { IntOrPercent } from "../kinds/pod.ts";

export function scaledValue(value: IntOrPercent | undefined, total: number, round: "up" | "down"): number {
  if (value === undefined) return 0;
  if (typeof value === "number") return value;
  const percent = /^([0-9]{1,9})%$/.exec(value)?.[1];
  if (percent === undefined) return 0;
  const exact = Number(percent) * total;
  return round === "up" ? Math.ceil(exact / 100) : Math.floor(exact / 100);
}
