/**
 * Whether two templates are equal. `null` counts as absent: older servers write `creationTimestamp: null` in every template.
 */
import { memoizeByObject } from "#base";
import { field, isJsonObject, jsonEqual, type Json, type PodTemplate } from "#kube";

export const POD_TEMPLATE_HASH = "pod-template-hash";

export function sameTemplate(a: PodTemplate, b: PodTemplate): boolean {
  return jsonEqual(comparable(a), comparable(b));
}

/** Cached: templates of cached objects are compared on every pass. */
const comparable = memoizeByObject((template: PodTemplate) => {
  const { labels = {}, ...metadata } = template.metadata ?? {};
  const kept = Object.fromEntries(Object.entries(labels).filter(([name]) => name !== POD_TEMPLATE_HASH));
  return withoutAbsence({ ...template, metadata: { ...metadata, labels: kept } }) ?? {};
});

/** Without nulls, and without empty maps in metadata, which Go treats like absent ones. */
function withoutAbsence(value: Json): Json | undefined {
  if (Array.isArray(value)) return value.map((item: Json) => withoutAbsence(item) ?? null);
  if (!isJsonObject(value)) return value ?? undefined;
  const entries = Object.keys(value).flatMap((name) => {
    const kept = withoutAbsence(field(value, name) ?? null);
    return kept === undefined || kept === null || isEmptyMap(name, kept) ? [] : [[name, kept] as const];
  });
  return Object.fromEntries(entries);
}

const MAPS = new Set(["labels", "annotations", "nodeSelector"]);

function isEmptyMap(name: string, value: Json): boolean {
  return MAPS.has(name) && isJsonObject(value) && Object.keys(value).length === 0;
}
