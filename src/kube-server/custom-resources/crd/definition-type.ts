/**
 * The resource type of CustomResourceDefinition for the REST layer: its own methods over those of every built-in kind.
 */
import { field, type Json, type JsonObject, type KubeObject } from "#kube";
import type { ResourceType } from "../../resource-type.ts";
import { admitDecoded, warningsOf } from "./admit.ts";
import { decodeDefinition, readDefinition } from "./definition.ts";
import { asObject } from "./json-access.ts";

/** `base`: the type without any handling of CRDs. */
export function definitionType(base: ResourceType): ResourceType {
  return over(base, {
    decode: (value) => {
      const decoded = decodeDefinition(value);
      if (!decoded.ok) return decoded;
      return {
        ok: true,
        value: {
          object: asKube(decoded.value.definition.object),
          findings: decoded.value.unknown.map((path) => `unknown field "${path}"`),
        },
      };
    },
    applyDefaults: (object) => object,
    prepareForCreate: (object) =>
      withStored({ ...asJson(object), status: { conditions: null, acceptedNames: { plural: "", kind: "" } } }, undefined),
    prepareForUpdate: (next, previous, subresource) =>
      subresource === "status"
        ? asKube({ ...asJson(next), spec: field(previous, "spec") ?? {} })
        : withStored({ ...asJson(next), status: field(previous, "status") ?? {} }, previous),
    validate: (next, previous, subresource) =>
      admitDecoded(readDefinition(asJson(next)), previous === undefined ? undefined : readDefinition(asJson(previous)), subresource),
    warnings: (next, previous) =>
      warningsOf(readDefinition(asJson(next)), previous === undefined ? undefined : readDefinition(asJson(previous))),
    generationOf: (object) => field(object, "spec"),
    createOnUpdate: false,
    unconditionalUpdate: false,
  });
}

/** No spread of `base`: it would read its columns and its schema, which are made on first access. */
function over(base: ResourceType, own: Partial<ResourceType>): ResourceType {
  const parts = { ...Object.getOwnPropertyDescriptors(base), ...Object.getOwnPropertyDescriptors(own) };
  return Object.defineProperties({}, parts) as ResourceType;
}

/** Every version that was ever stored stays in the list. */
function withStored(crd: JsonObject, previous: KubeObject | undefined): KubeObject {
  const definition = readDefinition(crd);
  const before = previous === undefined ? [] : readDefinition(asJson(previous)).storedVersions;
  const storage = definition.versions.find((version) => version.storage)?.name;
  const stored = storage === undefined || before.includes(storage) ? before : [...before, storage];
  return asKube({ ...crd, status: { ...asObject(field(crd, "status")), storedVersions: stored.length === 0 ? null : [...stored] } });
}

function asJson(object: KubeObject): JsonObject {
  return object as unknown as JsonObject;
}

function asKube(object: Json): KubeObject {
  return object as unknown as KubeObject;
}
