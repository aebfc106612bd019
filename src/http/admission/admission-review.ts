/**
 * AdmissionReview v1, as it comes in. Any client can send one, so nothing in it is believed before it is checked; what is not understood is not an
 * error if it has a uid, because the webhook must never refuse a write.
 */
import { err, ok, textOfBytes, type Result } from "#base";
import { field, fieldAt, isJsonObject, parseJson, type Json, type JsonObject, type KubeObject } from "#kube";
import { isNestedDeeper } from "#workload-patch";

export const REVIEW_VERSION = "admission.k8s.io/v1";
export const REVIEW_KIND = "AdmissionReview";
const MAX_UID_LENGTH = 128;
const MAX_DEPTH = 100;

export type ReviewedDeployment = {
  readonly operation: "CREATE" | "UPDATE";
  readonly namespace: string;
  readonly name: string;
  readonly object: KubeObject;
  /** Of an update. */
  readonly old?: KubeObject;
  readonly dryRun: boolean;
  /** The name under which the client writes; empty: the client has not set one. */
  readonly fieldManager: string;
};

export type AdmissionRequest = {
  readonly uid: string;
  /** The Deployment, or why the review is about nothing that this webhook changes. */
  readonly reviewed: Result<ReviewedDeployment, string>;
};

/** An error: there is no uid to answer to. */
export function parseAdmissionReview(body: Uint8Array): Result<AdmissionRequest, string> {
  const text = textOfBytes(body);
  if (!text.ok) return err("the body must be text in UTF-8");
  // first: to parse megabytes of brackets takes more than a second
  if (isNestedDeeper(text.value, MAX_DEPTH)) return err(`the body must be nested at most ${MAX_DEPTH} levels`);
  const review = parseJson(text.value);
  if (!review.ok) return err("the body must be an AdmissionReview in JSON");
  const request = field(review.value, "request");
  const uid = textAt(request, "uid");
  if (uid === "" || uid.length > MAX_UID_LENGTH) return err(`request.uid: must have between 1 and ${MAX_UID_LENGTH} characters`);
  if (textAt(review.value, "kind") !== REVIEW_KIND || textAt(review.value, "apiVersion") !== REVIEW_VERSION)
    return ok({ uid, reviewed: err(`the review must be an ${REVIEW_KIND} of ${REVIEW_VERSION}`) });
  return ok({ uid, reviewed: reviewedDeployment(request) });
}

function reviewedDeployment(request: Json | undefined): Result<ReviewedDeployment, string> {
  const resource = field(request, "resource");
  if (textAt(resource, "group") !== "apps" || textAt(resource, "version") !== "v1" || textAt(resource, "resource") !== "deployments")
    return err("request.resource: must be deployments of apps/v1");
  const kind = field(request, "kind");
  if (textAt(kind, "group") !== "apps" || textAt(kind, "version") !== "v1" || textAt(kind, "kind") !== "Deployment")
    return err("request.kind: must be Deployment of apps/v1");
  if (textAt(request, "subResource") !== "") return err("request.subResource: must be empty");
  const operation = field(request, "operation");
  if (operation !== "CREATE" && operation !== "UPDATE") return err("request.operation: must be CREATE or UPDATE");
  const key = { namespace: textAt(request, "namespace"), name: textAt(request, "name") };
  if (key.namespace === "") return err("request.namespace: must not be empty");
  const object = deploymentOf(field(request, "object"), key);
  if (object === undefined) return err("request.object: must be the Deployment that request.namespace and request.name name");
  const write = { dryRun: field(request, "dryRun") === true, fieldManager: textAt(field(request, "options"), "fieldManager") };
  if (operation === "CREATE") return ok({ operation, ...key, object, ...write });
  const old = deploymentOf(field(request, "oldObject"), key);
  if (old === undefined) return err("request.oldObject: must be the Deployment that request.namespace and request.name name");
  return ok({ operation, ...key, object, old, ...write });
}

type Key = { readonly namespace: string; readonly name: string };

/** A new object may have no name yet, only generateName: no service can refer to it. */
function deploymentOf(value: Json | undefined, { namespace, name }: Key): KubeObject | undefined {
  if (!isDeployment(value)) return undefined;
  return textAt(value.metadata, "name") === name && textAt(value.metadata, "namespace") === namespace ? value : undefined;
}

function isDeployment(value: Json | undefined): value is Json & KubeObject {
  if (!isJsonObject(value) || field(value, "kind") !== "Deployment" || field(value, "apiVersion") !== "apps/v1") return false;
  return isJsonObject(fieldAt(value, "metadata")) && isJsonObject(fieldAt(value, "spec"));
}

function textAt(value: Json | JsonObject | KubeObject["metadata"] | undefined, name: string): string {
  const text = field(value, name);
  return typeof text === "string" ? text : "";
}
