/** The answer to a review: always allowed, with a JSON Patch if something changes, and with warnings if something is wrong. */
import { Buffer } from "node:buffer";
import type { JsonObject } from "#kube";
import { safeText } from "#controller-runtime";
import { REVIEW_KIND, REVIEW_VERSION } from "./admission-review.ts";
import { MAX_WARNING_LENGTH, MAX_WARNINGS } from "./limits.ts";

export type ReviewAnswer = {
  /** RFC 6902; empty: nothing changes. */
  readonly patch: readonly JsonObject[];
  /** One sentence each, without values of the object. */
  readonly warnings: readonly string[];
};

export const NO_CHANGE: ReviewAnswer = { patch: [], warnings: [] };

export function formatAnswer(uid: string, { patch, warnings }: ReviewAnswer): string {
  const changes = patch.length === 0 ? {} : { patchType: "JSONPatch", patch: Buffer.from(JSON.stringify(patch)).toString("base64") };
  const shown = warnings.length === 0 ? {} : { warnings: warnings.slice(0, MAX_WARNINGS).map(shortened) };
  const response = { uid, allowed: true, ...changes, ...shown };
  return JSON.stringify({ apiVersion: REVIEW_VERSION, kind: REVIEW_KIND, response });
}

/** Printable characters only: a warning becomes an HTTP header, and a line in a terminal. */
function shortened(text: string): string {
  const printable = safeText(text).replaceAll(/[^\x20-\x7e]/g, "?");
  return printable.length <= MAX_WARNING_LENGTH ? printable : `${printable.slice(0, MAX_WARNING_LENGTH - 3)}...`;
}
