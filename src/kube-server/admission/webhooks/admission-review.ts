/** AdmissionReview: the question as it is sent, and the answer as it is believed. */
import { err, ok, type Result } from "#base";
import { field, isJsonObject, type Json, type JsonObject } from "#kube";
import { asJsonObject } from "../../protocol/managed-kinds.ts";
import { readReview, saidKind } from "../../webhook-client/index.ts";
import { admissionRequest, type Matched } from "../../admission-cel/index.ts";
import type { Attributes } from "../../protocol/admission-port.ts";
import { ADMISSION_REVIEWS } from "./review-shape.ts";
import type { Pair } from "./versions.ts";

export type ReviewVersion = "v1" | "v1beta1";

export type Question = {
  readonly uid: string;
  readonly attributes: Attributes;
  readonly matched: Matched;
  readonly pair: Pair;
};

/** One line of JSON with a line break behind it, as Go's encoder writes. */
export function reviewBody({ uid, attributes, matched, pair }: Question, version: ReviewVersion): string {
  const { dryRun, options, ...asked } = admissionRequest(attributes, matched);
  const object = pair.object === undefined ? null : asJsonObject(pair.object);
  const oldObject = pair.old === undefined ? null : asJsonObject(pair.old);
  const request = { uid, ...asked, object, oldObject, dryRun, options };
  return `${JSON.stringify({ kind: "AdmissionReview", apiVersion: `admission.k8s.io/${version}`, request })}\n`;
}

export type Answer = {
  readonly allowed: boolean;
  /** The text of the patch; "" without one. */
  readonly patch: string;
  readonly patchType: string;
  readonly status: JsonObject | undefined;
  readonly warnings: readonly string[];
};

/** "call": what came back is no review. "invalid": it is one that answers another question. */
export type BadAnswer = { readonly kind: "call" | "invalid"; readonly problem: string };

export type Expected = { readonly uid: string; readonly version: ReviewVersion; readonly mutating: boolean };

export function readAnswer(body: Buffer, expected: Expected): Result<Answer, BadAnswer> {
  const review = readReview(body, ADMISSION_REVIEWS[expected.version]);
  if (!review.ok) return err({ kind: "call", problem: review.error });
  const response = field(review.value, "response");
  const wrong = isJsonObject(response) ? wrongAnswer(review.value, response, expected) : "webhook response was absent";
  if (wrong !== undefined || !isJsonObject(response)) return err({ kind: "invalid", problem: wrong ?? "" });
  return ok(answerOf(response, expected));
}

/** v1beta1 was never checked, and still is not. */
function wrongAnswer(review: JsonObject, response: JsonObject, { uid, version, mutating }: Expected): string | undefined {
  if (version === "v1beta1") return undefined;
  const given = textOf(field(response, "uid"));
  if (given !== uid) return `expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(given)}`;
  const wanted = "admission.k8s.io/v1, Kind=AdmissionReview";
  if (saidKind(review) !== wanted) return `expected webhook response of ${wanted}, got ${saidKind(review)}`;
  const hasPatch = patchOf(response) !== "";
  const patchType = field(response, "patchType");
  if (!mutating) {
    if (hasPatch) return "validating webhook may not return response.patch";
    return patchType === undefined ? undefined : "validating webhook may not return response.patchType";
  }
  if (hasPatch && patchType === undefined) return "webhook returned response.patch but not response.patchType";
  if (!hasPatch && patchType !== undefined) return "webhook returned response.patchType but not response.patch";
  return patchType === "" ? 'webhook returned invalid response.patchType of ""' : undefined;
}

function answerOf(response: JsonObject, { version, mutating }: Expected): Answer {
  const status = field(response, "status");
  const warnings = field(response, "warnings");
  const patch = mutating ? patchOf(response) : "";
  return {
    allowed: field(response, "allowed") === true,
    patch,
    patchType: version === "v1beta1" ? "JSONPatch" : textOf(field(response, "patchType")),
    status: isJsonObject(status) ? status : undefined,
    warnings: Array.isArray(warnings) ? (warnings as readonly Json[]).map(textOf) : [],
  };
}

function patchOf(response: JsonObject): string {
  return Buffer.from(textOf(field(response, "patch")), "base64").toString("utf8");
}

function textOf(json: Json | undefined): string {
  return typeof json === "string" ? json : "";
}
