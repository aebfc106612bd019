/** A Scale: made from the object it stands for, read from what a client sent, and written back into the object. */
import { err, ok, type Result } from "#base";
import { apiVersionOf, field, fieldAt, isJsonObject, type Json, type JsonObject, type KubeObject } from "#kube";
import { goKind } from "../decode-body.ts";
import { asJsonObject, asObject } from "../managed-kinds.ts";
import { withMetadata } from "../object-meta.ts";
import type { ScalePaths } from "./scale-paths.ts";

export const SCALE = { group: "autoscaling", version: "v1", kind: "Scale", plural: "scales", namespaced: true } as const;
export const API_VERSION = apiVersionOf(SCALE);

export function scaleOf(parent: KubeObject, paths: ScalePaths): KubeObject {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = parent.metadata;
  const replicas = numberAt(parent, paths.replicas);
  const selector = paths.selector(parent);
  const bare = { kind: "Scale", apiVersion: API_VERSION, metadata: { name } };
  return asObject({
    ...withMetadata(bare, { namespace, uid, resourceVersion, creationTimestamp }),
    spec: replicas === 0 ? {} : { replicas },
    status: { replicas: numberAt(parent, paths.statusReplicas), ...(selector === "" ? {} : { selector }) },
  } as unknown as JsonObject);
}

export function numberAt(object: KubeObject, path: readonly string[]): number {
  const value = fieldAt(object, ...path);
  return typeof value === "number" ? value : 0;
}

const KNOWN: Readonly<Record<string, readonly string[]>> = {
  "": ["apiVersion", "kind", "metadata", "spec", "status"],
  spec: ["replicas"],
  status: ["replicas", "selector"],
};

/** What a client said that a Scale does not know. */
export function unknownInScale(value: Json): readonly string[] {
  return Object.entries(KNOWN).flatMap(([place, known]) => {
    const fields = place === "" ? value : field(value, place);
    const unknown = Object.keys(isJsonObject(fields) ? fields : {}).filter((name) => !known.includes(name));
    return unknown.map((name) => `unknown field "${place === "" ? name : `${place}.${name}`}"`);
  });
}

/** A Scale is small enough to be checked by hand. */
export function decodeScale(value: Json): Result<KubeObject, string> {
  if (!isJsonObject(value)) return err(`json: cannot unmarshal ${goKind(value)} into Go value of type v1.Scale`);
  const replicas = fieldAt(value, "spec", "replicas");
  if (replicas !== undefined && replicas !== null && (typeof replicas !== "number" || !Number.isInteger(replicas))) {
    const found = typeof replicas === "number" ? `number ${replicas}` : goKind(replicas);
    return err(`json: cannot unmarshal ${found} into Go struct field ScaleSpec.spec.replicas of type int32`);
  }
  const metadata = field(value, "metadata");
  const head = { kind: "Scale", apiVersion: API_VERSION, metadata: isJsonObject(metadata) ? metadata : {} };
  return ok(withMetadata(asObject({ ...value, ...head }), {}));
}

export function setAt(object: KubeObject, path: readonly string[], value: number): KubeObject {
  const set = (at: JsonObject, [name = "", ...rest]: readonly string[]): JsonObject => {
    const inner = field(at, name);
    return { ...at, [name]: rest.length === 0 ? value : set(isJsonObject(inner) ? inner : {}, rest) };
  };
  return asObject(set(asJsonObject(object), path));
}
