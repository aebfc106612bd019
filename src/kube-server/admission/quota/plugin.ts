/**
 * ResourceQuota: limits the resources of a namespace.
 *
 * The usage of a request is written into the quota's status before the object is stored, and nothing is awaited between reading and writing. So
 * the next request reads it, also among many concurrent requests. A request that fails later leaves a usage that is too high until the quota is
 * recounted, as on a real server.
 */
import { ok, timestamp, type Result } from "#base";
import { claimUsageMoved, evaluatorOf, isTerminating, readQuota, writeAmounts, type JsonObject, type ParsedQuota } from "#kube";
import { trackUpdate } from "../../apply/index.ts";
import { asJsonObject, asObject, managedKind } from "../../protocol/managed-kinds.ts";
import { withMetadata } from "../../protocol/object-meta.ts";
import { internalError, type Failure } from "../../protocol/status.ts";
import { forbid } from "../forbid.ts";
import type { AdmissionContext, AdmissionPlugin, Attributes } from "../../protocol/admission-port.ts";
import { checkRequest, type Charged } from "./check-request.ts";
import type { Stored } from "../../store/index.ts";

const QUOTAS = "/resourcequotas";

type StoredQuota = ParsedQuota & { readonly stored: Stored };

export function resourceQuota(context: AdmissionContext): AdmissionPlugin {
  return { name: "ResourceQuota", validate: (attributes) => validate(context, attributes) };
}

function validate(context: AdmissionContext, attributes: Attributes): Result<undefined, Failure> {
  const { object, namespace, type, dryRun } = attributes;
  if (context.store.count(QUOTAS) === 0 || namespace === undefined || object === undefined || !mayCost(attributes)) return ok(undefined);
  const evaluator = evaluatorOf(type.resource.group, type.resource.plural);
  if (evaluator === undefined) return ok(undefined);
  const quotas = quotasIn(context, namespace);
  const checked = checkRequest(quotas, { attributes, object, evaluator, now: context.clock.now() });
  if (!checked.ok) return forbid(attributes, checked.error);
  return dryRun ? ok(undefined) : writeAll(context, checked.value);
}

/** The requests that can increase the usage. All others pass at once. */
function mayCost({ operation, type, subresource, object, old }: Attributes): boolean {
  const isUpdate = operation === "UPDATE";
  switch (`${type.collection}/${subresource ?? ""}`) {
    case "/pods/":
      return operation === "CREATE" || (isUpdate && isTerminating(object) !== isTerminating(old));
    case "/pods/resize":
      return isUpdate;
    case "/services/":
    case "/persistentvolumeclaims/":
    case "resource.k8s.io/resourceclaims/":
      return operation === "CREATE" || isUpdate;
    case "/persistentvolumeclaims/status":
      return claimUsageMoved(object, old);
    default:
      return subresource === undefined && operation === "CREATE";
  }
}

function quotasIn({ store }: AdmissionContext, namespace: string): readonly StoredQuota[] {
  const listed = store.list(QUOTAS, { namespace });
  return listed.ok ? listed.value.items.map((stored) => ({ ...readQuota(stored.object), stored })) : [];
}

function writeAll(context: AdmissionContext, charged: readonly Charged<StoredQuota>[]): Result<undefined, Failure> {
  for (const one of charged) {
    const written = writeUsed(context, one);
    if (!written.ok) return written;
  }
  return ok(undefined);
}

/** With the field manager of the API server, through the status subresource. */
function writeUsed({ store, types, clock }: AdmissionContext, { quota, used }: Charged<StoredQuota>): Result<undefined, Failure> {
  const type = types.find("", "v1", "resourcequotas");
  const { key, revision, object } = quota.stored;
  const old = asJsonObject(object);
  const next = { ...old, status: { ...(old["status"] as JsonObject | undefined), used: writeAmounts(used) } };
  const kind = type === undefined ? undefined : managedKind(types, type, "status");
  const tracked = kind === undefined ? ok(next) : trackUpdate({ ...kind, manager: "kube-apiserver", now: timestamp(clock), old, next });
  const owned = asObject(tracked.ok ? tracked.value : next);
  const written = store.write({
    collection: QUOTAS,
    key,
    expected: revision,
    object: (newRevision) => withMetadata(owned, { resourceVersion: String(newRevision) }),
  });
  if (written.ok) return ok(undefined);
  return internalError(written.error.kind === "storage" ? written.error.message : `the quota ${key} changed while it was charged`);
}
