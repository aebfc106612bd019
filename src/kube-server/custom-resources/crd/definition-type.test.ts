/** The resource type of CustomResourceDefinition. */
import { describe, expect, test } from "vitest";
import { expectOk } from "#base";
import type { JsonObject, KubeObject } from "#kube";
import { crdOf, crdWithVersions, GROUP, lineOf, typeOf } from "../widget.test-support.ts";
import { definitionType } from "./definition-type.ts";

const OBJECT = { type: "object" };
const type = definitionType(typeOf(crdOf(OBJECT)));
const version = (name: string, storage: boolean): JsonObject => ({ name, served: true, storage, schema: { openAPIV3Schema: OBJECT } });
const decoded = (crd: JsonObject): KubeObject => type.applyDefaults(expectOk(type.decode(crd)).object);

function stored(): KubeObject {
  const created = type.prepareForCreate(decoded({ ...crdOf(OBJECT), status: { storedVersions: ["v9"] } }));
  return { ...created, metadata: { ...created.metadata, resourceVersion: "1" } };
}

function changed(crd: JsonObject): KubeObject {
  const next = decoded(crd);
  return type.prepareForUpdate({ ...next, metadata: { ...next.metadata, resourceVersion: "1" } }, stored(), undefined);
}

describe("a CRD that is created", () => {
  test("starts with a new status", () => {
    expect(stored()).toHaveProperty("status", { conditions: null, acceptedNames: { plural: "", kind: "" }, storedVersions: ["v1"] });
    expect(type.validate(stored(), undefined, undefined)).toEqual([]);
    expect(type.warnings(stored(), undefined)).toEqual([]);
    expect(type.generationOf?.(stored())).toHaveProperty("group", GROUP);
  });
  test("is refused for a wrong JSON type", () => {
    expect(type.decode({ ...crdOf(OBJECT), spec: 5 }).ok).toBe(false);
  });
  test("reports unknown fields", () => {
    expect(expectOk(type.decode({ ...crdOf(OBJECT), what: 1 })).findings).toEqual(['unknown field "what"']);
  });
});

describe("a CRD that is changed", () => {
  test("records each stored version", () => {
    const next = changed(crdWithVersions([version("v1", false), version("v2", true)]));
    expect(next).toHaveProperty("status.storedVersions", ["v1", "v2"]);
    expect(type.validate(next, stored(), undefined)).toEqual([]);
  });
  test("warns only of new unknown formats", () => {
    const odd = crdOf({ type: "object", properties: { a: { type: "string", format: "foo" } } });
    expect(type.warnings(changed(odd), stored())).toEqual(['unrecognized format "foo"']);
    expect(type.warnings(changed(odd), changed(odd))).toEqual([]);
  });
  test("by its status keeps its spec", () => {
    const next = { ...stored(), spec: {}, status: { acceptedNames: { plural: "No" }, storedVersions: ["v1"] } } as unknown as KubeObject;
    const prepared = type.prepareForUpdate(next, stored(), "status");
    expect(prepared).toHaveProperty("spec.group", GROUP);
    expect(type.validate(prepared, stored(), "status").map(lineOf)).toEqual([
      expect.stringContaining('status.acceptedNames.plural: Invalid value: "No"'),
    ]);
  });
});
