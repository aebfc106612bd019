/** The rules of metadata, with the messages of kube-apiserver 1.36.3. */
import { describe, expect, test } from "vitest";
import { dnsSubdomainProblems, type JsonObject } from "#kube";
import { lineOf } from "../widget.test-support.ts";
import { validateObjectMeta, validateObjectMetaUpdate } from "./object-meta.ts";

const create = (meta: JsonObject, namespaced = true): readonly string[] =>
  validateObjectMeta({ name: "x", namespace: "ns", ...meta }, namespaced, dnsSubdomainProblems, "metadata").map(lineOf);
const owner = (more: JsonObject): JsonObject => ({ apiVersion: "v1", kind: "Pod", name: "p", uid: "u", ...more });
const text = (part: string): string => expect.stringContaining(part) as string;

describe("metadata is refused for", () => {
  test.each<{ name: string; given: JsonObject; want: readonly string[] }>([
    { name: "no name", given: { name: "" }, want: ["metadata.name: Required value: name or generateName is required"] },
    {
      name: "an invalid name",
      given: { name: "X", generateName: "Yy-" },
      want: [text('metadata.generateName: Invalid value: "Yy-"'), text('metadata.name: Invalid value: "X"')],
    },
    { name: "no namespace", given: { namespace: "" }, want: ["metadata.namespace: Required value"] },
    { name: "an invalid namespace", given: { namespace: "a.b" }, want: [text('metadata.namespace: Invalid value: "a.b"')] },
    {
      name: "a negative generation",
      given: { generation: -1 },
      want: ["metadata.generation: Invalid value: -1: must be greater than or equal to 0"],
    },
    {
      name: "invalid labels",
      given: { labels: { "a/b/c": "x", ok: "-" } },
      want: [text('metadata.labels: Invalid value: "a/b/c"'), text('metadata.labels: Invalid value: "-"')],
    },
    {
      name: "invalid annotations",
      given: { annotations: { "-": "x", OK: "anything at all" } },
      want: [text('metadata.annotations: Invalid value: "-"')],
    },
    {
      name: "annotations that are too large",
      given: { annotations: { a: "x".repeat(262_144) } },
      want: ["metadata.annotations: Too long: may not be more than 262144 bytes"],
    },
    {
      name: "an invalid owner",
      given: { ownerReferences: [{ apiVersion: "" }] },
      want: [
        'metadata.ownerReferences.apiVersion: Invalid value: "": version must not be empty',
        'metadata.ownerReferences.kind: Invalid value: "": must not be empty',
        'metadata.ownerReferences.name: Invalid value: "": must not be empty',
        'metadata.ownerReferences.uid: Invalid value: "": must not be empty',
      ],
    },
    {
      name: "an event as owner",
      given: { ownerReferences: [owner({ kind: "Event" })] },
      want: [text("/v1, Kind=Event is disallowed from being an owner")],
    },
    {
      name: "two controllers",
      given: { ownerReferences: [owner({ controller: true }), owner({ name: "q", controller: true })] },
      want: [text('Only one reference can have Controller set to true. Found "true" in references for Pod/p and Pod/q')],
    },
    {
      name: "invalid finalizers",
      given: { finalizers: ["_", "orphan", "foregroundDeletion"] },
      want: [
        text('metadata.finalizers: Invalid value: "_"'),
        'metadata.finalizers: Invalid value: ["_","orphan","foregroundDeletion"]: finalizer orphan and foregroundDeletion cannot be both set',
      ],
    },
    {
      name: "invalid field managers",
      given: { managedFields: [{ operation: "x", fieldsType: "y" }] },
      want: [
        'metadata.managedFields[0].operation: Invalid value: "x": must be `Apply` or `Update`',
        'metadata.managedFields[0].fieldsType: Invalid value: "y": must be `FieldsV1`',
      ],
    },
  ])("$name", ({ given, want }) => {
    expect(create(given)).toEqual(want);
  });
  test("a namespace of a cluster-scoped object", () => {
    expect(create({}, false)).toEqual(["metadata.namespace: Forbidden: not allowed on this type"]);
    expect(create({ namespace: "" }, false)).toEqual([]);
  });
});

describe("a change of metadata is refused for", () => {
  const old = { name: "x", namespace: "ns", uid: "u", resourceVersion: "1", generation: 2 };
  test.each<{ name: string; before?: JsonObject; given: JsonObject; want: readonly string[] }>([
    {
      name: "no resourceVersion",
      given: { resourceVersion: "" },
      want: ["metadata.resourceVersion: Invalid value: 0: must be specified for an update"],
    },
    {
      name: "a decreasing generation",
      given: { generation: 1 },
      want: ["metadata.generation: Invalid value: 1: must not be decremented"],
    },
    { name: "a changed identity", given: { uid: "v" }, want: ['metadata.uid: Invalid value: "v": field is immutable'] },
    {
      name: "new finalizers during deletion",
      before: { deletionTimestamp: "t" },
      given: { deletionTimestamp: "t", finalizers: ["b", "a"] },
      want: [
        'metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"a", "b"}',
      ],
    },
    {
      name: "nothing when a finalizer is removed",
      before: { deletionTimestamp: "t", finalizers: ["a"] },
      given: { deletionTimestamp: "t" },
      want: [],
    },
  ])("$name", ({ before = {}, given, want }) => {
    expect(validateObjectMetaUpdate({ ...old, ...given }, { ...old, ...before }, "metadata").map(lineOf)).toEqual(want);
  });
});
