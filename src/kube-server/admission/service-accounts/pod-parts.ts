/** The fields of a pod that can name secrets. */
import { field, fieldAt, isJsonObject, type Json, type JsonObject } from "#kube";

export function objectsAt(value: unknown, ...path: readonly string[]): readonly JsonObject[] {
  const items = fieldAt(value, ...path);
  return Array.isArray(items) ? (items as readonly Json[]).filter(isJsonObject) : [];
}

export function textAt(value: unknown, ...path: readonly string[]): string {
  const text = fieldAt(value, ...path);
  return typeof text === "string" ? text : "";
}

export type EnvSecret = { readonly variable: string | undefined; readonly secret: string };

/** The secrets that a container's environment refers to; `variable` is absent for envFrom. */
export function envSecrets(container: JsonObject): readonly EnvSecret[] {
  return [
    ...objectsAt(container, "env")
      .filter((variable) => isJsonObject(fieldAt(variable, "valueFrom", "secretKeyRef")))
      .map((variable) => ({ variable: textAt(variable, "name"), secret: textAt(variable, "valueFrom", "secretKeyRef", "name") })),
    ...objectsAt(container, "envFrom")
      .filter((source) => isJsonObject(field(source, "secretRef")))
      .map((source) => ({ variable: undefined, secret: textAt(source, "secretRef", "name") })),
  ];
}
