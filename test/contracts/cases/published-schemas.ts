/**
 * The schemas of custom resources in /openapi/v3 and /openapi/v2. Version 2 has no combinations of schemas, no defaults and no
 * null, so a server omits parts of a schema there; each claim is about one field.
 */
import { expect } from "vitest";
import { fieldAt, type Json } from "#kube";
import type { Api } from "../client/api.ts";
import type { ApiResponse } from "../client/api-response.ts";
import { area } from "../contract.ts";
import { Things, v1 } from "./definitions.ts";

/** Fields named like keywords of a schema, or like members of JavaScript objects. Parsed from text: a literal would set the prototype. */
const NAMES: Readonly<Record<string, object>> = JSON.parse(`{
  "default": {"type": "string"}, "nullable": {"type": "boolean"}, "oneOf": {"type": "array", "items": {"type": "string"}},
  "anyOf": {"type": "string"}, "allOf": {"type": "string"}, "not": {"type": "string"}, "items": {"type": "string"}, "$ref": {"type": "string"},
  "properties": {"type": "object", "properties": {"type": {"type": "integer"}}}, "required": {"type": "array", "items": {"type": "string"}},
  "additionalProperties": {"type": "boolean"}, "x-kubernetes-preserve-unknown-fields": {"type": "boolean"},
  "__proto__": {"type": "string"}, "constructor": {"type": "string"}
}`) as Readonly<Record<string, object>>;

const OPEN = { "x-kubernetes-preserve-unknown-fields": true };
const EMBEDDED = { "x-kubernetes-embedded-resource": true };
const PORT = { "x-kubernetes-int-or-string": true };
const NUMBER_OR_TEXT = [{ type: "integer" }, { type: "string" }];
const HEAD = ["apiVersion", "kind", "metadata"];

type Row = { readonly given: Readonly<Record<string, unknown>>; readonly v3?: object; readonly v2: object };

/** A field, its form in v3 if that differs, and its form in v2. */
const FIELDS: Readonly<Record<string, Row>> = {
  text: {
    given: { type: "string", title: "T", description: "Some text.", default: "a", enum: ["a", "b"], maxLength: 3, pattern: "^[ab]$" },
    v2: { type: "string", title: "T", description: "Some text.", enum: ["a", "b"], maxLength: 3, pattern: "^[ab]$" },
  },
  nullText: { given: { type: "string", nullable: true }, v2: {} },
  nullObject: { given: { type: "object", nullable: true, default: { a: "b" }, properties: { a: { type: "string" } } }, v2: {} },
  nullMap: {
    given: { type: "object", required: ["a"], additionalProperties: { type: "string", nullable: true } },
    v2: { type: "object", additionalProperties: {} },
  },
  open: { given: { type: "object", ...OPEN, properties: { a: { type: "string" } } }, v2: OPEN },
  openList: { given: { type: "array", ...OPEN, items: { type: "object" } }, v2: OPEN },
  openItems: { given: { type: "array", items: { type: "object", ...OPEN } }, v2: { type: "array", items: OPEN } },
  anything: { given: OPEN, v2: OPEN },
  numbers: {
    given: { type: "object", additionalProperties: { type: "integer", format: "int32", minimum: 1, exclusiveMinimum: true, default: 2 } },
    v2: { type: "object", additionalProperties: { type: "integer", format: "int32", minimum: 1, exclusiveMinimum: true } },
  },
  anyMap: { given: { type: "object", additionalProperties: true }, v2: { type: "object", additionalProperties: true } },
  port: { given: { ...PORT, default: 80 }, v3: { ...PORT, default: 80, anyOf: NUMBER_OR_TEXT }, v2: PORT },
  portSpelledOut: { given: { ...PORT, anyOf: NUMBER_OR_TEXT }, v2: PORT },
  portRule: {
    given: { ...PORT, anyOf: [{ minimum: 1 }, { minLength: 1 }] },
    v3: { ...PORT, anyOf: [{ minimum: 1 }, { minLength: 1 }], allOf: [{ anyOf: NUMBER_OR_TEXT }] },
    v2: PORT,
  },
  combined: {
    given: { type: "integer", allOf: [{ minimum: 1 }], anyOf: [{ maximum: 5 }, { maximum: 9 }], not: { enum: [3] } },
    v2: { type: "integer" },
  },
  rule: {
    given: { type: "integer", "x-kubernetes-validations": [{ rule: "self != 4" }] },
    v2: { type: "integer", "x-kubernetes-validations": [{ rule: "self != 4" }] },
  },
  required: {
    given: { type: "object", required: ["a", "b"], properties: { a: { type: "string", nullable: true }, b: { type: "string" } } },
    v2: { type: "object", required: ["b"], properties: { a: {}, b: { type: "string" } } },
  },
  list: {
    given: {
      type: "array",
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["name"],
      items: { type: "object", required: ["name"], properties: { name: { type: "string", default: "x" } } },
    },
    v2: {
      type: "array",
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["name"],
      items: { type: "object", required: ["name"], properties: { name: { type: "string" } } },
    },
  },
  embeddedOpen: {
    given: { type: "object", ...EMBEDDED, ...OPEN },
    v3: expect.objectContaining({ type: "object", ...EMBEDDED, ...OPEN, required: ["kind", "apiVersion"] }) as object,
    v2: { ...EMBEDDED, ...OPEN },
  },
};

async function documentWith(api: Api, path: string, name: string): Promise<ApiResponse> {
  const isThere = ({ status, text }: ApiResponse) => status === 200 && text.includes(`"${name}"`);
  return api.until(() => api.get(path), isThere);
}

/** A field of `spec` in a published schema. */
function published(schema: Json | undefined, name: string): unknown {
  return fieldAt(schema, "properties", "spec", "properties", name);
}

async function define(
  api: Api,
  spec: object,
  more: object = {},
): Promise<{ readonly v2: ApiResponse; readonly v3: ApiResponse; readonly model: string }> {
  const made = new Things(api);
  await made.define([v1(spec, more)], { names: { plural: "things", kind: "Thing", listKind: "ManyThings" } });
  const model = `${made.group.split(".").toReversed().join(".")}.v1.Thing`;
  const v2 = await documentWith(api, "/openapi/v2", model);
  return { v2, v3: await documentWith(api, `/openapi/v3/apis/${made.group}/v1`, model), model };
}

export const publishedSchemas = area("schemas of custom resources in OpenAPI", {
  "a field may have the name of a schema keyword": async (api) => {
    const { v2, v3, model } = await define(api, { type: "object", properties: NAMES });
    for (const schema of [v2.at("definitions", model), v3.at("components", "schemas", model)]) {
      for (const [name, given] of Object.entries(NAMES)) expect(published(schema, name), name).toEqual(given);
    }
  },

  "version 2 omits keywords that it does not have, version 3 publishes the whole schema": async (api) => {
    const properties = Object.fromEntries(Object.entries(FIELDS).map(([name, { given }]) => [name, given]));
    const { v2, v3, model } = await define(api, { type: "object", oneOf: [{ required: ["text"] }], properties });
    for (const [name, row] of Object.entries(FIELDS)) {
      expect(published(v2.at("definitions", model), name), `${name} in v2`).toEqual(row.v2);
      expect(published(v3.at("components", "schemas", model), name), `${name} in v3`).toEqual(row.v3 ?? row.given);
    }
    expect(v2.at("definitions", model, "properties", "spec", "oneOf")).toBeUndefined();
  },

  "a kind publishes the fields of every object, with descriptions, and its selectable fields": async (api) => {
    const spec = {
      type: "object",
      properties: { name: { type: "string" }, pod: { type: "object", ...EMBEDDED, properties: { spec: { type: "object" } } } },
    };
    const { v2, model } = await define(api, spec, { selectableFields: [{ jsonPath: ".spec.name" }] });
    const schema = v2.at("definitions", model);
    const head = { apiVersion: { type: "string" }, kind: { type: "string" } };
    const metadata = { $ref: "#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta" };
    expect(schema).toMatchObject({
      properties: { ...head, metadata, status: OPEN },
      "x-kubernetes-selectable-fields": [{ fieldPath: "spec.name" }],
    });
    expect(published(schema, "pod")).toMatchObject({ ...EMBEDDED, required: ["kind", "apiVersion"], properties: { ...head, metadata } });
    const timestamp = ["io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta", "properties", "creationTimestamp", "description"];
    expect(v2.textAt("definitions", ...timestamp)).toMatch(/^CreationTimestamp is a timestamp/);
    expect(v2.textAt("definitions", model, "properties", "apiVersion", "description")).toMatch(/^APIVersion defines the versioned schema/);
  },

  "a list has the kind that its definition names": async (api) => {
    const { v2, v3, model } = await define(api, { type: "object" });
    (await api.get(new Things(api).path)).gives(200, { kind: "ManyThings", items: [] });
    const name = model.replace(/Thing$/, "ManyThings");
    for (const schema of [v2.at("definitions", name), v3.at("components", "schemas", name)]) {
      expect(schema).toMatchObject({ description: "ManyThings is a list of Thing", type: "object", required: ["items"] });
      expect(Object.keys((fieldAt(schema, "properties") ?? {}) as object).toSorted()).toEqual([...HEAD, "items"].toSorted());
    }
  },

  "a kind that keeps unknown fields is only an object in version 2": async (api) => {
    const made = new Things(api);
    await made.define([v1({ type: "object" }, {}, OPEN)]);
    const model = `${made.group.split(".").toReversed().join(".")}.v1.Thing`;
    const schema = (await documentWith(api, "/openapi/v2", model)).at("definitions", model);
    expect(schema).toEqual({
      type: "object",
      "x-kubernetes-group-version-kind": [{ group: made.group, kind: "Thing", version: "v1" }],
    });
  },
});

export const builtinSchemas = area("schemas of built-in kinds in OpenAPI", {
  "quantities and int-or-strings are strings in version 2, and a field may have the name of a keyword": async (api) => {
    const v2 = await api.get("/openapi/v2");
    const core = "io.k8s.api.core.v1";
    const extensions = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1";
    v2.gives(200, {
      definitions: {
        "io.k8s.apimachinery.pkg.api.resource.Quantity": { type: "string" },
        "io.k8s.apimachinery.pkg.util.intstr.IntOrString": { type: "string", format: "int-or-string" },
        [`${core}.LimitRangeItem`]: { properties: { default: { type: "object" } } },
        [`${core}.Pod`]: { properties: { spec: { $ref: `#/definitions/${core}.PodSpec` } } },
        [`${extensions}.JSONSchemaProps`]: {
          properties: {
            $ref: { type: "string" },
            default: { $ref: `#/definitions/${extensions}.JSON` },
            nullable: { type: "boolean" },
            oneOf: { type: "array", items: { $ref: `#/definitions/${extensions}.JSONSchemaProps` } },
          },
        },
      },
    });
    expect(v2.at("definitions", "io.k8s.apimachinery.pkg.api.resource.Quantity", "oneOf")).toBeUndefined();
  },
});
