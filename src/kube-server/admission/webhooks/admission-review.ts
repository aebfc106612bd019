/** AdmissionReview: encodes the request to a webhook and checks its response. */
import { err, ok, type Result } from "#base";
import { field, isJsonObject, type Json, type JsonObject } from "#kube";
import { asJsonObject } from "../../protocol/managed-kinds.ts";
import { readReview, declaredKind } from "../../webhook-client/index.ts";
import { admissionRequest, type Matched } from "../../admission-cel/index.ts";
import type { Attributes } from "../../protocol/admission-port.ts";
import { ADMISSION_REVIEWS } from "./review-shape.ts";
import type { ObjectPair } from "./versions.ts";

export type AdmissionReviewVersion = "v1" | "v1beta1";

export type ReviewRequest = {
  readonly uid: string;
  readonly attributes: Attributes;
  readonly matched: Matched;
  readonly pair: ObjectPair;
};

/** One line of JSON with a line break at the end, as Go's encoder writes. */
export function reviewBody({ uid, attributes, matched, pair }: ReviewRequest, version: AdmissionReviewVersion): string {
  const { dryRun, options, ...asked } = admissionRequest(attributes, matched);
  const object = pair.object === undefined ? null : asJsonObject(pair.object);
  const oldObject = pair.old === undefined ? null : asJsonObject(pair.old);
  const request = { uid, ...asked, object, oldObject, dryRun, options };
  return `${JSON.stringify({ kind: "AdmissionReview", apiVersion: `admission.k8s.io/${version}`, request })}\n`;
}

export type AdmissionReviewResponse = {
  readonly allowed: boolean;
  /** The text of the patch; "" without one. */
  readonly patch: string;
  readonly patchType: string;
  readonly status: JsonObject | undefined;
  readonly warnings: readonly string[];
};

/** "call": the response is no review. "invalid": it is a review of another request. */
export type InvalidReview = { readonly kind: "call" | "invalid"; readonly problem: string };

export type ExpectedReview = { readonly uid: string; readonly version: AdmissionReviewVersion; readonly mutating: boolean };

export function readResponse(body: Buffer, expected: ExpectedReview): Result<AdmissionReviewResponse, InvalidReview> {
  const review = readReview(body, ADMISSION_REVIEWS[expected.version]);
  if (!review.ok) return err({ kind: "call", problem: review.error });
  const response = field(review.value, "response");
  const wrong = isJsonObject(response) ? responseProblem(review.value, response, expected) : "webhook response was absent";
  if (wrong !== undefined || !isJsonObject(response)) return err({ kind: "invalid", problem: wrong ?? "" });
  return ok(responseOf(response, expected));
}

/** A real server does not check v1beta1. */
function responseProblem(review: JsonObject, response: JsonObject, { uid, version, mutating }: ExpectedReview): string | undefined {
  if (version === "v1beta1") return undefined;
  const given = textOf(field(response, "uid"));
  if (given !== uid) return `expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(given)}`;
  const wanted = "admission.k8s.io/v1, Kind=AdmissionReview";
  if (declaredKind(review) !== wanted) return `expected webhook response of ${wanted}, got ${declaredKind(review)}`;
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

function responseOf(response: JsonObject, { version, mutating }: ExpectedReview): AdmissionReviewResponse {
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
