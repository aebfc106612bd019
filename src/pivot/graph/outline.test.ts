/** Outlines have all that the graph and the plan read, and little else. The tables of both (object-graph, problems) run on outlines, too. */
import { expect, test } from "vitest";
import { describeObject, isBeingDeleted, type JsonObject, type KubeObject } from "#kube";
import { isPaused, pausedBy } from "../plan/content.ts";
import { isAsPlanned, outlineOf } from "./outline.ts";
import { referencesOf } from "./references.ts";
import { softOwnerOf } from "./soft-owners.ts";

const CORE = "cluster.x-k8s.io/v1beta2";
const owner = { apiVersion: CORE, kind: "Cluster", name: "c", uid: "u-c", controller: true, blockOwnerDeletion: true };

function object(apiVersion: string, kind: string, more: JsonObject = {}, metadata: JsonObject = {}): KubeObject {
  const managedFields = [{ manager: "kubectl", operation: "Apply", fieldsV1: { "f:spec": {} } }];
  return {
    apiVersion,
    kind,
    metadata: {
      name: "one",
      namespace: "a",
      uid: "u-1",
      resourceVersion: "7",
      labels: { app: "x", "cluster.x-k8s.io/cluster-name": "c" },
      ownerReferences: [owner],
      managedFields,
      ...metadata,
    },
    ...more,
  };
}

const secretFile = { path: "/etc/key", contentFrom: { secret: { name: "keys", key: "tls.key" } } };
const files = [{ path: "/etc/long", content: "x".repeat(10_000) }, secretFile];
const bootstrap = "bootstrap.cluster.x-k8s.io/v1beta2";
const infrastructure = "infrastructure.cluster.x-k8s.io/v1beta2";

const objects: readonly { name: string; object: KubeObject }[] = [
  {
    name: "a Cluster of a class",
    object: object(CORE, "Cluster", {
      spec: { paused: true, topology: { classRef: { name: "k", namespace: "b" }, variables: [{ name: "v", value: "x".repeat(5_000) }] } },
    }),
  },
  { name: "a Cluster of a class of v1beta1", object: object(CORE, "Cluster", { spec: { topology: { class: "k" } } }) },
  {
    name: "a paused ClusterClass",
    object: object(CORE, "ClusterClass", {}, { annotations: { "cluster.x-k8s.io/paused": "", other: "" } }),
  },
  { name: "a Machine in deletion", object: object(CORE, "Machine", {}, { deletionTimestamp: "2026-01-01T00:00:00Z" }) },
  { name: "a KubeadmConfig", object: object(bootstrap, "KubeadmConfig", { spec: { files } }) },
  { name: "a KubeadmConfigTemplate", object: object(bootstrap, "KubeadmConfigTemplate", { spec: { template: { spec: { files } } } }) },
  {
    name: "a KubeadmControlPlane",
    object: object("controlplane.cluster.x-k8s.io/v1beta2", "KubeadmControlPlane", { spec: { kubeadmConfigSpec: { files } } }),
  },
  {
    name: "an infrastructure cluster",
    object: object(infrastructure, "AWSCluster", {
      spec: { identityRef: { kind: "Identity", name: "i" }, credentialsRef: { name: "s" }, secretRef: "t", clientSecret: { name: "u" } },
    }),
  },
  {
    name: "a Secret by its name",
    object: object("v1", "Secret", { data: { value: "eA==" } }, { name: "c-kubeconfig", ownerReferences: [] }),
  },
  {
    name: "a binding",
    object: object("addons.cluster.x-k8s.io/v1beta2", "ClusterResourceSetBinding", { spec: { clusterName: "c", bindings: [] } }),
  },
  {
    name: "fields of other types than expected",
    object: object(infrastructure, "AWSCluster", { spec: { files: 1, identityRef: [] }, status: "x" }),
  },
];

test.for(objects)("$name: the same is found in the outline", ({ object: whole }) => {
  const outline = outlineOf(whole);
  const found = (one: typeof outline) => ({
    text: describeObject(one),
    references: referencesOf(one),
    softOwner: softOwnerOf(one),
    pausedBy: pausedBy(one),
    isPaused: isPaused(one),
    isBeingDeleted: isBeingDeleted(one),
    owners: (one.metadata.ownerReferences ?? []).map(({ uid, kind, name }) => ({ uid, kind, name })),
  });
  expect(found(outline)).toEqual(found(whole));
  expect(JSON.stringify(outline).length).toBeLessThan(700);
});

test("an outline has no contents: a Secret's data and the values of files are left out", () => {
  const secret = outlineOf(object("v1", "Secret", { data: { token: "c2VjcmV0" }, stringData: { token: "secret" } }));
  expect(JSON.stringify(secret)).not.toMatch(/c2VjcmV0|secret"/u);
  expect(JSON.stringify(outlineOf(object(bootstrap, "KubeadmConfig", { spec: { files } })))).not.toContain("xxx");
});

const planned = object(infrastructure, "AWSMachine", { spec: { identityRef: { name: "i" }, size: 1 }, status: { ready: false } });
const withMetadata = (metadata: JsonObject): KubeObject => ({ ...planned, metadata: { ...planned.metadata, ...metadata } });
const changes: readonly { name: string; now: KubeObject; want: boolean }[] = [
  { name: "unchanged", now: planned, want: true },
  { name: "another status", now: { ...planned, status: { ready: true } } as KubeObject, want: true },
  { name: "a label of a person", now: withMetadata({ labels: { ...planned.metadata.labels, app: "y" } }), want: true },
  { name: "another field of the spec", now: { ...planned, spec: { identityRef: { name: "i" }, size: 2 } } as KubeObject, want: true },
  { name: "another reference", now: { ...planned, spec: { identityRef: { name: "j" }, size: 1 } } as KubeObject, want: false },
  { name: "another object of the same name", now: withMetadata({ uid: "u-2" }), want: false },
  { name: "another owner", now: withMetadata({ ownerReferences: [{ ...owner, uid: "u-d" }] }), want: false },
  { name: "no owner any more", now: withMetadata({ ownerReferences: [] }), want: false },
  { name: "in deletion", now: withMetadata({ deletionTimestamp: "2026-01-01T00:00:00Z" }), want: false },
  { name: "blocks the move", now: withMetadata({ annotations: { "clusterctl.cluster.x-k8s.io/block-move": "" } }), want: false },
];

test.for(changes)("an object that was read again is as planned: $name: $want", ({ now, want }) => {
  expect(isAsPlanned(now, outlineOf(planned))).toBe(want);
});
