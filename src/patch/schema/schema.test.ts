import { describe, expect, test } from "vitest";
import { expectOk } from "#base";
import {
  builtinDefinition,
  builtinDefinitionNameOf,
  builtinDefinitionNames,
  builtinSchema,
  crdSchema,
  openApiSchema,
  openApiSchemaOfKind,
  structuralSchema,
  type JsonObject,
  type PatchSchema,
} from "../index.ts";
import { countExtensions } from "./table.ts";

const swagger: JsonObject = {
  definitions: {
    Root: {
      type: "object",
      "x-kubernetes-group-version-kind": [{ group: "g", version: "v1", kind: "Root" }],
      properties: {
        items: {
          type: "array",
          items: { $ref: "#/definitions/Item" },
          "x-kubernetes-patch-strategy": "merge",
          "x-kubernetes-patch-merge-key": "name",
        },
        one: { $ref: "#/definitions/Item", "x-kubernetes-patch-strategy": "retainKeys" },
        labels: { type: "object", additionalProperties: { type: "string" } },
        count: { type: "integer", format: "int32" },
        free: {},
        inline: { type: "object", properties: { a: { type: "string" } }, "x-kubernetes-map-type": "atomic" },
        dangling: { $ref: "#/definitions/Nowhere" },
        odd: { type: "object", "x-kubernetes-patch-strategy": "merge,replace" },
      },
    },
    Item: { properties: { name: { type: "string" }, again: { $ref: "#/definitions/Item" } } },
  },
};
const root = expectOk(openApiSchema(swagger, "Root"));

describe("schemas from OpenAPI", () => {
  test("a list field has its strategy, its key and the schema of its elements", () => {
    const field = expectOk(root.listField("items"));
    expect(field).toMatchObject({ strategy: "merge", mergeKey: "name", retainKeys: false });
    expect(expectOk(field.schema.objectField("again")).schema.name).toBe('Reference to "Item"');
  });

  test("an object field has its strategy", () => {
    expect(expectOk(root.objectField("one"))).toMatchObject({ strategy: "", retainKeys: true, mergeKey: "" });
    expect(expectOk(root.objectField("inline"))).toMatchObject({ mapType: "atomic" });
  });

  test("repeated lookups return the same object", () => {
    expect(root.listField("items")).toBe(root.listField("items"));
  });

  test("any field is valid below a field without a schema", () => {
    const free = expectOk(root.objectField("free")).schema;
    const below = expectOk(expectOk(free.objectField("x")).schema.listField("y"));
    expect(below).toMatchObject({ strategy: "", mergeKey: "", schema: { name: "Arbitrary value (primitive, object or array)" } });
    expect(expectOk(root.listField("free")).strategy).toBe("");
    expect(expectOk(expectOk(root.objectField("dangling")).schema.objectField("x")).strategy).toBe("");
  });

  const inside = (name: string): PatchSchema => expectOk(root.objectField(name)).schema;

  test.each([
    { name: "an unknown field", ask: () => root.objectField("nope"), want: 'unable to find api field "nope" in Root' },
    { name: "an unknown list", ask: () => root.listField("nope"), want: 'unable to find api field "nope" in Root' },
    {
      name: "an unknown field of an inline object",
      ask: () => inside("inline").objectField("b"),
      want: 'unable to find api field "b" in Root.inline',
    },
    { name: "a field of a map", ask: () => inside("labels").objectField("x"), want: "expected kind, but got map" },
    { name: "a field of a list", ask: () => inside("items").objectField("x"), want: "expected kind, but got slice" },
    { name: "a field of a scalar", ask: () => inside("count").objectField("x"), want: "expected kind, but got primitive" },
    { name: "a list that is a map", ask: () => root.listField("labels"), want: "expected slice, but got map" },
    { name: "a list that is a scalar", ask: () => root.listField("count"), want: "expected slice, but got primitive" },
    {
      name: "a list that is an inline object",
      ask: () => root.listField("inline"),
      want: 'unable to find api field "inline" in Root.inline',
    },
    { name: "two strategies", ask: () => root.objectField("odd"), want: "unexpected patch strategy: [merge replace]" },
  ])("$name is refused with kubectl's message", ({ ask, want }) => {
    expect(ask()).toMatchObject({ ok: false, error: { message: want } });
  });

  test("schema names are those of kubectl's messages", () => {
    expect(root.name).toBe("Kind([items one labels count free inline dangling odd])");
    expect(inside("labels").name).toBe("Map of string");
    expect(inside("items").name).toBe('Array of Reference to "Item"');
    expect(inside("count").name).toBe("integer (int32)");
    expect(inside("free").name).toMatch(/^Arbitrary/);
  });

  test("v3 documents and kinds are found", () => {
    const v3 = {
      components: {
        schemas: {
          A: { type: "object", properties: { b: { allOf: [{ $ref: "#/components/schemas/B" }], default: {} } } },
          B: { type: "object", properties: { c: {} } },
        },
      },
    };
    const b = expectOk(expectOk(openApiSchema(v3, "A")).objectField("b")).schema;
    expect(b.objectField("c").ok).toBe(true);
    expect(openApiSchemaOfKind(swagger, { group: "g", version: "v1", kind: "Root" }).ok).toBe(true);
    expect(openApiSchemaOfKind(swagger, { group: "g", version: "v2", kind: "Root" })).toMatchObject({
      ok: false,
      error: { message: "the document has no kind Root in g/v2" },
    });
    expect(openApiSchema({}, "A")).toMatchObject({ ok: false, error: { kind: "bad-schema" } });
  });
});

describe("built-in kinds", () => {
  const pod = builtinSchema({ group: "", version: "v1", kind: "Pod" }) as PatchSchema;
  const podSpec = expectOk(pod.objectField("spec")).schema;

  test("the table holds every definition and extension of Kubernetes 1.36", () => {
    const all = Object.fromEntries(builtinDefinitionNames().map((name) => [name, builtinDefinition(name)]));
    expect(Object.keys(all)).toHaveLength(584);
    expect(Object.fromEntries(countExtensions(all))).toMatchObject({
      "x-kubernetes-group-version-kind": 139,
      "x-kubernetes-list-map-keys": 60,
      "x-kubernetes-list-type": 304,
      "x-kubernetes-map-type": 34,
      "x-kubernetes-patch-merge-key": 54,
      "x-kubernetes-patch-strategy": 58,
    });
  });

  test("definitions carry types, rules and defaults", () => {
    expect(builtinDefinition("io.k8s.api.core.v1.ContainerPort")).toEqual({
      type: "object",
      required: ["containerPort"],
      properties: {
        containerPort: { type: "integer", format: "int32", default: 0 },
        hostIP: { type: "string" },
        hostPort: { type: "integer", format: "int32" },
        name: { type: "string" },
        protocol: { type: "string", default: "TCP", enum: ["SCTP", "TCP", "UDP"] },
      },
    });
    expect(builtinDefinition("io.k8s.api.core.v1.Nothing")).toBeUndefined();
    expect(builtinDefinition("io.k8s.apimachinery.pkg.util.intstr.IntOrString")).toMatchObject({ format: "int-or-string" });
  });

  test("kinds are found by group, version and kind, and cached", () => {
    expect(builtinSchema({ group: "", version: "v1", kind: "Pod" })).toBe(pod);
    expect(builtinSchema({ group: "example.com", version: "v1", kind: "Pod" })).toBeUndefined();
    expect(builtinDefinitionNameOf({ group: "apps", version: "v1", kind: "Deployment" })).toBe("io.k8s.api.apps.v1.Deployment");
    expect(builtinSchema({ group: "", version: "v1", kind: "DeleteOptions" })).toBeUndefined();
  });

  test("merge rules are those of Kubernetes", () => {
    expect(expectOk(podSpec.listField("volumes"))).toMatchObject({
      strategy: "merge",
      retainKeys: true,
      mergeKey: "name",
      listType: "map",
      listMapKeys: ["name"],
    });
    expect(expectOk(expectOk(podSpec.listField("containers")).schema.listField("ports"))).toMatchObject({
      mergeKey: "containerPort",
      listMapKeys: ["containerPort", "protocol"],
    });
    expect(expectOk(podSpec.listField("tolerations"))).toMatchObject({ strategy: "", listType: "atomic" });
  });

  test("field names are case-insensitive, as in Go", () => {
    expect(expectOk(podSpec.listField("Containers")).mergeKey).toBe("name");
  });

  test.each([
    {
      name: "an unknown field",
      ask: () => podSpec.objectField("x"),
      want: 'unable to find api field in struct PodSpec for the json field "x"',
    },
    {
      name: "inside a map",
      ask: () => expectOk(podSpec.objectField("nodeSelector")).schema.objectField("x"),
      want: "merging an object in json but data type is not struct, instead is: map",
    },
    {
      name: "inside a list",
      ask: () => expectOk(podSpec.objectField("containers")).schema.objectField("x"),
      want: "merging an object in json but data type is not struct, instead is: slice",
    },
    {
      name: "inside a number",
      ask: () => expectOk(podSpec.objectField("priority")).schema.objectField("x"),
      want: "merging an object in json but data type is not struct, instead is: int32",
    },
    {
      name: "inside a bool",
      ask: () => expectOk(podSpec.objectField("hostIPC")).schema.objectField("x"),
      want: "merging an object in json but data type is not struct, instead is: bool",
    },
    {
      name: "inside a text",
      ask: () => expectOk(podSpec.objectField("nodeName")).schema.objectField("x"),
      want: "merging an object in json but data type is not struct, instead is: string",
    },
    {
      name: "inside a type without fields",
      ask: () => expectOk(expectOk(pod.objectField("metadata")).schema.objectField("creationTimestamp")).schema.objectField("x"),
      want: 'unable to find api field in struct Time for the json field "x"',
    },
    { name: "a list that is none", ask: () => podSpec.listField("nodeName"), want: "expected slice or array type, but got: struct" },
  ])("$name is refused with kube-apiserver's message", ({ ask, want }) => {
    expect(ask()).toMatchObject({ ok: false, error: { message: want } });
  });

  test("messages contain the kinds of Go", () => {
    expect(podSpec.name).toBe("struct");
    const webhook = expectOk(
      expectOk(
        expectOk(
          builtinSchema({ group: "admissionregistration.k8s.io", version: "v1", kind: "MutatingWebhookConfiguration" })?.listField(
            "webhooks",
          ) ?? podSpec.listField("x"),
        ).schema.objectField("clientConfig"),
      ).schema.objectField("caBundle"),
    );
    expect(webhook.schema.name).toBe("slice");
  });
});

describe("custom resources", () => {
  const crd = {
    spec: {
      versions: [{ name: "v1", schema: { openAPIV3Schema: { type: "object", properties: { spec: { type: "object", properties: {} } } } } }],
    },
  };

  test("metadata has the built-in schema, other fields that of the CRD", () => {
    const schema = expectOk(crdSchema(crd, "v1"));
    expect(expectOk(expectOk(schema.objectField("metadata")).schema.listField("finalizers"))).toMatchObject({ strategy: "merge" });
    expect(schema.objectField("spec").ok).toBe(true);
    expect(schema.objectField("status")).toMatchObject({
      ok: false,
      error: { message: 'unable to find api field "status" in custom resource' },
    });
  });

  test("a version without a schema is an error", () => {
    expect(crdSchema(crd, "v2")).toMatchObject({ ok: false, error: { kind: "bad-schema" } });
    expect(crdSchema(1, "v1").ok).toBe(false);
    expect(structuralSchema({ type: "object" }, "Bare").objectField("metadata").ok).toBe(true);
  });
});
