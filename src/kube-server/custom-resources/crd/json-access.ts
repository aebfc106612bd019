/** Accessors for decoded JSON; a missing field is an empty value. */
import { field, isJsonObject, type Json, type JsonObject } from "#kube";

export function text(raw: Json | undefined, name: string): string {
  const value = field(raw, name);
  return typeof value === "string" ? value : "";
}

export function asObject(raw: Json | undefined): JsonObject {
  return isJsonObject(raw) ? raw : {};
}

export function asList(raw: Json | undefined): readonly JsonObject[] {
  return Array.isArray(raw) ? raw.filter(isJsonObject) : [];
}
