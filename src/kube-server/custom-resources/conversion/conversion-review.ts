/** ConversionReview: encodes the request to a webhook and checks its response. */
import { err, ok, type Result } from "#base";
import { canonicalJson, field, isJsonObject, type Json, type JsonObject } from "#kube";
import { readReview, declaredKind, STATUS, UID, type ReviewKind } from "../../webhook-client/index.ts";
import { always, optional, pointer, STRING, type GoShape } from "../../protocol/shapes.ts";
import { text } from "../crd/json-access.ts";

export type ConversionReviewVersion = "v1" | "v1beta1";

const GROUP = "apiextensions.k8s.io";

function reviewKind(version: ConversionReviewVersion, other: ConversionReviewVersion): ReviewKind {
  const response: GoShape = {
    kind: "struct",
    goType: `${version}.ConversionResponse`,
    fields: () =>
      new Map([
        ["uid", always(UID)],
        ["convertedObjects", always({ kind: "list", goType: "[]runtime.RawExtension", of: () => ({ kind: "any" }) })],
        ["result", always(STATUS)],
      ]),
  };
  const shape: GoShape = {
    kind: "struct",
    goType: `${version}.ConversionReview`,
    fields: () =>
      new Map([
        ["kind", optional(STRING)],
        ["apiVersion", optional(STRING)],
        ["response", pointer(response)],
      ]),
  };
  return { group: GROUP, version, kind: "ConversionReview", shape, others: [other] };
}

const REVIEWS: Readonly<Record<ConversionReviewVersion, ReviewKind>> = {
  v1: reviewKind("v1", "v1beta1"),
  v1beta1: reviewKind("v1beta1", "v1"),
};

export type ConversionRequest = { readonly uid: string; readonly desiredAPIVersion: string; readonly objects: readonly JsonObject[] };

/** The body contains an empty response, as the Go client sends it. */
export function reviewBody({ uid, desiredAPIVersion, objects }: ConversionRequest, version: ConversionReviewVersion): string {
  const head = `{"kind":"ConversionReview","apiVersion":"${GROUP}/${version}"`;
  // fields of objects are sorted, as Go prints maps
  const request = `{"uid":${JSON.stringify(uid)},"desiredAPIVersion":${JSON.stringify(desiredAPIVersion)},"objects":${canonicalJson(objects)}}`;
  const response = JSON.stringify({ uid: "", convertedObjects: null, result: { metadata: {} } });
  return `${head},"request":${request},"response":${response}}\n`;
}

export function readResponse(body: Buffer, uid: string, version: ConversionReviewVersion): Result<readonly Json[], string> {
  const review = readReview(body, REVIEWS[version]);
  if (!review.ok) return review;
  const wanted = `${GROUP}/v1, Kind=ConversionReview`;
  if (version === "v1" && declaredKind(review.value) !== wanted)
    return err(`expected webhook response of ${wanted}, got ${declaredKind(review.value)}`);
  const response = field(review.value, "response");
  if (!isJsonObject(response)) return err("no response provided");
  const given = text(response, "uid");
  if (version === "v1" && given !== uid) return err(`expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(given)}`);
  const result = field(response, "result");
  if (text(result, "status") !== "Success") {
    const message = text(result, "message");
    return err(message === "" ? `response.result.status was '${text(result, "status")}', not 'Success'` : message);
  }
  const converted = field(response, "convertedObjects");
  return ok(Array.isArray(converted) ? converted : []);
}
