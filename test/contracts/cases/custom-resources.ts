/** Custom resources: schemas, defaults, pruning, status and scale, versions, columns. */
import { expect } from "vitest";
import { fieldAt } from "#kube";
import { area } from "../contract.ts";
import { CRDS, object, Things, things, v1 } from "./definitions.ts";

const string = { type: "string" };
const integer = { type: "integer" };

export const customResources = area("custom resources", {
  "a definition becomes established and lists its accepted names": async (api) => {
    const made = await things(api, object({}));
    const answer = await api.until(
      () => api.get(made.definition),
      (seen) => seen.text.includes('"Established"'),
    );
    answer.gives(200, {
      status: { acceptedNames: { plural: "things", singular: "thing", kind: "Thing", listKind: "ThingList" }, storedVersions: ["v1"] },
    });
    const conditions = answer.at("status.conditions") as readonly { type: string; status: string }[];
    expect(conditions.map(({ type, status }) => `${type}=${status}`).toSorted()).toEqual(["Established=True", "NamesAccepted=True"]);
  },

  "a definition's name must be plural.group": async (api) => {
    const made = new Things(api);
    const body = made.body([v1(object({}))]) as { metadata: object };
    (await api.post(CRDS, { ...body, metadata: { name: "wrong" } })).refuses(
      422,
      "Invalid",
      `CustomResourceDefinition.apiextensions.k8s.io "wrong" is invalid: metadata.name: Invalid value: "wrong": must be spec.names.plural+"."+spec.group`,
    );
  },

  "a version needs a schema, and one version must be stored": async (api) => {
    const made = new Things(api);
    (await api.post(CRDS, made.body([{ name: "v1", served: true, storage: true }]))).gives(422, { reason: "Invalid" });
    (await api.post(CRDS, made.body([{ ...v1(object({})), storage: false }]))).gives(422, { reason: "Invalid" });
    (await api.post(CRDS, made.body([]))).gives(422, { reason: "Invalid" });
  },

  "a schema that is not structural is rejected with the paths": async (api) => {
    const made = new Things(api);
    const answer = await api.post(
      CRDS,
      made.body([v1(object({ a: {}, b: { type: "array" }, c: { type: "object", anyOf: [{ properties: { x: { type: "string" } } }] } }))]),
    );
    answer.gives(422, { reason: "Invalid" });
    const fields = (answer.at("details.causes") as readonly { field: string }[]).map(({ field }) => field);
    expect(fields).toContain("spec.validation.openAPIV3Schema.properties[spec].properties[a].type");
    expect(fields).toContain("spec.validation.openAPIV3Schema.properties[spec].properties[b].items");
  },

  "errors of types, bounds, patterns and enums are reported together": async (api) => {
    const made = await things(
      api,
      object(
        {
          size: { ...integer, minimum: 1, maximum: 10 },
          name: { ...string, pattern: "^[a-z]+$", maxLength: 3 },
          colour: { ...string, enum: ["red", "green"] },
        },
        { required: ["size"] },
      ),
    );
    (await made.post("a", { size: 5, name: "abc", colour: "red" })).gives(201);
    (await made.post("b", { size: 11, name: "ABCD", colour: "blue" })).refuses(
      422,
      "Invalid",
      expect.stringContaining(`Thing.${made.group} "b" is invalid: [`),
      {
        unordered: true,
        causes: [
          ["FieldValueInvalid", "spec.size", "Invalid value: 11: spec.size in body should be less than or equal to 10"],
          ["FieldValueTooLong", "spec.name", "Too long: may not be more than 3 bytes"],
          ["FieldValueNotSupported", "spec.colour", 'Unsupported value: "blue": supported values: "red", "green"'],
        ],
      },
    );
    (await made.post("c", { size: 1, name: "AB" })).refuses(
      422,
      "Invalid",
      `Thing.${made.group} "c" is invalid: spec.name: Invalid value: "AB": spec.name in body should match '^[a-z]+$'`,
    );
    (await made.post("d", {})).refuses(422, "Invalid", `Thing.${made.group} "d" is invalid: spec.size: Required value`);
  },

  "an error about a type names the found and the expected type": async (api) => {
    const made = await things(api, object({ size: integer, on: { type: "boolean" }, list: { type: "array", items: string } }));
    (await made.post("a", { size: "big" })).refuses(
      422,
      "Invalid",
      `Thing.${made.group} "a" is invalid: spec.size: Invalid value: "string": spec.size in body must be of type integer: "string"`,
    );
    (await made.post("a", { size: 1.5 })).refuses(
      422,
      "Invalid",
      `Thing.${made.group} "a" is invalid: [spec.size: Invalid value: "number": spec.size in body must be of type integer: "number", <nil>: Invalid value: "": Checked value must be of type integer (default format) in spec.size]`,
    );
    (await made.post("a", { on: "yes" })).gives(422);
    (await made.post("a", { list: "x" })).gives(422);
    (await made.post("a", [])).gives(422);
  },

  "lists have size limits and sets have no duplicates": async (api) => {
    const made = await things(
      api,
      object({
        set: { type: "array", items: string, "x-kubernetes-list-type": "set" },
        few: { type: "array", items: integer, minItems: 1, maxItems: 2 },
      }),
    );
    (await made.post("a", { set: ["a", "b"], few: [1] })).gives(201);
    (await made.post("b", { set: ["a", "a"], few: [] })).refuses(422, "Invalid", expect.stringContaining("is invalid: ["), {
      unordered: true,
      causes: [
        ["FieldValueDuplicate", "spec.set[1]", 'Duplicate value: "a"'],
        ["FieldValueInvalid", "spec.few", "Invalid value: 0: spec.few in body should have at least 1 items"],
      ],
    });
    (await made.post("c", { few: [1, 2, 3] })).refuses(
      422,
      "Invalid",
      `Thing.${made.group} "c" is invalid: spec.few: Too many: 3: must have at most 2 items`,
    );
  },

  "a list of type map has no duplicate keys": async (api) => {
    const items = object({ name: string, port: { ...integer, default: 80 } }, { required: ["name"] });
    const made = await things(
      api,
      object({ list: { type: "array", items, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name", "port"] } }),
    );
    (await made.post("a", { list: [{ name: "x" }, { name: "x", port: 81 }] })).gives(201, {
      spec: {
        list: [
          { name: "x", port: 80 },
          { name: "x", port: 81 },
        ],
      },
    });
    (await made.post("b", { list: [{ name: "x" }, { name: "x", port: 80 }] })).refuses(
      422,
      "Invalid",
      `Thing.${made.group} "b" is invalid: spec.list[1]: Duplicate value: {"name":"x","port":80}`,
    );
  },

  "defaults are set on writes and reads, and fields that are no longer in the schema are not returned": async (api) => {
    const made = await things(
      api,
      object({ size: { ...integer, default: 3 }, nested: object({ on: { type: "boolean", default: true } }, { default: {} }) }),
    );
    (await made.post("a", {})).gives(201).has("spec", { size: 3, nested: { on: true } });
    (await made.post("b", { size: null })).gives(201).has("spec", { size: 3, nested: { on: true } });
    (await made.post("c", undefined)).gives(201).has("spec", undefined);
    await api.mergePatch(made.definition, {
      spec: { versions: [v1(object({ size: { ...integer, default: 3 }, colour: { ...string, default: "red" } }))] },
    });
    const later = await api.until(
      () => api.get(`${made.path}/a`),
      (answer) => answer.at("spec.colour") === "red",
    );
    later.has("spec", { size: 3, colour: "red" });
  },

  "unknown fields are pruned, unless the schema preserves them": async (api) => {
    const open = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
    const made = await things(
      api,
      object({
        known: string,
        open,
        deep: { type: "object", "x-kubernetes-preserve-unknown-fields": true, properties: { closed: object({ a: string }) } },
      }),
    );
    const answer = await made.post("a", { known: "1", unknown: 1, open: { x: { y: 1 } }, deep: { z: 1, closed: { a: "1", b: 2 } } });
    answer.gives(201).has("spec", { known: "1", open: { x: { y: 1 } }, deep: { z: 1, closed: { a: "1" } } });
  },

  "null is dropped, defaulted, or kept where it is nullable": async (api) => {
    const made = await things(api, object({ a: string, b: { ...string, nullable: true }, c: { ...string, default: "x" } }));
    (await made.post("a", { a: null, b: null, c: null })).gives(201).has("spec", { b: null, c: "x" });
  },

  "int-or-string accepts both": async (api) => {
    const made = await things(api, object({ port: { "x-kubernetes-int-or-string": true } }));
    (await made.post("a", { port: 80 })).gives(201).has("spec.port", 80);
    (await made.post("b", { port: "80%" })).gives(201).has("spec.port", "80%");
    (await made.post("c", { port: true })).gives(422);
  },

  "an embedded resource has its own kind and metadata": async (api) => {
    const made = await things(
      api,
      object({ template: { type: "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true } }),
    );
    (
      await made.post("a", { template: { apiVersion: "v1", kind: "Pod", metadata: { name: "x", labels: { a: "b" } }, spec: { x: 1 } } })
    ).gives(201);
    (await made.post("b", { template: { spec: {} } })).gives(422);
    (await made.post("c", { template: { apiVersion: "v1", kind: "Pod", metadata: { name: 1 } } })).refuses(
      400,
      "BadRequest",
      'Thing in version "v1" cannot be handled as a Thing: spec.template.metadata: Invalid value: {"name":1}: json: cannot unmarshal number into Go struct field ObjectMeta.name of type string',
    );
    (await made.post("d", { template: { apiVersion: "v1", kind: "Pod", metadata: { name: "x", colour: "red" } } }))
      .gives(201)
      .has("spec.template.metadata", { name: "x" });
  },

  "known formats are validated, others are ignored": async (api) => {
    const made = await things(
      api,
      object({
        when: { ...string, format: "date-time" },
        id: { ...string, format: "uuid" },
        odd: { ...string, format: "colour" },
        ip: { ...string, format: "ipv4" },
      }),
    );
    (
      await made.post("a", { when: "2020-01-01T00:00:00Z", id: "11111111-1111-4111-8111-111111111111", odd: "anything", ip: "10.0.0.1" })
    ).gives(201);
    (await made.post("b", { when: "yesterday" })).refuses(
      422,
      "Invalid",
      `Thing.${made.group} "b" is invalid: spec.when: Invalid value: "yesterday": spec.when in body must be of type date-time: "yesterday"`,
    );
    (await made.post("c", { id: "x", ip: "300.1.1.1" })).gives(422);
  },

  "oneOf, anyOf, allOf and not are validated": async (api) => {
    const made = await things(api, object({ a: integer, b: integer }, { oneOf: [{ required: ["a"] }, { required: ["b"] }] }));
    (await made.post("a", { a: 1 })).gives(201);
    (await made.post("b", { a: 1, b: 1 })).refuses(
      422,
      "Invalid",
      expect.stringContaining('"spec" must validate one and only one schema (oneOf)'),
    );
    (await made.post("c", {})).gives(422);
  },

  "additionalProperties validates the values of maps": async (api) => {
    const made = await things(api, object({ labels: { type: "object", additionalProperties: string, maxProperties: 2 } }));
    (await made.post("a", { labels: { x: "1" } })).gives(201);
    (await made.post("b", { labels: { x: 1 } })).gives(422);
    (await made.post("c", { labels: { x: "1", y: "2", z: "3" } })).refuses(
      422,
      "Invalid",
      `Thing.${made.group} "c" is invalid: spec.labels: Too many: 3: must have at most 2 items`,
    );
  },

  "with a status subresource the status is written through its own path only": async (api) => {
    const made = await things(api, object({ size: integer }), { subresources: { status: {} } });
    (await made.post("a", { size: 1 }, { status: { ready: true } })).gives(201, { metadata: { generation: 1 } }).has("status", undefined);
    (await api.mergePatch(`${made.path}/a/status`, { spec: { size: 2 }, status: { ready: true }, metadata: { labels: { l: "1" } } }))
      .gives(200, { spec: { size: 1 }, status: { ready: true }, metadata: { generation: 1 } })
      .has("metadata.labels", undefined);
    (await api.mergePatch(`${made.path}/a`, { spec: { size: 2 }, status: { ready: false } })).gives(200, {
      status: { ready: true },
      metadata: { generation: 2 },
    });
  },

  "without a status subresource the status is an ordinary field": async (api) => {
    const made = await things(api, object({ size: integer }));
    (await made.post("a", { size: 1 }, { status: { ready: true } })).gives(201, { status: { ready: true } });
    (await api.get(`${made.path}/a/status`)).gives(404);
    (await api.mergePatch(`${made.path}/a`, { status: { ready: false } })).gives(200, { metadata: { generation: 2 } });
    (await api.mergePatch(`${made.path}/a`, { metadata: { labels: { l: "1" } } })).gives(200, { metadata: { generation: 2 } });
  },

  "a subresource rejects a method that it does not support": async (api) => {
    const made = await things(api, object({}), { subresources: { status: {} } });
    await made.post("a", {});
    const kind = `things.${made.group}`;
    (await api.delete(`${made.path}/a/status`)).refuses(405, "MethodNotAllowed", `delete is not supported on resources of kind "${kind}"`);
    (await api.post(`${made.path}/a/status`, {})).refuses(
      405,
      "MethodNotAllowed",
      `create is not supported on resources of kind "${kind}"`,
    );
  },

  "the scale subresource reads and writes the configured paths": async (api) => {
    const scale = { specReplicasPath: ".spec.size", statusReplicasPath: ".status.size", labelSelectorPath: ".status.selector" };
    const made = await things(api, object({ size: integer }), { subresources: { status: {}, scale } });
    await made.post("a", { size: 2 });
    (await api.get(`${made.path}/a/scale`)).gives(200, {
      kind: "Scale",
      apiVersion: "autoscaling/v1",
      spec: { replicas: 2 },
      status: { replicas: 0 },
    });
    await api.mergePatch(`${made.path}/a/status`, { status: { size: 1, selector: "a=b" } });
    (await api.mergePatch(`${made.path}/a/scale`, { spec: { replicas: 5 } })).gives(200, {
      spec: { replicas: 5 },
      status: { replicas: 1, selector: "a=b" },
    });
    (await api.get(`${made.path}/a`)).has("spec.size", 5);
    (await api.mergePatch(`${made.path}/a/scale`, { spec: { replicas: -1 } })).gives(422);
  },

  "PUT of a custom resource needs a resourceVersion": async (api) => {
    const made = await things(api, object({ size: integer }));
    await made.post("a", { size: 1 });
    (await api.put(`${made.path}/a`, made.thing("a", { size: 2 }))).refuses(
      422,
      "Invalid",
      `things.${made.group} "a" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update`,
    );
  },

  "POST of a custom resource needs its kind": async (api) => {
    const made = await things(api, object({}));
    (await api.post(made.path, { metadata: { name: "a" } })).gives(400, { reason: "BadRequest" });
    (await api.post(made.path, { ...made.thing("a", {}), kind: "Other" })).refuses(
      422,
      "Invalid",
      `Other.${made.group} "a" is invalid: kind: Invalid value: "Other": must be Thing`,
    );
  },

  "an object can be read in every served version": async (api) => {
    const made = new Things(api);
    await made.define([v1(object({ size: integer })), { ...v1(object({ size: integer })), name: "v2", storage: false }]);
    await made.served("v2");
    await made.post("a", { size: 1 });
    (await api.get(`${made.group}/v2/things/a`)).gives(200, { apiVersion: `${made.group}/v2`, spec: { size: 1 } });
    (await api.get(`/apis/${made.group}`)).gives(200, {
      preferredVersion: { version: "v2" },
      versions: [{ version: "v2" }, { version: "v1" }],
    });
  },

  "a version that is not served is a 404": async (api) => {
    const made = new Things(api);
    await made.define([v1(object({})), { ...v1(object({})), name: "v2", served: false, storage: false }]);
    const answer = await api.get(`/apis/${made.group}/v2/things`);
    expect(answer.status).toBe(404);
  },

  "a deprecated version returns a warning": async (api) => {
    const made = new Things(api);
    await made.define([{ ...v1(object({})), deprecated: true, deprecationWarning: "use something else" }]);
    (await api.get(made.path)).gives(200).warns("use something else");
  },

  "a Table has the printer columns of the definition": async (api) => {
    const additionalPrinterColumns = [
      { name: "Size", type: "integer", jsonPath: ".spec.size" },
      { name: "Missing", type: "string", jsonPath: ".spec.no" },
      { name: "When", type: "date", jsonPath: ".metadata.creationTimestamp", priority: 1 },
      { name: "All", type: "string", jsonPath: ".spec.list[*].name" },
    ];
    const made = await things(api, object({ size: integer, list: { type: "array", items: object({ name: string }) } }), {
      additionalPrinterColumns,
    });
    await made.post("a", { size: 3, list: [{ name: "x" }, { name: "y" }] });
    const table = await api.get(made.path, { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" });
    const columns = table.at("columnDefinitions") as readonly { name: string; priority: number }[];
    expect(columns.map(({ name, priority }) => `${name}:${priority}`)).toEqual(["Name:0", "Size:0", "Missing:0", "When:1", "All:0"]);
    table.has("rows.0.cells", ["a", 3, null, expect.stringMatching(/^\d+s$/), "x"]);
  },

  "a Table without printer columns has name and age": async (api) => {
    const made = await things(api, object({}));
    await made.post("a", {});
    const table = await api.get(made.path, { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" });
    expect((table.at("columnDefinitions") as readonly { name: string }[]).map(({ name }) => name)).toEqual(["Name", "Age"]);
  },

  "selectableFields can be used in field selectors": async (api) => {
    const made = await things(api, object({ colour: string, size: integer }), {
      selectableFields: [{ jsonPath: ".spec.colour" }, { jsonPath: ".spec.size" }],
    });
    await made.post("a", { colour: "red", size: 1 });
    await made.post("b", { colour: "blue", size: 2 });
    const found = async (selector: string) =>
      (
        (await api.get(`${made.path}?fieldSelector=${encodeURIComponent(selector)}`)).gives(200).at("items") as readonly {
          metadata: { name: string };
        }[]
      ).map(({ metadata }) => metadata.name);
    expect(await found("spec.colour=red")).toEqual(["a"]);
    expect(await found("spec.size!=1")).toEqual(["b"]);
    (await api.get(`${made.path}?fieldSelector=spec.other%3Dx`)).refuses(400, "BadRequest", "field label not supported: spec.other");
  },

  "objects that break a newer schema stay readable, and their valid fields can be changed": async (api) => {
    const made = await things(api, object({ size: integer, colour: string }));
    await made.post("a", { size: 100, colour: "red" });
    await api.mergePatch(made.definition, { spec: { versions: [v1(object({ size: { ...integer, maximum: 10 }, colour: string }))] } });
    await api.until(
      () => made.post("probe", { size: 11 }),
      ({ status }) => status === 422,
    );
    (await api.get(`${made.path}/a`)).gives(200).has("spec.size", 100);
    (await api.mergePatch(`${made.path}/a`, { spec: { colour: "blue" } })).gives(200);
    (await api.mergePatch(`${made.path}/a`, { spec: { size: 99 } })).gives(422);
  },

  "an applied null is validated": async (api) => {
    const made = await things(api, object({ colour: string, size: { ...integer, default: 3 }, maybe: { ...string, nullable: true } }));
    const apply = (spec: object) => api.apply("one", `${made.path}/a`, made.thing("a", spec));
    (await apply({ colour: "red", size: null, maybe: null })).gives(201).has("spec.size", 3).has("spec.maybe", null);
    const why = `spec.colour: Invalid value: "null": spec.colour in body must be of type string: "null"`;
    (await apply({ colour: null })).refuses(422, "Invalid", `Thing.${made.group} "a" is invalid: ${why}`);
    (await api.mergePatch(`${made.path}/a`, { spec: { colour: null } })).gives(200).has("spec.colour", undefined);
  },

  "a deleted definition waits for objects with finalizers, and accepts no new objects": async (api) => {
    const made = await things(api, object({}));
    await made.post("held", {}, { metadata: { name: "held", finalizers: ["example.com/held"] } });
    (await api.delete(made.definition)).gives(200);
    await api.until(
      () => api.get(`${made.path}/held`),
      ({ body }) => fieldAt(body, "metadata", "deletionTimestamp") !== undefined,
    );
    const conditions = (await api.get(made.definition)).gives(200).at("status.conditions");
    expect(conditions).toContainEqual(expect.objectContaining({ type: "Terminating", reason: "InstanceDeletionInProgress" }));
    const why = "create not allowed while custom resource definition is terminating";
    (await made.post("new", {})).refuses(403, "Forbidden", `things.${made.group} "new" is forbidden: ${why}`);
    (await api.mergePatch(`${made.path}/held`, { metadata: { finalizers: null } })).gives(200);
    await api.until(
      () => api.get(made.definition),
      ({ status }) => status === 404,
    );
  },

  "deleting a definition deletes its objects": async (api) => {
    const made = await things(api, object({}));
    await made.post("a", {});
    (await api.delete(made.definition)).gives(200);
    await api.until(
      () => api.get(made.path),
      ({ status }) => status === 404,
    );
    await api.until(
      () => api.get(made.definition),
      ({ status }) => status === 404,
    );
    await made.define([v1(object({}))]);
    (await api.get(made.path)).gives(200, { items: [] });
  },

  "scope and group of a definition are immutable, its names are not": async (api) => {
    const made = await things(api, object({}));
    (await api.mergePatch(made.definition, { spec: { scope: "Cluster" } })).refuses(
      422,
      "Invalid",
      `CustomResourceDefinition.apiextensions.k8s.io "things.${made.group}" is invalid: spec.scope: Invalid value: "Cluster": field is immutable`,
    );
    (await api.mergePatch(made.definition, { spec: { names: { shortNames: ["th"] } } })).gives(200);
  },

  "objects of cluster-scoped kinds have no namespace": async (api) => {
    const made = new Things(api);
    await made.define([v1(object({}))], { scope: "Cluster" });
    (await api.post(`/apis/${made.group}/v1/things`, made.thing("a", {}))).gives(201).has("metadata.namespace", undefined);
    (await api.get(`${made.path}/a`)).gives(404);
  },

  "items of a list have their kind and apiVersion": async (api) => {
    const made = await things(api, object({}));
    await made.post("a", {});
    (await api.get(made.path)).gives(200, {
      kind: "ThingList",
      apiVersion: `${made.group}/v1`,
      items: [{ kind: "Thing", apiVersion: `${made.group}/v1`, metadata: { name: "a" } }],
    });
  },

  "large numbers and floats are kept": async (api) => {
    const made = await things(api, object({ whole: { ...integer, format: "int64" }, real: { type: "number" } }));
    const answer = await api.post(
      made.path,
      `{"apiVersion":"${made.group}/v1","kind":"Thing","metadata":{"name":"a"},"spec":{"whole":9007199254740993,"real":1.5}}`,
    );
    answer.gives(201);
    expect(answer.text).toContain('"whole":9007199254740993');
    (await made.post("b", { real: 1 })).gives(201).has("spec.real", 1);
  },

  "defaults of a schema must be valid under the schema": async (api) => {
    const made = new Things(api);
    const answer = await api.post(
      CRDS,
      made.body([v1(object({ size: { ...integer, default: "big" }, small: { ...integer, maximum: 3, default: 9 } }))]),
    );
    answer.gives(422, { reason: "Invalid" });
    expect((answer.at("details.causes") as readonly { field: string }[]).map(({ field }) => field).toSorted()).toEqual([
      "spec.validation.openAPIV3Schema.properties[spec].properties[size].default",
      "spec.validation.openAPIV3Schema.properties[spec].properties[small].default",
    ]);
  },

  "server-side apply follows the list types of a definition": async (api) => {
    const items = object({ name: string, value: integer }, { required: ["name"] });
    const made = await things(
      api,
      object({
        list: { type: "array", items, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"] },
        set: { type: "array", items: string, "x-kubernetes-list-type": "set" },
        plain: { type: "array", items: string },
      }),
    );
    await api.apply("one", `${made.path}/a`, made.thing("a", { list: [{ name: "x", value: 1 }], set: ["a"], plain: ["1"] }));
    const answer = await api.apply("two", `${made.path}/a`, made.thing("a", { list: [{ name: "y", value: 2 }], set: ["b"] }));
    answer.gives(200).has("spec", {
      list: [
        { name: "x", value: 1 },
        { name: "y", value: 2 },
      ],
      set: ["a", "b"],
      plain: ["1"],
    });
    (await api.apply("two", `${made.path}/a`, made.thing("a", { plain: ["2"] }))).refuses(
      409,
      "Conflict",
      'Apply failed with 1 conflict: conflict with "one": .spec.plain',
    );
  },
});
