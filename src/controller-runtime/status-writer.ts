/**
 * Writes the status subresource: when something changed, and only then.
 *
 * A PUT with the resourceVersion, not server-side apply: conditions of others must be kept on every kind, also where the
 * schema does not mark the list as a map, and a status computed from an old object must never overwrite a newer one. The
 * body has no managedFields, because the cache has only our own entry and a PUT would remove the others.
 */
import { err, ok, timestamp, type Clock, type Result } from "#base";
import {
  field,
  isJsonObject,
  jsonEqual,
  keyOf,
  setConditions,
  type Condition,
  type JsonObject,
  type KubeObject,
  type Resource,
} from "#kube";
import type { KubeError, KubeReader, KubeWriter } from "#kube-client";
import type { DesiredStatus } from "./controller.ts";
import { safeText } from "./safe-text.ts";

const STATUS_FIELD_MANAGER = "lattice-status";
const ATTEMPTS = 5;
/** Limit of `status.message`; the schemas allow more, but it is read on a terminal. */
const MAX_STATUS_MESSAGE_BYTES = 4_096;

export type StatusRequest = {
  readonly client: KubeReader & KubeWriter;
  readonly clock: Clock;
  readonly resource: Resource;
  /** The object as this pass saw it. */
  readonly object: KubeObject;
  readonly desired: DesiredStatus;
  readonly signal: AbortSignal;
};

/** Whether something was written. */
export async function writeStatus(request: StatusRequest): Promise<Result<boolean, KubeError>> {
  const { client, clock, resource, object, signal } = request;
  let { desired } = request;
  let live = object;
  for (let attempt = 1; ; attempt += 1) {
    const status = nextStatus({ live, seen: object, desired, now: timestamp(clock) });
    if (status === undefined) return ok(false);
    const body = { ...withoutManagedFields(live), status };
    const answer = await client.update<KubeObject>(resource, body, { subresource: "status", fieldManager: STATUS_FIELD_MANAGER, signal });
    if (answer.ok) return ok(true);
    if (answer.error.kind === "not-found") return ok(false);
    // the same status would be rejected again and again; phase, message and conditions are enough
    if (isRefused(answer.error) && hasDetails(desired)) {
      desired = withoutDetails(desired);
      continue;
    }
    if (answer.error.kind !== "conflict" || attempt >= ATTEMPTS) return answer;
    const newest = await client.get<KubeObject>(resource, keyOf(object), { signal });
    if (!newest.ok) return newest.error.kind === "not-found" ? ok(false) : err(newest.error);
    live = newest.value;
  }
}

const REQUEST_TOO_LARGE = 413;

function isRefused({ kind, code }: KubeError): boolean {
  return kind === "invalid" || code === REQUEST_TOO_LARGE;
}

const ESSENTIAL: ReadonlySet<string> = new Set(["phase", "message", "conditions"]);

function hasDetails(desired: DesiredStatus): boolean {
  return Object.entries(desired).some(([name, value]) => !ESSENTIAL.has(name) && value !== undefined);
}

/** Details that were written before are removed: they are out of date. */
function withoutDetails(desired: DesiredStatus): DesiredStatus {
  return Object.fromEntries(Object.entries(desired).map(([name, value]) => [name, ESSENTIAL.has(name) ? value : undefined]));
}

export type StatusChange = {
  readonly live: KubeObject;
  readonly seen: KubeObject;
  readonly desired: DesiredStatus;
  readonly now: string;
};

/** The status to write; undefined when the live one is equal, newer, or that of another object. */
export function nextStatus({ live, seen, desired, now }: StatusChange): JsonObject | undefined {
  if (live.metadata.uid !== seen.metadata.uid) return undefined;
  const before = field(live, "status");
  const old = isJsonObject(before) ? before : {};
  const generation = seen.metadata.generation;
  const observed = old["observedGeneration"];
  if (typeof observed === "number" && generation !== undefined && observed > generation) return undefined;
  const { conditions = [], ...fields } = desired;
  const ours = conditions.map(({ type, status, reason, message, observedGeneration = generation }) => {
    const condition = { type, status, reason, message: safeText(message) };
    return observedGeneration === undefined ? condition : { ...condition, observedGeneration };
  });
  const next = {
    ...old,
    ...(generation === undefined ? {} : { observedGeneration: generation }),
    ...fields,
    ...(typeof fields["message"] === "string" ? { message: safeText(fields["message"], MAX_STATUS_MESSAGE_BYTES) } : {}),
    conditions: setConditions(conditionsOf(old), ours, now),
  } as JsonObject;
  return jsonEqual(next, { conditions: [], ...old }) ? undefined : next;
}

/** Any client may have written the object: an entry without a type is not a condition. */
export function conditionsOf(status: unknown): readonly Condition[] {
  const list = field(status, "conditions");
  if (!Array.isArray(list)) return [];
  return list.filter((item) => typeof field(item, "type") === "string");
}

function withoutManagedFields(object: KubeObject): KubeObject {
  const { managedFields: _managedFields, ...metadata } = object.metadata;
  return { ...object, metadata };
}
