/** Simple kinds for the tests of rest/, which test the server and not the rules of real kinds. */
import { field, fieldAt, isJsonObject, type JsonObject, type KubeObject } from "#kube";
import { deduced } from "../apply/index.ts";
import type { FieldCause, ResourceType } from "../resource-type.ts";
import { asJsonObject, asObject } from "../protocol/managed-kinds.ts";
import { plainText } from "../protocol/go-format.ts";

const VERBS = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];
const KNOWN = new Set(["apiVersion", "kind", "metadata", "data", "spec", "status"]);

type Given = { readonly kind: string; readonly plural: string; readonly namespaced: boolean } & Partial<ResourceType>;

export function testType({ kind, plural, namespaced, ...rest }: Given): ResourceType {
  return {
    resource: { group: "", version: "v1", kind, plural, namespaced },
    singular: kind.toLowerCase(),
    shortNames: [],
    categories: [],
    verbs: VERBS,
    subresources: new Set(),
    custom: false,
    collection: `/${plural}`,
    fromStorage: (object) => object,
    toStorage: (object) => object,
    strategicSchema: { group: "", version: "v1", kind },
    typeSchema: deduced,
    decode(value) {
      if (!isJsonObject(value)) return { ok: false, error: "json: cannot unmarshal string into Go value of type v1.Thing" };
      const data = field(value, "data");
      const wrong = isJsonObject(data) ? Object.values(data).find((item) => typeof item !== "string" && item !== null) : undefined;
      if (wrong !== undefined)
        return { ok: false, error: `json: cannot unmarshal number into Go struct field ${kind}.data of type string` };
      const findings = Object.keys(value)
        .filter((name) => !KNOWN.has(name))
        .map((name) => `unknown field "${name}"`);
      const kept = Object.fromEntries(Object.entries(value).filter(([name, item]) => KNOWN.has(name) && item !== null));
      const metadata = isJsonObject(kept["metadata"]) ? kept["metadata"] : {};
      const object: JsonObject = { ...kept, apiVersion: "v1", kind, metadata };
      return { ok: true, value: { object: asObject(object), findings } };
    },
    applyDefaults: (object) => object,
    prepareForCreate: (object) => object,
    prepareForUpdate: (next) => next,
    validate: (next): readonly FieldCause[] =>
      next.metadata.name === undefined || next.metadata.name === ""
        ? [{ reason: "FieldValueRequired", field: "metadata.name", detail: "Required value: name or generateName is required" }]
        : fieldAt(next, "data", "bad") === undefined
          ? []
          : [{ reason: "FieldValueInvalid", field: "data.bad", detail: 'Invalid value: "bad": must not be there' }],
    warnings: (next) => (fieldAt(next, "data", "warn") === undefined ? [] : ["data.warn: is not recommended"]),
    generationOf: undefined,
    createOnUpdate: false,
    unconditionalUpdate: true,
    deletion: { answersObject: false, defaultPropagation: "Background", gracePeriodSeconds: () => 0 },
    fieldSelectors: new Map(),
    columns: [{ name: "Name", type: "string", format: "name", description: "", priority: 0 }],
    cells: (object) => [object.metadata.name],
    ...rest,
  };
}

export const configMaps = testType({ kind: "ConfigMap", plural: "configmaps", namespaced: true });

export const namespaces = testType({
  kind: "Namespace",
  plural: "namespaces",
  namespaced: false,
  subresources: new Set(["status", "finalize"]),
  prepareForCreate: (object: KubeObject) =>
    asObject({ ...asJsonObject(object), spec: { finalizers: ["kubernetes"] }, status: { phase: "Active" } }),
});

/** Has a generation and a status subresource, and may be created by PUT. */
export const things = testType({
  kind: "Thing",
  plural: "things",
  namespaced: true,
  subresources: new Set(["status"]),
  generationOf: (object) => fieldAt(object, "spec"),
  createOnUpdate: true,
  unconditionalUpdate: false,
  fieldSelectors: new Map([["spec.colour", (object: KubeObject) => plainText(fieldAt(object, "spec", "colour") ?? "")]]),
  deletion: { answersObject: true, defaultPropagation: "Orphan", gracePeriodSeconds: () => 0 },
  prepareForUpdate: (next, previous, subresource) => {
    const [kept, changed] = subresource === "status" ? ["spec", "status"] : ["status", "spec"];
    const old = field(previous, kept);
    const now = field(next, changed);
    const { spec: _spec, status: _status, ...rest } = asJsonObject(next);
    return asObject({ ...rest, ...(old === undefined ? {} : { [kept]: old }), ...(now === undefined ? {} : { [changed]: now }) });
  },
});
