/** Copies, their content and their status. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { canonicalJson, capiClusters, type Json, type KubeObject } from "#kube";
import type { WholeNode } from "../graph/object-graph.ts";
import {
  completionPatch,
  contentOf,
  copyOf,
  hasContent,
  hashOf,
  hasStatusOf,
  isPaused,
  pausePatch,
  projectOnto,
  statusFor,
} from "./content.ts";

const cluster = {
  apiVersion: "cluster.x-k8s.io/v1beta2",
  kind: "Cluster",
  metadata: {
    name: "c",
    namespace: "a",
    generateName: "c-",
    uid: "u1",
    resourceVersion: "7",
    generation: 3,
    creationTimestamp: "2026-01-01T00:00:00Z",
    annotations: { team: "x", "clusterctl.cluster.x-k8s.io/delete-for-move": "" },
    finalizers: ["f"],
    ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", name: "o", uid: "old", controller: true }],
    managedFields: [{ manager: "user" }, { manager: "lattice-move" }],
  },
  spec: { paused: true, clusterNetwork: { serviceDomain: "x" } },
  status: {
    observedGeneration: 2,
    conditions: [
      { type: "Available", observedGeneration: 1 },
      { type: "Paused", status: "True" },
    ],
  },
} as unknown as KubeObject;
const node = (more: Partial<WholeNode> = {}): WholeNode => ({
  uid: "u1",
  kind: { resource: capiClusters, rule: "hierarchy", hasStatus: true },
  object: cluster,
  owners: [],
  level: 0,
  ...more,
});

test("a copy is paused, marked, owned by the copy of its owner, and has nothing that a server sets", () => {
  expect(copyOf(node(), new Map([["old", "new"]]))).toEqual({
    apiVersion: "cluster.x-k8s.io/v1beta2",
    kind: "Cluster",
    metadata: {
      name: "c",
      namespace: "a",
      annotations: { team: "x", "lattice.dev/copy-of": "u1" },
      finalizers: ["f"],
      ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", name: "o", uid: "new", controller: true }],
    },
    spec: { paused: true, clusterNetwork: { serviceDomain: "x" } },
  });
});

test("a ClusterClass is paused by an annotation, unless it stays at the source", () => {
  const object = { ...cluster, kind: "ClusterClass", spec: {} } as KubeObject;
  const paused = (copy: KubeObject) => Object.keys(copy.metadata.annotations ?? {}).includes("cluster.x-k8s.io/paused");
  expect(paused(copyOf(node({ object }), new Map()))).toBe(true);
  expect(paused(copyOf(node({ object, kept: "used-elsewhere" }), new Map()))).toBe(false);
  expect(
    isPaused({
      ...object,
      ...(pausePatch("annotation", true) as object),
      metadata: { name: "c", annotations: { "cluster.x-k8s.io/paused": "" } },
    }),
  ).toBe(true);
});

test("the hash ignores the pause, uids and what the move adds, and nothing else", () => {
  const hash = (object: KubeObject) => hashOf(contentOf(object, true));
  const copy = { ...copyOf(node(), new Map()), status: {} } as KubeObject;
  expect(hash({ ...copy, spec: { clusterNetwork: { serviceDomain: "x" } } } as KubeObject)).toBe(hash(cluster));
  for (const changed of [
    { ...cluster, spec: { paused: true } },
    { ...cluster, metadata: { ...cluster.metadata, labels: { a: "b" } } },
    { ...cluster, metadata: { ...cluster.metadata, finalizers: [] } },
    { ...cluster, data: { a: "b" } },
  ])
    expect(hash(changed as KubeObject)).not.toBe(hash(cluster));
});

test("a copy with defaults of a newer definition has the content; one that lacks or changes a field has not", () => {
  const copy = (spec: Json) => ({ ...copyOf(node(), new Map()), spec }) as KubeObject;
  expect(hasContent(copy({ paused: true, clusterNetwork: { serviceDomain: "x", added: 1 }, more: [] }), cluster, true)).toBe(true);
  expect(hasContent(copy({ paused: true, clusterNetwork: { serviceDomain: "y" } }), cluster, true)).toBe(false);
  expect(hasContent(copy({ paused: true }), cluster, true)).toBe(false);
});

test("what was observed of the original counts as observed of the copy, whose generations begin anew", () => {
  // the pause made generation 3, so 2 is current
  expect(statusFor(cluster, 1)).toEqual({
    observedGeneration: 1,
    conditions: [
      { type: "Available", observedGeneration: 0 },
      { type: "Paused", status: "True" },
    ],
  });
  expect(hasStatusOf({ ...cluster, status: { observedGeneration: 9, conditions: [{ type: "Available" }] } } as KubeObject, cluster)).toBe(
    true,
  );
  expect(hasStatusOf({ ...cluster, status: {} } as KubeObject, cluster)).toBe(false);
  expect(statusFor({ ...cluster, status: {} } as KubeObject, 1)).toBeUndefined();
});

test("the last write keeps all field managers but the move itself, and removes the mark", () => {
  expect(completionPatch(cluster)).toEqual({
    metadata: { managedFields: [{ manager: "user" }], annotations: { "lattice.dev/copy-of": null } },
  });
});

test("any value projected onto itself is itself, and projecting never adds a field", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (value, shape) => {
      expect(canonicalJson(projectOnto(value, value))).toBe(canonicalJson(value));
      const projected = projectOnto(value, shape);
      expect(canonicalJson(projectOnto(projected, value))).toBe(canonicalJson(projected));
    }),
    { numRuns: 500 },
  );
});

test("a field with the name __proto__ is content like any other", () => {
  const object = { ...cluster, ...(JSON.parse('{"data":{"__proto__":"x"}}') as object) } as KubeObject;
  expect(hashOf(contentOf(object, true))).not.toBe(hashOf(contentOf({ ...cluster, data: {} } as unknown as KubeObject, true)));
  expect(hasContent({ ...object, data: {} } as unknown as KubeObject, object, true)).toBe(false);
});
