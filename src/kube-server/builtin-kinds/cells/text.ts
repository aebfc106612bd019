/** Pieces of table cells: ages, lists cut after a few, labels, selectors. The texts are those of the server's printers. */
import { formatSelector, requirementsOf, type Json, type JsonObject, type KubeObject } from "#kube";
import { parseMilliseconds } from "../codec/go-time.ts";
import { asJson, at, entriesAt, objectsAt, textAt } from "../draft.ts";
import { durationText } from "../../protocol/duration-text.ts";

export const NONE = "<none>";
export const UNSET = "<unset>";
export const UNKNOWN = "<unknown>";

/** "5d3h" */
export function ageOf(object: KubeObject, now: number): string {
  return sinceText(object.metadata.creationTimestamp, now);
}

export function sinceText(time: unknown, now: number): string {
  const then = parseMilliseconds(time);
  return then === undefined ? UNKNOWN : durationText(now - then);
}

export function orNone(text: string, none: string = NONE): string {
  return text === "" ? none : text;
}

/** "a=1,b=2" */
export function labelsText(labels: unknown): string {
  return orNone(
    entriesAt({ labels }, "labels")
      .map(([key, value]) => `${key}=${value}`)
      .join(","),
  );
}

const OPERATORS = new Set(["In", "NotIn", "Exists", "DoesNotExist"]);

/** A selector in kubectl's form, its requirements sorted by key. */
export function selectorText(selector: JsonObject | undefined): string {
  if (selector === undefined) return NONE;
  if (objectsAt(selector, "matchExpressions").some(({ operator }) => typeof operator !== "string" || !OPERATORS.has(operator)))
    return "<error>";
  const requirements = requirementsOf(selector).toSorted((x, y) => (x.key < y.key ? -1 : x.key > y.key ? 1 : 0));
  return orNone(formatSelector(requirements));
}

/** "a,b,c + 2 more..." */
export function cutList(items: readonly string[], max: number): string {
  if (items.length === 0) return UNSET;
  const shown = items.slice(0, max).join(",");
  return items.length > max ? `${shown} + ${items.length - max} more...` : shown;
}

/** Names and images of containers. */
export function containerCells(podSpec: unknown): readonly Json[] {
  const containers = objectsAt(podSpec, "containers");
  return [
    containers.map((container) => textAt(container, "name")).join(","),
    containers.map((container) => textAt(container, "image")).join(","),
  ];
}

const ACCESS_MODES = new Map([
  ["ReadWriteOnce", "RWO"],
  ["ReadOnlyMany", "ROX"],
  ["ReadWriteMany", "RWX"],
  ["ReadWriteOncePod", "RWOP"],
]);

export function accessModesText(modes: readonly string[]): string {
  return [...ACCESS_MODES].flatMap(([mode, short]) => (modes.includes(mode) ? [short] : [])).join(",");
}

export function nameWithDefault(object: KubeObject, annotation: string): string {
  return textAt(asJson(object), "metadata", "annotations", annotation) === "true"
    ? `${object.metadata.name} (default)`
    : object.metadata.name;
}

export function hasCondition(object: unknown, type: string): boolean {
  return objectsAt(object, "status", "conditions").some((condition) => condition["type"] === type && condition["status"] === "True");
}

/** The text of a count that is not set. */
export function countAt(object: unknown, ...path: readonly string[]): number {
  const found = at(object, ...path);
  return typeof found === "number" ? found : 0;
}
