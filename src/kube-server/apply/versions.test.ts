import { err, expectOk, ok } from "#base";
import { describe, expect, it } from "vitest";
import { crdSchema } from "./open-api-schema.ts";
import { fieldPath } from "./path-element.ts";
import { canonicalTime, parseSeconds } from "./rfc3339.ts";
import { parentEntries, scaleEntries } from "./scale.ts";
import { decodeManaged, encodeManaged } from "./managers.ts";
import { renameVersion, type ConvertObject } from "./versions.ts";
import { widget, widgetDocument, widgetKind, WidgetWorld } from "./widget.test-support.ts";

const V2 = "test.dev/v2";
const text = { type: "string" };
const list = { type: "array", items: { type: "object", properties: { name: text, value: text } } };
const version2 = crdSchema({
  type: "object",
  properties: {
    spec: {
      type: "object",
      properties: { a: text, n: { type: "integer" }, items: list, whole: { type: "object", properties: { x: text, y: text } } },
    },
  },
});
const versions = renameVersion(
  new Map([
    [widgetKind.apiVersion, crdSchema(widgetDocument)],
    [V2, version2],
  ]),
);
const inV2 = { apiVersion: V2, schema: version2, convert: versions };
const both = () => new WidgetWorld({ convert: versions });
const as2 = (spec: object) => ({ ...widget(spec as never), apiVersion: V2 });

function turn(world: WidgetWorld, apiVersion: string): WidgetWorld {
  world.live = { ...world.live, apiVersion };
  return world;
}

describe("several versions", () => {
  it("one manager that applies in two versions has one entry, and prunes across them", () => {
    const world = turn(both().apply("alice", { a: "1", n: 1 }), V2);
    expectOk(world.tryApply("alice", as2({ a: "1" }), inV2));
    expect(world.spec).toEqual({ a: "1" });
    expect(world.owners).toEqual({ "alice Apply": { "f:spec": { "f:a": {} } } });
  });

  it("compares each owner in its own version: a value may be granular in one and atomic in the other", () => {
    const world = turn(both().apply("alice", { items: [{ name: "x", value: "1" }] }), V2);
    const refused = world.tryApply("bob", as2({ items: [{ name: "x", value: "2" }] }), inV2);
    expect(refused).toMatchObject({ error: { conflicts: [{ manager: "alice", fieldPath: '.spec.items[name="x"].value' }] } });
    expectOk(world.tryUpdate("ctl", as2({ items: [{ name: "x", value: "2" }] }), inV2));
    expect(world.owners).toEqual({
      "alice Apply": { "f:spec": { "f:items": { 'k:{"name":"x"}': { ".": {}, "f:name": {} } } } },
      "ctl Update": { "f:spec": { "f:items": {} } },
    });
  });

  it("drops owners of a version that is no longer served", () => {
    const world = turn(both().apply("alice", { a: "1" }).update("ctl", { a: "1", n: 1 }), V2);
    expectOk(world.tryApply("bob", as2({ a: "2" }), { ...inV2, convert: renameVersion(new Map([[V2, version2]])) }));
    expect(world.owners).toEqual({ "bob Apply": { "f:spec": { "f:a": {} } } });
  });

  it("fields applied in a version that is no longer served are not pruned", () => {
    const world = turn(both().apply("alice", { a: "1", n: 1 }).apply("bob", { n: 1 }), V2);
    expectOk(world.tryApply("alice", as2({ n: 2 }), { ...inV2, force: true, convert: renameVersion(new Map([[V2, version2]])) }));
    expect(world.spec).toEqual({ a: "1", n: 2 });
  });

  it("keeps fields of owners in other versions while pruning", () => {
    const world = turn(both().apply("alice", { a: "1", n: 1 }).apply("bob", { n: 1 }), V2);
    expectOk(world.tryApply("alice", as2({ a: "1" }), inV2));
    expect(world.spec).toEqual({ a: "1", n: 1 });
  });

  it.each([
    {
      name: "an object that cannot be converted",
      convert: (() => err({ kind: "failed", message: "webhook down" })) satisfies ConvertObject,
      want: "webhook down",
    },
    {
      name: "an object that is invalid after conversion",
      convert: ((object) =>
        ok({ object: { ...object, apiVersion: widgetKind.apiVersion, nope: 1 }, schema: widgetKind.schema })) satisfies ConvertObject,
      want: ".nope: field not declared in schema",
    },
  ])("says so of $name", ({ convert, want }) => {
    const world = turn(both().apply("alice", { a: "1" }), V2);
    expect(world.tryApply("bob", as2({ n: 1 }), { ...inV2, convert })).toEqual({ ok: false, error: { kind: "invalid", message: want } });
    expect(world.tryUpdate("ctl", as2({ n: 1 }), { ...inV2, convert })).toMatchObject({
      error: { message: `failed to update ManagedFields (/w; ${V2}, Kind=Widget): ${want}` },
    });
  });

  it.each([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])("stops when conversion number %i fails, and names the step", (failing) => {
    const world = turn(both().apply("alice", { a: "1", n: 1 }).apply("bob", { n: 1 }), V2);
    let calls = 0;
    const convert: ConvertObject = (object, apiVersion) =>
      ++calls === failing ? err({ kind: "failed", message: "boom" }) : versions(object, apiVersion);
    const result = world.tryApply("alice", as2({ a: "2" }), { ...inV2, convert, force: true });
    if (calls >= failing)
      expect(result).toMatchObject({ ok: false, error: { kind: "invalid", message: expect.stringMatching(/boom$/) as unknown } });
    else expect(result.ok).toBe(true);
  });

  it.each([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])("continues when the version disappears at conversion number %i", (failing) => {
    const world = turn(both().apply("alice", { a: "1", n: 1 }).apply("bob", { n: 1 }), V2);
    let calls = 0;
    const convert: ConvertObject = (object, apiVersion) =>
      ++calls === failing && apiVersion !== V2 ? err({ kind: "missing-version" }) : versions(object, apiVersion);
    expect(world.tryApply("alice", as2({ a: "2" }), { ...inV2, convert, force: true }).ok).toBe(true);
  });

  it("an apply that would leave nothing of an object is an error", () => {
    const managedFields = [
      {
        manager: "alice",
        operation: "Apply",
        apiVersion: widgetKind.apiVersion,
        fieldsType: "FieldsV1",
        fieldsV1: { "f:apiVersion": {}, "f:kind": {}, "f:metadata": {} },
      },
    ];
    const world = both();
    world.live = widget(undefined, { managedFields });
    const reset = new Map([[widgetKind.apiVersion, () => new Map()]]);
    expect(world.tryApply("alice", widget(undefined), { resetFields: reset })).toMatchObject({
      error: { kind: "invalid", message: expect.stringContaining("failed to convert value to unstructured") as unknown },
    });
  });

  it("a list item that lost all its fields is an error, as on a real server", () => {
    const fieldsV1 = { "f:spec": { "f:ports": { 'k:{"protocol":"TCP"}': { "f:name": {} } } } };
    const entry = (manager: string, more: object) => ({
      manager,
      operation: "Apply",
      apiVersion: widgetKind.apiVersion,
      fieldsType: "FieldsV1",
      fieldsV1: more,
    });
    const world = both();
    world.live = widget({ ports: [{ name: "x" }] }, {
      managedFields: [entry("alice", fieldsV1), entry("bob", { "f:spec": { "f:ports": { 'k:{"protocol":"TCP"}': {} } } })],
    } as never);
    expect(world.tryApply("alice", widget({ a: "1" }))).toMatchObject({
      error: { message: expect.stringContaining("failed to compare objects: .spec.ports: element 0") as unknown },
    });
  });
});

describe("scale", () => {
  const entry = (manager: string, more: object) => ({
    manager,
    operation: "Update",
    apiVersion: "apps/v1",
    time: "2026-01-01T00:00:00Z",
    fieldsType: "FieldsV1",
    ...more,
  });
  const replicas = { "f:spec": { "f:replicas": {} } };
  const paths = new Map([
    ["apps/v1", fieldPath("spec", "replicas")],
    ["apps/v2", undefined],
  ]);
  const parent = [
    entry("alice", { operation: "Apply", fieldsV1: replicas }),
    entry("bob", { fieldsV1: { "f:spec": { "f:replicas": {}, "f:paused": {} } } }),
    entry("carol", { fieldsV1: { "f:spec": { "f:paused": {} } } }),
    entry("dave", { apiVersion: "apps/v2", fieldsV1: replicas }),
    entry("erin", { apiVersion: "apps/v0", fieldsV1: replicas }),
  ];
  const names = (entries: unknown) => (entries as { manager: string }[]).map(({ manager }) => manager);

  it("maps the owners of the replicas to the path in a Scale", () => {
    const entries = expectOk(scaleEntries(parent, paths));
    expect(entries).toMatchObject([
      { manager: "alice", operation: "Apply", apiVersion: "autoscaling/v1", fieldsV1: replicas },
      { manager: "bob", apiVersion: "autoscaling/v1", fieldsV1: replicas },
    ]);
  });

  it("removes the replicas from managers that lost them, and drops versions that are no longer served", () => {
    const scale = [
      {
        manager: "hpa",
        operation: "Update",
        apiVersion: "autoscaling/v1",
        time: "2026-01-01T00:00:09Z",
        fieldsType: "FieldsV1",
        fieldsV1: replicas,
        subresource: "scale",
      },
      { ...entry("frank", { fieldsV1: {} }) },
    ];
    const entries = expectOk(parentEntries({ parent, scale, apiVersion: "apps/v1", paths }));
    expect(names(entries)).toEqual(["hpa", "bob", "carol", "dave"]);
    expect(entries[0]).toEqual({
      manager: "hpa",
      operation: "Update",
      apiVersion: "apps/v1",
      fieldsType: "FieldsV1",
      fieldsV1: replicas,
      subresource: "scale",
    });
    expect(entries[1]).toMatchObject({ fieldsV1: { "f:spec": { "f:paused": {} } } });
  });

  it("keeps an applier that still owns them", () => {
    const scale = expectOk(scaleEntries(parent, paths)).filter((given) => given["operation"] === "Apply");
    expect(names(expectOk(parentEntries({ parent, scale, apiVersion: "apps/v1", paths })))).toContain("alice");
  });

  it("reports invalid entries", () => {
    expect(scaleEntries("x", paths).ok).toBe(false);
    expect(parentEntries({ parent: "x", scale: [], apiVersion: "apps/v1", paths }).ok).toBe(false);
    expect(parentEntries({ parent, scale: "x", apiVersion: "apps/v1", paths }).ok).toBe(false);
  });
});

describe("managedFields entries", () => {
  const entry = { manager: "m", operation: "Apply", apiVersion: "v1", fieldsType: "FieldsV1", fieldsV1: {} };

  it.each([
    { name: "no object", given: "x", want: "managed fields entry 0 is not an object" },
    { name: "no operation", given: { ...entry, operation: undefined }, want: "operation must be `Apply` or `Update`" },
    { name: "no version", given: { ...entry, apiVersion: "" }, want: "apiVersion must not be empty" },
    { name: "no type", given: { ...entry, fieldsType: undefined }, want: "missing fieldsType in managed fields entry 0" },
    { name: "another type", given: { ...entry, fieldsType: "V2" }, want: 'invalid fieldsType "V2" in managed fields entry 0' },
    {
      name: "no fields",
      given: { ...entry, fieldsV1: "x" },
      want: "error decoding versioned set from managed fields entry 0: expected an object of fields",
    },
  ])("are refused: $name", ({ given, want }) => {
    expect(decodeManaged([given as never])).toEqual({ ok: false, error: want });
  });

  it("come sorted by operation, time, name, version and subresource; the last of two with one identity counts", () => {
    const given = [
      { ...entry, operation: "Update", manager: "b", apiVersion: "v2" },
      { ...entry, operation: "Update", manager: "b", subresource: "status" },
      { ...entry, operation: "Update", manager: "b" },
      { ...entry, operation: "Update", manager: "a" },
      { ...entry, time: "2026-01-01T00:00:01Z" },
      { ...entry, manager: "z" },
      { ...entry, apiVersion: "v9", time: undefined },
      { ...entry, manager: undefined },
    ];
    const sorted = encodeManaged(expectOk(decodeManaged(given as never)));
    expect(sorted.map(({ operation, manager, apiVersion, subresource }) => [operation, manager, apiVersion, subresource])).toEqual([
      ["Apply", undefined, "v1", undefined],
      ["Apply", "m", "v9", undefined],
      ["Apply", "z", "v1", undefined],
      ["Update", "a", "v1", undefined],
      ["Update", "b", "v1", undefined],
      ["Update", "b", "v1", "status"],
      ["Update", "b", "v2", undefined],
    ]);
  });
});

describe("times", () => {
  it.each([
    { given: "2026-01-01T00:00:00Z", want: "2026-01-01T00:00:00Z" },
    { given: "2026-01-01T00:30:00.5+01:00", want: "2025-12-31T23:30:00Z" },
    { given: "2024-02-29T23:59:59-00:01", want: "2024-03-01T00:00:59Z" },
    { given: "1969-12-31t23:59:59z", want: "1969-12-31T23:59:59Z" },
    { given: "2026-13-01T00:00:00Z", want: undefined },
    { given: "yesterday", want: undefined },
  ])("reads $given as $want", ({ given, want }) => {
    expect(canonicalTime(given)).toBe(want);
    expect(parseSeconds(given)).toBe(want === undefined ? undefined : Date.parse(want) / 1_000);
  });
});
