/** Why a write cannot be tracked or applied, with the messages of a real server. */
import { err, type Err } from "#base";
import { fieldAt, type JsonObject } from "#kube";
import { conflictMessage, describeConflict, MAX_DESCRIBED, type Conflict } from "./conflicts.ts";
import type { UpdateError } from "./updater.ts";

export type ApplyError =
  | { readonly kind: "conflict"; readonly message: string; readonly conflicts: readonly Conflict[] }
  | { readonly kind: "bad-request"; readonly message: string }
  /** The applied object does not fit its schema, or stored data is unreadable: a real server answers 500 to both. */
  | { readonly kind: "invalid"; readonly message: string };

export function asApplyError(error: UpdateError, context = ""): Err<ApplyError> {
  if (error.kind === "failed") return invalid(`${context}${error.message}`);
  return err({
    kind: "conflict",
    message: conflictMessage(error.conflicts),
    conflicts: error.conflicts.slice(0, MAX_DESCRIBED).map(describeConflict),
  });
}

export function failed(message: string): Err<UpdateError> {
  return err({ kind: "failed", message });
}

export function invalid(message: string): Err<ApplyError> {
  return err({ kind: "invalid", message });
}

export function badRequest(message: string): Err<ApplyError> {
  return err({ kind: "bad-request", message });
}

/** `namespace/name; group/version, Kind=Kind`, as Go prints them. */
export function objectText(object: JsonObject): string {
  return `${textAt(object, "metadata", "namespace")}/${textAt(object, "metadata", "name")}; ${gvkText(object)}`;
}

export function gvkText(object: JsonObject): string {
  const apiVersion = textAt(object, "apiVersion");
  return `${apiVersion.includes("/") ? apiVersion : `/${apiVersion}`}, Kind=${textAt(object, "kind")}`;
}

function textAt(object: JsonObject, ...path: readonly string[]): string {
  const value = fieldAt(object, ...path);
  return typeof value === "string" ? value : "";
}
