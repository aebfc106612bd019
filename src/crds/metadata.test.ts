import { describe, expect, it } from "vitest";
import { rawCluster, rawService } from "../../test/builders/valid-resources.ts";
import { formatFieldError, parseLatticeObject } from "./index.ts";

const rows: { name: string; given: object; want: readonly string[] }[] = [
  { name: "no metadata", given: { ...rawCluster(), metadata: undefined }, want: ["metadata: is required: Standard object metadata."] },
  {
    name: "no name",
    given: { ...rawCluster(), metadata: {} },
    want: ["metadata.name: is required: Name of the object; it cannot be changed."],
  },
  {
    name: "a name that is a number",
    given: { ...rawCluster(), metadata: { name: 1 } },
    want: ["metadata.name: must be a string, and is a number; put it in quotes"],
  },
  {
    name: "a namespace on a cluster-scoped kind",
    given: { ...rawCluster(), metadata: { name: "a", namespace: "b" } },
    want: ["metadata.namespace: the kind is cluster-scoped and has no namespace; remove it"],
  },
  {
    name: "a namespace that is no label",
    given: { ...rawService(), metadata: { name: "a", namespace: "b.c" } },
    want: [
      "metadata.namespace: must be a lowercase RFC 1123 label: lower case letters, digits and '-', beginning and ending with a letter or digit",
    ],
  },
  {
    name: "a label whose value is too long, and one whose key is none",
    given: { ...rawService(), metadata: { name: "a", labels: { a: "b".repeat(64), "-c": "d" } } },
    want: [
      "metadata.labels[a]: must have at most 63 characters, and has 64",
      "metadata.labels[-c]: each key must be a label's: an optional DNS prefix and '/', then at most 63 letters, digits, '-', '_' and '.'",
    ],
  },
  {
    name: "a misspelt field",
    given: { ...rawService(), metadata: { name: "a", label: {} } },
    want: ['metadata.label: unknown field "metadata.label"; did you mean "labels"?'],
  },
  {
    name: "everything a server fills in",
    given: {
      ...rawService(),
      metadata: {
        name: "a",
        uid: "u",
        resourceVersion: "1",
        generation: 1,
        creationTimestamp: "2026-01-01T00:00:00Z",
        annotations: { "example.com/note": "anything at all" },
        finalizers: ["lattice.dev/service"],
        ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", name: "o", uid: "u", controller: true }],
        managedFields: [{ manager: "kubectl", fieldsV1: { "f:spec": { ".": {} } } }],
      },
    },
    want: [],
  },
];

describe("metadata", () => {
  it.each(rows)("$name", ({ given, want }) => {
    const parsed = parseLatticeObject(given);
    expect(parsed.ok ? [] : parsed.error.map(formatFieldError)).toEqual(want);
  });
});
