import { expect, test } from "vitest";
import { createLogger } from "#base";
import type { KubeObject } from "#kube";
import { DeclaredProvisioners } from "./declared-provisioners.ts";

const configMap = (name: string, text: string, namespace = "lattice-system", labels: object = { "lattice.dev/provisioner": "true" }) => {
  const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace, labels }, data: { "provisioner.yaml": text } };
  return { key: { namespace, name }, object: object as unknown as KubeObject };
};
const S3 = 'type: s3\noutputs:\n  url: {value: "s3://x"}\n';

test("a ConfigMap of the operator's namespace declares a type, changes it, and removes it", () => {
  const lines: string[] = [];
  const provisioners = new DeclaredProvisioners(
    "lattice-system",
    createLogger((level, message) => void lines.push(`${level} ${message}`)),
  );
  const change = ({ key, object }: ReturnType<typeof configMap>) => [...provisioners.change(key, object)];
  expect(change(configMap("b", S3))).toEqual(["s3"]);
  expect(change(configMap("a", S3.replace("s3", "gcs")))).toEqual(["gcs"]);
  expect(provisioners.list().map(({ type }) => type)).toEqual(["gcs", "s3"]);
  expect(change(configMap("b", S3.replace("s3", "blob")))).toEqual(["s3", "blob"]);
  expect(change(configMap("b", "nonsense"))).toEqual(["blob"]);
  expect(lines).toEqual(["warn a provisioner is not understood and not used"]);
  expect([...provisioners.change({ namespace: "lattice-system", name: "a" }, undefined)]).toEqual(["gcs"]);
  expect(provisioners.list()).toEqual([]);
});

test("in another namespace, or without the label, a ConfigMap declares nothing", () => {
  const provisioners = new DeclaredProvisioners(
    "lattice-system",
    createLogger(() => undefined),
  );
  for (const { key, object } of [configMap("a", S3, "tenant"), configMap("a", S3, "lattice-system", {})]) {
    expect([...provisioners.change(key, object)]).toEqual([]);
  }
  expect(provisioners.list()).toEqual([]);
});
