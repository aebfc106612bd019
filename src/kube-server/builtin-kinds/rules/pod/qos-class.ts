/** The quality of service that a Pod's resources stand for. */
import { jsonEqual, type JsonObject } from "#kube";
import { entriesAt, objectAt, objectsAt } from "../../draft.ts";
import { quantityOf } from "./resources.ts";

/** Guaranteed: every container has limits for cpu and memory, and requests no less. */
export function qosClassOf(spec: JsonObject): string {
  const containers = [...objectsAt(spec, "containers"), ...objectsAt(spec, "initContainers")];
  const level = objectAt(spec, "resources");
  const holders = level === undefined ? containers.map((container) => objectAt(container, "resources") ?? {}) : [level];
  const amounts = (holder: JsonObject, kind: string) =>
    entriesAt(holder, kind).filter(([name, value]) => (name === "cpu" || name === "memory") && (quantityOf(value) ?? 0n) > 0n);
  const any = holders.some((holder) => amounts(holder, "requests").length + amounts(holder, "limits").length > 0);
  if (!any) return "BestEffort";
  const guaranteed = holders.every((holder) => {
    const limits = amounts(holder, "limits");
    return limits.length === 2 && jsonEqual(Object.fromEntries(limits), Object.fromEntries(amounts(holder, "requests")));
  });
  return guaranteed ? "Guaranteed" : "Burstable";
}
