/**
 * `POST serviceaccounts/NAME/token`: issues a token of a ServiceAccount with audiences, a duration, and optionally an object that it is bound to:
 * the token becomes invalid when that object is deleted.
 */
import { ok, timestamp, whenOk, type Result } from "#base";
import { field, fieldAt, isJsonObject, type JsonObject, type KubeObject } from "#kube";
import { API_AUDIENCES } from "../../auth/index.ts";
import { trackUpdate } from "../../apply/index.ts";
import { attributesOf } from "../attributes.ts";
import { newUid, readStored, type RequestContext } from "../../protocol/core.ts";
import { decodeBody } from "../../protocol/decode-body.ts";
import { asJsonObject, asObject, managedKind } from "../../protocol/managed-kinds.ts";
import { metaText, withMetadata } from "../../protocol/object-meta.ts";
import { valueResponse, type PendingResponse } from "../../protocol/respond.ts";
import { conflict, invalid, notFound, type Failure } from "../../protocol/status.ts";
import { writeOptions } from "../../protocol/write-options.ts";
import { matchNamespace } from "../../protocol/namespaces.ts";
import { boundObject } from "./bound-object.ts";
import { hiddenGvk, withBodyKind } from "./hidden-kinds.ts";
import type { BoundObjects } from "../../protocol/auth-port.ts";

const KIND = hiddenGvk("TokenRequest");

export function requestToken(call: RequestContext): PendingResponse {
  const options = writeOptions(call.request, "CreateOptions");
  if (!options.ok) return options;
  const tokenContext = withBodyKind(call, "TokenRequest");
  const decoded = decodeBody(tokenContext, options.value.fieldValidation);
  if (!decoded.ok) return decoded;
  const placed = matchNamespace(tokenContext, withDefaults(decoded.value));
  if (!placed.ok) return placed;
  const tracked = withManager(tokenContext, placed.value, options.value.fieldManager);
  const { name = "" } = call.target;
  const attributes = attributesOf(call, {
    operation: "CREATE",
    name,
    dryRun: options.value.dryRun,
    object: tracked,
    old: undefined,
    kind: KIND,
  });
  return whenOk(call.core.admission.mutate(attributes), (admitted) => {
    const request = completed(call, admitted ?? tracked);
    if (!request.ok) return request;
    return whenOk(call.core.admission.validate({ ...attributes, object: request.value.request }), () => {
      const issued = issue(call, request.value);
      return issued.ok ? ok(valueResponse(call, 201, issued.value)) : issued;
    });
  });
}

const HOUR_SECONDS = 3_600;

function withDefaults(object: KubeObject): KubeObject {
  const spec = specOf(object);
  const expirationSeconds = field(spec, "expirationSeconds") ?? HOUR_SECONDS;
  return asObject({ ...asJsonObject(object), spec: { ...spec, expirationSeconds } });
}

function specOf(object: KubeObject): JsonObject {
  const spec = fieldAt(object, "spec");
  return isJsonObject(spec) ? spec : {};
}

function withManager(call: RequestContext, object: KubeObject, manager: string): KubeObject {
  const kind = { ...managedKind(call.core.types, call.target.type, "token"), manager, now: timestamp(call.core.clock) };
  const tracked = trackUpdate({ ...kind, old: undefined, next: asJsonObject(object) });
  return tracked.ok ? asObject(tracked.value) : object;
}

type Completed = { readonly request: KubeObject; readonly account: KubeObject };

/** Validates the request and adds the fields that the account and this server determine. */
function completed(call: RequestContext, object: KubeObject): Result<Completed, Failure> {
  const { name = "", namespace } = call.target;
  const own = metaText(object, "name");
  if (own !== "" && own !== name) {
    const detail = `Invalid value: ${JSON.stringify(own)}: must match the service account name if specified`;
    return invalid({ ...KIND, name }, [{ reason: "FieldValueInvalid", field: "metadata.name", detail }]);
  }
  const account = readStored(call, name)?.object;
  if (account === undefined) return notFound({ resource: call.target.type.resource, name });
  const [uid, accountUid] = [metaText(object, "uid"), account.metadata.uid ?? ""];
  if (uid !== "" && uid !== accountUid) return otherAccount(name, uid, accountUid);
  const spec = specOf(object);
  const given = field(spec, "audiences");
  const audiences = Array.isArray(given) && given.length > 0 ? given : API_AUDIENCES;
  const metadata = { name, namespace, uid: accountUid, creationTimestamp: timestamp(call.core.clock) };
  const boundObjectRef = field(spec, "boundObjectRef") ?? null;
  const expirationSeconds = field(spec, "expirationSeconds") ?? HOUR_SECONDS;
  const whole = asObject({ ...asJsonObject(object), spec: { audiences, expirationSeconds, boundObjectRef } });
  const problem = durationProblem(expirationSeconds);
  if (problem !== undefined) {
    const detail = `Invalid value: ${JSON.stringify(expirationSeconds)}: ${problem}`;
    return invalid({ ...KIND, name: "" }, [{ reason: "FieldValueInvalid", field: "spec.expirationSeconds", detail }]);
  }
  return ok({ request: withMetadata(whole, metadata), account });
}

function otherAccount(name: string, uid: string, accountUid: string): Result<never, Failure> {
  const resource = { ...KIND, plural: KIND.kind, namespaced: true };
  return conflict(
    { resource, name },
    `the UID in the token request (${uid}) does not match the UID of the service account (${accountUid})`,
  );
}

function durationProblem(seconds: unknown): string | undefined {
  if (typeof seconds !== "number" || seconds < 600) return "may not specify a duration less than 10 minutes";
  return seconds > 2 ** 32 ? "may not specify a duration larger than 2^32 seconds" : undefined;
}

/** The duration that a kubelet requests for pods: such a token is valid for a year, for old clients that do not reload it. */
const WARN_ONLY_SECONDS = 3_607;
const EXTENDED_SECONDS = 365 * 24 * 3_600;

function issue(call: RequestContext, { request, account }: Completed): Result<JsonObject, Failure> {
  const spec = specOf(request);
  const reference = field(spec, "boundObjectRef");
  const bound = isJsonObject(reference) ? boundObject(call, reference) : ok<BoundObjects>({});
  if (!bound.ok) return bound;
  const audiences = textsOf(field(spec, "audiences"));
  const seconds = Number(field(spec, "expirationSeconds"));
  const extended = bound.value.pod !== undefined && seconds === WARN_ONLY_SECONDS && audiences.every((one) => API_AUDIENCES.includes(one));
  const { accounts } = call.core.authentication;
  const token = accounts.issue(
    { account, bound: bound.value, audiences, seconds: extended ? EXTENDED_SECONDS : seconds, warnAfter: extended ? seconds : undefined },
    newUid(call.core.random),
  );
  const expirationTimestamp = `${new Date(call.core.clock.now() + seconds * 1_000).toISOString().slice(0, -5)}Z`;
  return ok({ ...asJsonObject(request), spec, status: { token, expirationTimestamp } });
}

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === "string") : [];
}
