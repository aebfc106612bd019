/** Flagger's config tracking: a copy of every ConfigMap and Secret that a pod refers to, under NAME-primary, and a pod that refers to the copies. */
import { expectOk, type Result } from "#base";
import { fieldAt, isJsonObject, type Json, type JsonObject, type KubeObject } from "#kube";
import type { KubeError } from "#kube-client";

export type ConfigAccess = {
  readonly read: (kind: string, name: string) => Promise<Result<KubeObject, KubeError>>;
  /** Creates or replaces it. */
  readonly write: (kind: string, copy: KubeObject) => Promise<void>;
};

/** Fields of a pod that name a ConfigMap or a Secret. Secrets of imagePullSecrets are not tracked. */
const KINDS: Readonly<Record<string, string>> = {
  configMapRef: "ConfigMap",
  configMapKeyRef: "ConfigMap",
  configMap: "ConfigMap",
  secretRef: "Secret",
  secretKeyRef: "Secret",
  secret: "Secret",
};
const DISABLED = "flagger.app/config-tracking";

/** One after the other: a pod may refer to a ConfigMap more than once. */
export async function copiedConfig(value: Json, access: ConfigAccess): Promise<Json> {
  if (Array.isArray(value)) {
    const items: Json[] = [];
    for (const one of value as readonly Json[]) items.push(await copiedConfig(one, access));
    return items;
  }
  if (!isJsonObject(value)) return value;
  const fields: Record<string, Json> = {};
  for (const [field, inner = null] of Object.entries(value)) {
    const kind = KINDS[field];
    fields[field] =
      kind === undefined || !isJsonObject(inner) ? await copiedConfig(inner, access) : await copiedReference(kind, inner, access);
  }
  return fields;
}

async function copiedReference(kind: string, reference: JsonObject, { read, write }: ConfigAccess): Promise<JsonObject> {
  const field = reference["name"] === undefined ? "secretName" : "name";
  const name = textOf(reference[field]);
  const found = await read(kind, name);
  if (!found.ok && reference["optional"] === true) return reference;
  const config = expectOk(found);
  if (textOf(fieldAt(config, "metadata", "annotations", DISABLED)).startsWith("disable")) return reference;
  const { type, data } = config as KubeObject & { readonly type?: string; readonly data?: JsonObject };
  const metadata = { name: `${name}-primary`, labels: config.metadata.labels };
  await write(kind, {
    apiVersion: "v1",
    kind,
    metadata,
    ...(type === undefined ? {} : { type }),
    ...(data === undefined ? {} : { data }),
  } as KubeObject);
  return { ...reference, [field]: `${name}-primary` };
}

function textOf(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}
