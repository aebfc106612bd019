/** The handlers of subresources by verb. Subresources without an entry read and write the object itself (`status`, `resize`, …). */
import { whenOk } from "#base";
import { fieldAt, type KubeObject } from "#kube";
import type { RequestContext } from "../../protocol/core.ts";
import { decodeBody } from "../../protocol/decode-body.ts";
import { asJsonObject, asObject } from "../../protocol/managed-kinds.ts";
import { patch } from "../patches.ts";
import { getObject } from "../reads.ts";
import { objectResponse, type PendingResponse } from "../../protocol/respond.ts";
import type { Verb } from "../../protocol/route.ts";
import { methodNotAllowed, methodNotSupported, notFound, unknownResource } from "../../protocol/status.ts";
import { changeStored, updateObject } from "../update-object.ts";
import { writeOptions } from "../../protocol/write-options.ts";
import { matchNameAndNamespace } from "../../protocol/namespaces.ts";
import { update } from "../writes.ts";
import { evictPod } from "./eviction.ts";
import { podLog } from "./pod-log.ts";
import { bindPod, connectToPod } from "./pods.ts";
import { proxyToNode, proxyToPod, proxyToService } from "./proxy.ts";
import { getScale, patchScale, updateScale } from "./scale.ts";
import { requestToken } from "./token-request.ts";
import type { Stored } from "../../store/index.ts";

type Handler = (call: RequestContext) => PendingResponse;
type ByVerb = ReadonlyMap<Verb, Handler>;

const OBJECT_HANDLERS: ByVerb = new Map<Verb, Handler>([
  ["get", getObject],
  ["update", update],
  ["patch", patch],
]);
const NO_KUBELET: ByVerb = new Map<Verb, Handler>([
  ["get", connectToPod],
  ["create", connectToPod],
]);
const SCALE: ByVerb = new Map<Verb, Handler>([
  ["get", getScale],
  ["update", updateScale],
  ["patch", patchScale],
]);

/** By "collection/subresource", or by the subresource's name alone. */
const SUBRESOURCES: ReadonlyMap<string, ByVerb> = new Map<string, ByVerb>([
  ["scale", SCALE],
  ["/namespaces/finalize", new Map<Verb, Handler>([["update", finalizeNamespace]])],
  ["/serviceaccounts/token", new Map<Verb, Handler>([["create", requestToken]])],
  ["/pods/binding", new Map<Verb, Handler>([["create", bindPod]])],
  ["/pods/eviction", new Map<Verb, Handler>([["create", evictPod]])],
  ["/pods/log", new Map<Verb, Handler>([["get", podLog]])],
  ["/pods/exec", NO_KUBELET],
  ["/pods/attach", NO_KUBELET],
  ["/pods/portforward", NO_KUBELET],
  ["/pods/proxy", forAllVerbs(proxyToPod)],
  ["/services/proxy", forAllVerbs(proxyToService)],
  ["/nodes/proxy", forAllVerbs(proxyToNode)],
]);

function forAllVerbs(handler: Handler): ByVerb {
  return new Map((["get", "create", "update", "patch", "delete"] as const).map((verb) => [verb, handler]));
}

export function dispatchSubresource(call: RequestContext): PendingResponse {
  const { type, subresource = "", verb, rest } = call.target;
  // only a proxy has further path segments
  if (rest.length > 0 && subresource !== "proxy" && !type.custom) return unknownResource();
  const handlers = SUBRESOURCES.get(`${type.collection}/${subresource}`) ?? SUBRESOURCES.get(subresource) ?? OBJECT_HANDLERS;
  const handler = handlers.get(verb);
  if (handler !== undefined) return handler(call);
  return type.custom ? methodNotSupported(type.resource, verb) : methodNotAllowed();
}

/** The only way to remove a finalizer of a namespace; the status is not changed. */
function finalizeNamespace(call: RequestContext): PendingResponse {
  const options = writeOptions(call.request, "UpdateOptions");
  if (!options.ok) return options;
  const decoded = decodeBody(call, options.value.fieldValidation);
  if (!decoded.ok) return decoded;
  const { type, name = "" } = call.target;
  const placed = matchNameAndNamespace(call, type.applyDefaults(decoded.value));
  if (!placed.ok) return placed;
  const prepare = (next: KubeObject, old: KubeObject) => asObject({ ...asJsonObject(next), status: fieldAt(old, "status") ?? {} });
  const finalize = (previous: Stored | undefined): PendingResponse => {
    if (previous === undefined) return notFound({ resource: type.resource, name });
    const written = updateObject(call, { previous, next: placed.value, options: options.value, tracked: false, prepare });
    return whenOk(written, (object) => objectResponse(call, 200, object));
  };
  return changeStored(call, finalize, options.value);
}
