/** The fields of a kind that its scale subresource reads and writes. */
import { field, fieldAt, isJsonObject, type KubeObject } from "#kube";
import type { CustomType } from "../../definitions/custom-types.ts";
import { plainText } from "../../protocol/go-format.ts";

export type ScaleFieldPaths = {
  readonly replicas: readonly string[];
  readonly statusReplicas: readonly string[];
  /** The label selector as text; "" if absent. */
  readonly selector: (object: KubeObject) => string;
};

const selectorOfLabels = (object: KubeObject) => labelsText(fieldAt(object, "spec", "selector"));
const selectorOfSpec = (object: KubeObject) => selectorText(fieldAt(object, "spec", "selector"));

const WORKLOAD = { replicas: ["spec", "replicas"], statusReplicas: ["status", "replicas"], selector: selectorOfSpec };
const BUILTIN: ReadonlyMap<string, ScaleFieldPaths> = new Map([
  ["apps/deployments", WORKLOAD],
  ["apps/replicasets", WORKLOAD],
  ["apps/statefulsets", WORKLOAD],
  ["/replicationcontrollers", { ...WORKLOAD, selector: selectorOfLabels }],
]);

/** Custom kinds declare them in their definition. */
export function scalePathsOf(type: CustomType): ScaleFieldPaths | undefined {
  const known = BUILTIN.get(type.collection);
  if (known !== undefined || type.scale === undefined) return known;
  const path = (name: string) => pathOf(field(type.scale, name));
  const replicas = path("specReplicasPath");
  const statusReplicas = path("statusReplicasPath");
  if (replicas === undefined || statusReplicas === undefined) return undefined;
  const selector = path("labelSelectorPath");
  return { replicas, statusReplicas, selector: (object) => (selector === undefined ? "" : textAt(object, selector)) };
}

function pathOf(text: unknown): readonly string[] | undefined {
  return typeof text === "string" && text.startsWith(".") ? text.slice(1).split(".") : undefined;
}

function textAt(object: KubeObject, path: readonly string[]): string {
  const value = fieldAt(object, ...path);
  return typeof value === "string" ? value : "";
}

function labelsText(labels: unknown): string {
  if (!isJsonObject(labels)) return "";
  return Object.entries(labels)
    .map(([key, value]) => `${key}=${plainText(value)}`)
    .toSorted()
    .join(",");
}

/** As Go prints a selector: by key, sets with their values sorted. */
function selectorText(selector: unknown): string {
  const expressions = field(selector, "matchExpressions");
  const labels = labelsText(field(selector, "matchLabels"));
  const terms = Array.isArray(expressions) ? expressions.map(expressionText) : [];
  const all = [...(labels === "" ? [] : labels.split(",").map((text) => ({ key: text.slice(0, text.indexOf("=")), text }))), ...terms];
  return all
    .toSorted((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
    .map(({ text }) => text)
    .join(",");
}

function expressionText(expression: unknown): { readonly key: string; readonly text: string } {
  const key = plainText(field(expression, "key"));
  const given = field(expression, "values");
  const values = Array.isArray(given) ? given.map(String).toSorted().join(",") : "";
  const texts: Readonly<Record<string, string>> = {
    In: `${key} in (${values})`,
    NotIn: `${key} notin (${values})`,
    Exists: key,
    DoesNotExist: `!${key}`,
  };
  return { key, text: texts[plainText(field(expression, "operator"))] ?? key };
}
