/** All served resources in the order of discovery: groups, versions by priority, resources by name. Both forms of discovery use it. */
import { createHash } from "node:crypto";
import { apiVersionOf, type KubeObject } from "#kube";
import { builtinDiscovery, type BuiltinSubresource } from "../builtin-kinds/discovery.ts";
import type { ResourceType } from "../resource-type.ts";
import type { TypeRegistry } from "../protocol/type-registry.ts";

export type ServedSubresource = BuiltinSubresource;

export type ServedResourceType = {
  readonly type: ResourceType;
  readonly subresources: readonly ServedSubresource[];
  /** Equal for resources that share their storage; "" for kinds that are never stored. */
  readonly storageHash: string;
};

export type ServedVersion = { readonly version: string; readonly resources: readonly ServedResourceType[] };
export type ServedGroup = { readonly name: string; readonly versions: readonly ServedVersion[] };

export function servedGroups(types: TypeRegistry): readonly ServedGroup[] {
  const builtin = Map.groupBy(
    [...types.all()].filter(({ custom }) => !custom),
    ({ resource }) => resource.group,
  );
  const custom = Map.groupBy(
    [...types.all()].filter((type) => type.custom),
    ({ resource }) => resource.group,
  );
  const last = [...custom].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([name, members]) => groupOf(name, members, byPriority));
  return [...[...builtin].map(([name, members]) => groupOf(name, members)), ...last];
}

function groupOf(name: string, types: readonly ResourceType[], order?: (a: string, b: string) => number): ServedGroup {
  const byVersion = Map.groupBy(types, ({ resource }) => resource.version);
  const versions = order === undefined ? [...byVersion.keys()] : [...byVersion.keys()].toSorted(order);
  return { name, versions: versions.map((version) => ({ version, resources: resourcesOf(byVersion.get(version) ?? []) })) };
}

function resourcesOf(types: readonly ResourceType[]): readonly ServedResourceType[] {
  const sorted = types.toSorted((a, b) => (a.resource.plural < b.resource.plural ? -1 : 1));
  return sorted.map((type) => ({ type, subresources: subresourcesOf(type), storageHash: storageHash(type) }));
}

function subresourcesOf(type: ResourceType): readonly ServedSubresource[] {
  const { group, version, plural, kind } = type.resource;
  const known = builtinDiscovery().find((one) => one.group === group && one.version === version && one.plural === plural);
  if (known !== undefined) return known.subresources;
  const verbs = ["get", "patch", "update"];
  const scale = { name: "scale", kind: { group: "autoscaling", version: "v1", kind: "Scale" }, verbs };
  const status = { name: "status", kind: { group, version, kind }, verbs };
  return [...(type.subresources.has("status") ? [status] : []), ...(type.subresources.has("scale") ? [scale] : [])];
}

/** Kinds that a real server of this version stores in a beta version, which determines the hash. */
const STORED_AS_BETA = new Set(["CustomResourceDefinition", "MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding"]);

function storageHash(type: ResourceType): string {
  if (!type.verbs.includes("get") || !type.verbs.includes("create")) return "";
  const { kind } = type.resource;
  const bare: KubeObject = { apiVersion: apiVersionOf(type.resource), kind, metadata: { name: "" } };
  const stored = type.toStorage(bare).apiVersion;
  const apiVersion = !type.custom && STORED_AS_BETA.has(kind) ? `${type.resource.group}/v1beta1` : stored;
  const named = apiVersion.includes("/") ? apiVersion : `/${apiVersion}`;
  return createHash("sha256").update(`${named}/${kind}`).digest().subarray(0, 8).toString("base64");
}

const STABILITY: Readonly<Record<string, number>> = { alpha: 0, beta: 1, "": 2 };

/** The order that Kubernetes defines: v2, v1, v2beta1, v1alpha1, then all others by name. */
export function byPriority(a: string, b: string): number {
  const [left, right] = [rank(a), rank(b)];
  if (left === undefined || right === undefined) {
    if (left === right) return a < b ? -1 : 1;
    return left === undefined ? 1 : -1;
  }
  for (const [index, value] of left.entries()) {
    const other = right[index] ?? 0;
    if (value !== other) return other - value;
  }
  return 0;
}

function rank(version: string): readonly number[] | undefined {
  const parts = /^v([1-9]\d*)(?:(alpha|beta)([1-9]\d*))?$/.exec(version);
  if (parts === null) return undefined;
  return [STABILITY[parts[2] ?? ""] ?? 0, Number(parts[1]), Number(parts[3] ?? 0)];
}
