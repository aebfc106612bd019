import { expect, test } from "vitest";
import type { KubeObject } from "#kube";
import { isOurs, OWNER_LABEL, ownerKeyOf, ownerLabelOf, stamp, type ApplyOwner } from "./identity.ts";

const owner: ApplyOwner = {
  controller: "service",
  object: { apiVersion: "lattice.dev/v1", kind: "Widget", metadata: { name: "api", namespace: "shop", uid: "u1" } },
};
const wanted: KubeObject = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "api-env", namespace: "shop", labels: { a: "b" } } };
const clusterOwner: ApplyOwner = { controller: "env", object: { ...owner.object, metadata: { name: "prod", uid: "u2" } } };

test("an applied object names its owner, in the owner's namespace also by owner reference", () => {
  const { metadata } = stamp(wanted, owner);
  expect(metadata.labels).toEqual({ a: "b", [OWNER_LABEL]: ownerLabelOf(owner) });
  expect(metadata.annotations).toMatchObject({
    "lattice.dev/owner": "shop/api",
    "lattice.dev/applied": expect.stringMatching(/^[0-9a-f]{32}$/),
  });
  expect(metadata.ownerReferences).toEqual([
    { apiVersion: "lattice.dev/v1", kind: "Widget", name: "api", uid: "u1", controller: true, blockOwnerDeletion: true },
  ]);
});

test("no owner reference across namespaces: the garbage collector would delete the object", () => {
  const elsewhere = { ...wanted, metadata: { name: "x", namespace: "other" } };
  const clusterWide = { ...wanted, metadata: { name: "x" } };
  expect(stamp(elsewhere, owner).metadata.ownerReferences).toBeUndefined();
  expect(stamp(clusterWide, owner).metadata.ownerReferences).toBeUndefined();
  expect(stamp(elsewhere, clusterOwner).metadata.ownerReferences).toHaveLength(1);
});

test("the label distinguishes controllers and owners, and does not depend on the uid", () => {
  const labels = [
    ownerLabelOf(owner),
    ownerLabelOf({ ...owner, controller: "mesh" }),
    ownerLabelOf({ ...owner, object: { ...owner.object, kind: "Gadget" } }),
    ownerLabelOf({ ...owner, object: { ...owner.object, metadata: { name: "api", namespace: "other" } } }),
    ownerLabelOf({ ...owner, object: { ...owner.object, apiVersion: "v1" } }),
  ];
  expect(new Set(labels).size).toBe(labels.length);
  const reborn = { ...owner, object: { ...owner.object, apiVersion: "lattice.dev/v2", metadata: { ...owner.object.metadata, uid: "u9" } } };
  expect(ownerLabelOf(reborn)).toBe(ownerLabelOf(owner));
  expect(ownerLabelOf(owner).length).toBeLessThanOrEqual(63);
});

test("another wanted object has another digest", () => {
  const digest = (object: KubeObject) => stamp(object, owner).metadata.annotations?.["lattice.dev/applied"];
  expect(digest(wanted)).toBe(digest(structuredClone(wanted)));
  expect(digest({ ...wanted, metadata: { ...wanted.metadata, labels: {} } })).not.toBe(digest(wanted));
});

const entry = (manager: string, more: object = {}) => ({
  manager,
  operation: "Apply",
  fieldsV1: { "f:metadata": { "f:labels": { [`f:${OWNER_LABEL}`]: {} } } },
  ...more,
});
const live = (managedFields: readonly unknown[], label = ownerLabelOf(owner)): KubeObject => ({
  ...wanted,
  metadata: { ...wanted.metadata, labels: { [OWNER_LABEL]: label }, managedFields },
});

const rows = [
  { name: "our label, set by us", given: live([entry("kubectl"), entry("lattice")]), want: true },
  { name: "a copy made by a user", given: live([entry("kubectl")]), want: false },
  { name: "set by our update, not by our apply", given: live([entry("lattice", { operation: "Update" })]), want: false },
  { name: "set by us on a subresource only", given: live([entry("lattice", { subresource: "status" })]), want: false },
  { name: "the label of another owner", given: live([entry("lattice")], "service.0000"), want: false },
  { name: "our entry without the label", given: live([entry("lattice", { fieldsV1: {} })]), want: false },
  { name: "no managedFields", given: live([]), want: false },
  { name: "invalid managedFields", given: live([null, "x"]), want: false },
];

test.each(rows)("may be deleted? $name: $want", ({ given, want }) => {
  expect(isOurs(given, owner)).toBe(want);
});

test("the owner of an object is only visible to the controller that applied it", () => {
  const stamped = stamp(wanted, owner);
  expect(ownerKeyOf(stamped, "service")).toEqual({ namespace: "shop", name: "api" });
  expect([ownerKeyOf(stamped, "serv"), ownerKeyOf(wanted, "service")]).toEqual([undefined, undefined]);
});

test("no owner reference on objects that must outlive their owner: claims (data) and namespaces", () => {
  for (const kind of ["PersistentVolumeClaim", "Namespace"])
    expect(stamp({ ...wanted, kind }, owner).metadata.ownerReferences).toBeUndefined();
});

test("the digest of a Secret depends on its keys and not on its values: a weak value could be guessed from the annotation", () => {
  const digest = (data: object) => {
    const secret = { ...wanted, kind: "Secret", data };
    return stamp(secret, owner).metadata.annotations?.["lattice.dev/applied"];
  };
  expect(digest({ a: "x" })).toBe(digest({ a: "y" }));
  expect(digest({ a: "x" })).not.toBe(digest({ a: "x", b: "x" }));
});
