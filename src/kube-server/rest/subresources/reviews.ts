/**
 * Reviews: resources that are evaluated and never stored. Dynamic admission is not called for them, as on a real server.
 */
import { ok, timestamp, type Result } from "#base";
import { fieldAt, type Json, type JsonObject, type KubeObject } from "#kube";
import { API_AUDIENCES, rbacOf, userInfo } from "../../auth/index.ts";
import { trackUpdate } from "../../apply/index.ts";
import type { RequestContext } from "../../protocol/core.ts";
import { decodeBody } from "../../protocol/decode-body.ts";
import { asJsonObject, asObject, managedKind } from "../../protocol/managed-kinds.ts";
import { valueResponse, type ResponseResult } from "../../protocol/respond.ts";
import { badRequest, type Failure } from "../../protocol/status.ts";
import { writeOptions } from "../../protocol/write-options.ts";
import { matchNamespace } from "../../protocol/namespaces.ts";
import { localAccess, ownAccess, subjectAccess } from "./access-reviews.ts";
import { ruleEntries } from "./rule-entries.ts";

/** Returns the response without kind and apiVersion. */
type Review = (call: RequestContext, asked: JsonObject) => Result<JsonObject, Failure>;

const REVIEWS: ReadonlyMap<string, Review> = new Map<string, Review>([
  ["authorization.k8s.io/subjectaccessreviews", subjectAccess],
  ["authorization.k8s.io/selfsubjectaccessreviews", ownAccess],
  ["authorization.k8s.io/localsubjectaccessreviews", localAccess],
  ["authorization.k8s.io/selfsubjectrulesreviews", ownRules],
  ["authentication.k8s.io/selfsubjectreviews", ownUser],
  ["authentication.k8s.io/tokenreviews", reviewToken],
]);

export function reviewOf(call: RequestContext): ((call: RequestContext) => ResponseResult) | undefined {
  const { group, plural } = call.target.type.resource;
  const review = REVIEWS.get(`${group}/${plural}`);
  return review === undefined ? undefined : (context) => respondToReview(context, review);
}

function respondToReview(call: RequestContext, review: Review): ResponseResult {
  const options = writeOptions(call.request, "CreateOptions");
  if (!options.ok) return options;
  const decoded = decodeBody(call, options.value.fieldValidation);
  if (!decoded.ok) return decoded;
  const placed = matchNamespace(call, decoded.value);
  if (!placed.ok) return placed;
  const asked = asJsonObject(withManager(call, placed.value, options.value.fieldManager));
  const reviewed = review(call, asked);
  if (!reviewed.ok) return reviewed;
  const { kind, apiVersion } = asked;
  return ok(valueResponse(call, 201, { kind, apiVersion, ...reviewed.value }));
}

/** A real server sets managedFields before it evaluates the review. */
function withManager(call: RequestContext, object: KubeObject, manager: string): KubeObject {
  const kind = managedKind(call.core.types, call.target.type, undefined);
  const tracked = trackUpdate({ ...kind, manager, now: timestamp(call.core.clock), old: undefined, next: asJsonObject(object) });
  return tracked.ok ? asObject(tracked.value) : object;
}

function ownUser({ core, request }: RequestContext): Result<JsonObject, Failure> {
  return ok({ metadata: { creationTimestamp: timestamp(core.clock) }, status: { userInfo: userInfo(request.user) } });
}

function ownRules({ core, request }: RequestContext, asked: JsonObject): Result<JsonObject, Failure> {
  const namespace = fieldAt(asked, "spec", "namespace");
  if (typeof namespace !== "string" || namespace === "") return badRequest("no namespace on request");
  const held = core.openToAll ? EVERYTHING : rbacOf(core.store).rulesFor(request.user, namespace);
  const status = { ...ruleEntries(held.rules), incomplete: false, ...(held.error === "" ? {} : { evaluationError: held.error }) };
  return ok({ metadata: {}, spec: {}, status });
}

/** The rules of a server without authorization. */
const EVERYTHING = {
  error: "",
  rules: [
    { verbs: ["*"], apiGroups: ["*"], resources: ["*"], resourceNames: [], nonResourceURLs: [] },
    { verbs: ["*"], apiGroups: [], resources: [], resourceNames: [], nonResourceURLs: ["*"] },
  ],
};

function reviewToken({ core }: RequestContext, { metadata = {}, spec = {} }: JsonObject): Result<JsonObject, Failure> {
  const token = fieldAt(spec, "token");
  if (typeof token !== "string" || token === "") return badRequest("token is required for TokenReview in authentication");
  const given = fieldAt(spec, "audiences");
  const audiences = Array.isArray(given) ? given.filter((item): item is string => typeof item === "string") : [];
  const found = core.authentication.ofToken(token, audiences.length === 0 ? API_AUDIENCES : audiences);
  const status: Json = found.ok
    ? { authenticated: true, user: userInfo(found.value.user), audiences: found.value.audiences }
    : { user: {}, error: found.error };
  return ok({ metadata, spec, status });
}
