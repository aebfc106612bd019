import { expect, test } from "vitest";
import type { CacheReader } from "#controller-runtime";
import type { KubeObject } from "#kube";
import { MountedObjects } from "./mounted-objects.ts";

const payroll: KubeObject = { apiVersion: "v1", kind: "Secret", metadata: { name: "payroll", namespace: "prod", labels: { a: "b" } } };
const cache = { get: (_: unknown, { name }: { name: string }) => (name === "payroll" ? payroll : undefined) } as unknown as CacheReader;

test("a change affects the services whose last compilation looked the object up, whether or not it exists", () => {
  const mounted = new MountedObjects();
  expect(mounted.find("Secret", "prod", "payroll")).toBeUndefined();
  mounted.follow(cache);
  expect(mounted.find("Secret", "prod", "payroll")).toEqual({ labels: { a: "b" }, madeFor: undefined });
  const both = mounted.record(() => [mounted.find("Secret", "prod", "payroll"), mounted.find("ConfigMap", "prod", "later")]);
  expect(mounted.usedBy("Secret", payroll)).toEqual([]);
  mounted.setUses("a/x", both.mounted);
  expect(mounted.usesOf("a/x")).toEqual(new Set(["Secret prod/payroll", "ConfigMap prod/later"]));
  expect(mounted.usedBy("Secret", payroll)).toEqual(["a/x"]);
  expect(mounted.usedBy("ConfigMap", { ...payroll, metadata: { name: "later", namespace: "prod" } })).toEqual(["a/x"]);
  mounted.setUses("a/x", mounted.record(() => undefined).mounted);
  expect(mounted.usedBy("Secret", payroll)).toEqual([]);
});

test("an object that Lattice applied names its service", () => {
  const labels = { "lattice.dev/owned-by": "service.0123456789abcdef" };
  const annotations = { "lattice.dev/owner": "team-a/api" };
  const made = { ...payroll, metadata: { ...payroll.metadata, labels, annotations } };
  const mounted = new MountedObjects();
  mounted.follow({ get: () => made } as unknown as CacheReader);
  expect(mounted.find("PersistentVolumeClaim", "prod", "payroll")).toEqual({ labels, madeFor: "team-a/api" });
});
