/**
 * ConfigMap `kube-system/extension-apiserver-authentication`: the authorities of client certificates, for extension servers that authenticate
 * as this server does. A server without an authority for a front proxy publishes `client-ca-file` only.
 *
 * As on a real server, authorities that are published already stay until they expire, other data is removed, and a text that is no bundle is
 * left unchanged. A real server restores a deleted ConfigMap at once and a changed one within a minute; here both are restored at once.
 */
import { systemClock, timestamp } from "#base";
import { fieldAt, isJsonObject, type Json, type JsonObject, type KubeObject } from "#kube";
import { combineBundles } from "#pki";
import { newUid } from "../../protocol/core.ts";
import type { BootstrapContext } from "./bootstrap.ts";

const NAMESPACE = "kube-system";
const NAME = "extension-apiserver-authentication";
const FIELD = "client-ca-file";
const MANAGER = "kube-apiserver";

/** For callers that need the list of objects that the server writes itself. */
export const CLIENT_AUTHORITY = { collection: "/configmaps", key: `${NAMESPACE}/${NAME}` } as const;

/** Publishes the PEM of an authority until `signal` ends it. */
export function publishClientAuthority(context: BootstrapContext, pem: string, signal: AbortSignal): void {
  if (context.types.find("", "v1", "configmaps") === undefined) return;
  const { collection, key } = CLIENT_AUTHORITY;
  putAuthority(context, pem);
  const watching = context.store.watch({
    collection,
    from: context.store.revision,
    onEvent: (event) => {
      if (event.key === key) putAuthority(context, pem);
    },
  });
  if (watching.ok) signal.addEventListener("abort", watching.value.end, { once: true });
}

/** A store that cannot be written is reported by the first request that writes. */
function putAuthority({ store, clock, random }: BootstrapContext, pem: string): void {
  const { collection, key } = CLIENT_AUTHORITY;
  const known = store.get(collection, key);
  const published = fieldAt(known?.object, "data", FIELD);
  // certificates are checked with the time of the machine
  const bundle = combineBundles(typeof published === "string" ? published : "", pem, systemClock.now());
  if (!bundle.ok || isPublished(known?.object, bundle.value)) return;
  const now = timestamp(clock);
  const metadata: JsonObject = {
    name: NAME,
    namespace: NAMESPACE,
    uid: newUid(random),
    creationTimestamp: now,
    ...(known?.object.metadata as JsonObject | undefined),
    managedFields: managersOf(known?.object, now),
  };
  const object = (revision: number) =>
    ({
      kind: "ConfigMap",
      apiVersion: "v1",
      metadata: { ...metadata, resourceVersion: String(revision) },
      data: { [FIELD]: bundle.value },
    }) as unknown as KubeObject;
  store.write({ collection, key, expected: known?.revision, object });
}

function isPublished(known: KubeObject | undefined, bundle: string): boolean {
  const data = fieldAt(known, "data");
  return isJsonObject(data) && Object.keys(data).length === 1 && data[FIELD] === bundle;
}

/** Other managers keep what they own outside the data. */
function managersOf(known: KubeObject | undefined, time: string): readonly Json[] {
  const fieldsV1 = { "f:data": { ".": {}, [`f:${FIELD}`]: {} } };
  const own = { manager: MANAGER, operation: "Update", apiVersion: "v1", time, fieldsType: "FieldsV1", fieldsV1 };
  const entries = fieldAt(known, "metadata", "managedFields");
  const others = (Array.isArray(entries) ? entries : []).flatMap((entry: Json) => withoutData(entry) ?? []);
  return [own, ...others];
}

function withoutData(entry: Json): Json | undefined {
  const fields = fieldAt(entry, "fieldsV1");
  if (!isJsonObject(entry) || !isJsonObject(fields) || entry["manager"] === MANAGER) return undefined;
  const { "f:data": _, ...rest } = fields;
  return Object.keys(rest).length === 0 ? undefined : { ...entry, fieldsV1: rest };
}
