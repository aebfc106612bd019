/**
 * ConfigMaps, Secrets and ExternalSecrets for the texts of one container. The object of a text follows from its value: plain texts go to a
 * ConfigMap, sensitive ones to a Secret, those of an external store to an ExternalSecret that creates the Secret in the cluster.
 *
 * Secrets use `data`: every apply of `stringData` would be a change.
 */
import { base64OfBytes, base64OfText, parseDuration, reveal } from "#base";
import type { KubeObject } from "#kube";
import type { ExternalReference, Value } from "../templates/index.ts";
import { CONFIG_TYPE_LABEL, metadataFor, type WorkloadOwner } from "./names.ts";

export type Content = { readonly kind: "text"; readonly value: Value } | { readonly kind: "bytes"; readonly bytes: Uint8Array };

export type ConfigNames = { readonly open: string; readonly closed: string; readonly outside: string };

export type ConfigObjects = {
  readonly open: KubeObject | undefined;
  readonly closed: KubeObject | undefined;
  readonly outside: KubeObject | undefined;
};

export type ConfigPlan = {
  readonly owner: WorkloadOwner;
  readonly names: ConfigNames;
  readonly types: { readonly open: string; readonly closed: string };
  readonly contents: ReadonlyMap<string, Content>;
};

/** Which of the objects holds it. */
export function homeOf(content: Content): "open" | "closed" | "outside" {
  if (content.kind === "bytes") return "closed";
  return content.value.kind === "plain" ? "open" : content.value.kind === "sensitive" ? "closed" : "outside";
}

export function configObjects({ owner, names, types, contents }: ConfigPlan): ConfigObjects {
  const open: [string, string][] = [];
  const closed: [string, string][] = [];
  const outside = new Map<string, readonly (string | ExternalReference)[]>();
  for (const [key, content] of contents) {
    if (content.kind === "bytes") closed.push([key, base64OfBytes(content.bytes)]);
    else if (content.value.kind === "plain") open.push([key, content.value.text]);
    else if (content.value.kind === "sensitive") closed.push([key, base64OfText(reveal(content.value.text))]);
    else outside.set(key, content.value.parts);
  }
  return {
    open: open.length === 0 ? undefined : configMap(metadataFor(owner, names.open, { [CONFIG_TYPE_LABEL]: types.open }), open),
    closed: closed.length === 0 ? undefined : opaqueSecret(metadataFor(owner, names.closed, { [CONFIG_TYPE_LABEL]: types.closed }), closed),
    outside:
      outside.size === 0 ? undefined : externalSecret(metadataFor(owner, names.outside, { [CONFIG_TYPE_LABEL]: types.closed }), outside),
  };
}

type Entry = readonly [string, string];

function configMap(metadata: KubeObject["metadata"], data: readonly Entry[]): KubeObject {
  return { apiVersion: "v1", kind: "ConfigMap", metadata, data: Object.fromEntries(data) } as KubeObject;
}

function opaqueSecret(metadata: KubeObject["metadata"], data: readonly Entry[]): KubeObject {
  return { apiVersion: "v1", kind: "Secret", metadata, type: "Opaque", data: Object.fromEntries(data) } as KubeObject;
}

/** Each reference is fetched under its own name; the template of the ExternalSecret joins the texts in the cluster. */
function externalSecret(
  metadata: KubeObject["metadata"],
  outside: ReadonlyMap<string, readonly (string | ExternalReference)[]>,
): KubeObject {
  const references = new Map<string, { readonly name: string; readonly reference: ExternalReference }>();
  const nameOf = (reference: ExternalReference) => {
    const id = JSON.stringify([reference.store, reference.key, reference.property]);
    const known = references.get(id) ?? { name: `value${references.size}`, reference };
    references.set(id, known);
    return known.name;
  };
  const data = Object.fromEntries(
    [...outside].map(([key, parts]) => [
      key,
      parts.map((part) => (typeof part === "string" ? goText(part) : `{{ .${nameOf(part)} }}`)).join(""),
    ]),
  );
  const all = [...references.values()];
  const first = all[0]?.reference;
  return {
    apiVersion: "external-secrets.io/v1",
    kind: "ExternalSecret",
    metadata,
    spec: {
      refreshInterval: shortest(all.map(({ reference }) => reference.refreshInterval)),
      ...(first === undefined ? {} : { secretStoreRef: first.store }),
      target: {
        name: metadata.name,
        creationPolicy: "Owner",
        template: { engineVersion: "v2", metadata: { labels: metadata.labels }, data },
      },
      data: all.map(({ name, reference }) => ({
        secretKey: name,
        remoteRef: { key: reference.key, property: reference.property },
        ...(reference.store.name === first?.store.name && reference.store.kind === first.store.kind
          ? {}
          : { sourceRef: { storeRef: reference.store } }),
      })),
    },
  } as KubeObject;
}

/** Escapes text for Go templates. A brace at its end could open an action together with those of the next value. */
function goText(text: string): string {
  return text.replaceAll(/\{(?=\{|$)/g, '{{ "{" }}');
}

/** The shortest refresh interval applies to all that are combined. */
function shortest(intervals: readonly string[]): string {
  const length = (text: string) => {
    const duration = parseDuration(text);
    return duration.ok ? duration.value : Number.POSITIVE_INFINITY;
  };
  return intervals.toSorted((a, b) => length(a) - length(b))[0] ?? "1h";
}
