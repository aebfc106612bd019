/**
 * What an installation has created in a bootstrap cluster that was there before: ConfigMap kube-system/lattice-install. It is written before the first object, and
 * deleted after the last one, so that a run that was killed is continued and nothing of it is left.
 */
import { err, ok, type Result } from "#base";
import { configMaps, field, parseJson, type ConfigMap, type Json, type KubeObject } from "#kube";
import type { CallOptions, KubeClient } from "#kube-client";

export const BOOTSTRAP_RECORD = { namespace: "kube-system", name: "lattice-install" } as const;
const FIELD_MANAGER = "lattice-install";
const STATES = ["preparing", "prepared", "removing"] as const;

export type CreatedObject = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace?: string | undefined;
  readonly name: string;
};

export type BootstrapRecord = {
  /** The name of the management cluster. */
  readonly cluster: string;
  readonly state: (typeof STATES)[number];
  /** Objects that did not exist before, in the order of their creation. */
  readonly objects: readonly CreatedObject[];
};

/** Undefined: no installation uses the cluster. */
export async function readBootstrapRecord(
  client: Pick<KubeClient, "get">,
  options: CallOptions,
): Promise<Result<BootstrapRecord | undefined, string>> {
  const found = await client.get(configMaps, BOOTSTRAP_RECORD, options);
  if (!found.ok) return found.error.kind === "not-found" ? ok(undefined) : err(found.error.message);
  const record = parseRecord(found.value);
  const { namespace, name } = BOOTSTRAP_RECORD;
  return record === undefined ? err(`ConfigMap ${namespace}/${name} was not written by lattice install; delete it`) : ok(record);
}

function parseRecord({ data = {} }: ConfigMap): BootstrapRecord | undefined {
  const { cluster, state: text, objects: listed = "" } = data;
  const state = STATES.find((one) => one === text);
  const parsed = parseJson(listed);
  if (cluster === undefined || state === undefined || !parsed.ok || !Array.isArray(parsed.value)) return undefined;
  const objects = parsed.value.flatMap(createdOf);
  return objects.length === parsed.value.length ? { cluster, state, objects } : undefined;
}

function createdOf(value: Json): readonly CreatedObject[] {
  const [apiVersion, kind, namespace, name] = ["apiVersion", "kind", "namespace", "name"].map((key) => field(value, key));
  if (typeof apiVersion !== "string" || typeof kind !== "string" || typeof name !== "string") return [];
  return [{ apiVersion, kind, name, ...(typeof namespace === "string" ? { namespace } : {}) }];
}

export function createdObject({ apiVersion, kind, metadata: { namespace, name } }: KubeObject): CreatedObject {
  return { apiVersion, kind, name, ...(namespace === undefined ? {} : { namespace }) };
}

/** Versions of one group are one object. */
export function createdKey({ apiVersion, kind, namespace = "", name }: CreatedObject): string {
  return [apiVersion.includes("/") ? apiVersion.slice(0, apiVersion.indexOf("/")) : "", kind, namespace, name].join(" ");
}

export async function writeBootstrapRecord(
  client: Pick<KubeClient, "apply">,
  { cluster, state, objects }: BootstrapRecord,
  options: CallOptions,
): Promise<Result<void, string>> {
  const map: ConfigMap = {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { ...BOOTSTRAP_RECORD },
    data: { cluster, state, objects: JSON.stringify(objects) },
  };
  const written = await client.apply(configMaps, map, { fieldManager: FIELD_MANAGER, force: true, ...options });
  return written.ok ? ok(undefined) : err(`ConfigMap ${BOOTSTRAP_RECORD.name} cannot be written: ${written.error.message}`);
}

export async function deleteBootstrapRecord(client: Pick<KubeClient, "delete">, options: CallOptions): Promise<Result<void, string>> {
  const removed = await client.delete(configMaps, BOOTSTRAP_RECORD, options);
  return removed.ok || removed.error.kind === "not-found"
    ? ok(undefined)
    : err(`ConfigMap ${BOOTSTRAP_RECORD.name} cannot be deleted: ${removed.error.message}`);
}
