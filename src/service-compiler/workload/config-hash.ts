/**
 * A hash that changes with any config of the pods, so that they roll.
 *
 * Secret contents are hashed with a key: the hash is in the Deployment, which is not secret, and a plain hash of a weak password can
 * be guessed. Values of External Secrets are unknown here, so the resourceVersion of their Secret is used.
 */
import { hmacSha256Hex, reveal, sha256Hex, type Sensitive } from "#base";
import { canonicalJson, type Json, type KubeObject } from "#kube";

export type HashInput = {
  readonly objects: readonly KubeObject[];
  readonly key: Sensitive<string>;
  readonly syncedVersion: (name: string) => string | undefined;
};

export function configHash({ objects, key, syncedVersion }: HashInput): string {
  const entries = objects.map((object): Json => [object.kind, object.metadata.name, contentOf(object, reveal(key), syncedVersion)]);
  const sorted = entries.map((entry) => canonicalJson(entry)).toSorted();
  return `sha256:${sha256Hex(`[${sorted.join(",")}]`)}`;
}

function contentOf(object: KubeObject, key: string, syncedVersion: HashInput["syncedVersion"]): Json {
  const { data, spec } = object as { readonly data?: Json; readonly spec?: Json };
  if (object.kind === "Secret") return hmacSha256Hex(key, canonicalJson(data ?? {}));
  if (object.kind === "ExternalSecret") return [spec ?? {}, syncedVersion(object.metadata.name) ?? ""];
  return data ?? {};
}
