import { describe, expect, test } from "vitest";
import { expectOk, FakeClock } from "#base";
import { fieldAt, type JsonObject, type KubeObject } from "#kube";
import { applyJsonPatch } from "#patch";
import { PATCH_CHECK_MANAGER, type WorkloadPatch } from "#workload-patch";
import type { ReviewedDeployment } from "./admission-review.ts";
import { testDeployment } from "./admission-world.test-support.ts";
import { reviewDeployments } from "./review-deployment.ts";

const NOW = Date.UTC(2030, 0, 1);
const patch: WorkloadPatch = {
  version: 1,
  service: "shop/api-service",
  target: { namespace: "shop", name: "api" },
  patch: { spec: { template: { spec: { containers: [{ name: "api", env: [{ name: "LEVEL", value: "debug" }] }] } } } },
  envFrom: { api: [{ secretRef: { name: "api-env" } }] },
  variables: {},
};
const review = (found: WorkloadPatch | undefined = patch) =>
  reviewDeployments({ find: (namespace, name) => (`${namespace}/${name}` === "shop/api" ? found : undefined), clock: new FakeClock(NOW) });
const reviewed = (object: JsonObject = testDeployment(), more: Partial<ReviewedDeployment> = {}): ReviewedDeployment => ({
  operation: "CREATE",
  namespace: "shop",
  name: "api",
  object: object as unknown as KubeObject,
  dryRun: false,
  fieldManager: "",
  ...more,
});
type Deployment = { readonly spec: { readonly template: { readonly spec: { readonly containers: { env?: readonly JsonObject[] }[] } } } };
const patched = (object: JsonObject, answer: ReturnType<ReturnType<typeof review>>): JsonObject =>
  expectOk(applyJsonPatch(object, [...(answer?.patch ?? [])])) as JsonObject;

describe("the review of a Deployment", () => {
  test("answers the difference between the object and the patched one", () => {
    const after = patched(testDeployment(), review()(reviewed()));
    expect(fieldAt(after, "metadata", "labels", "lattice.dev/service")).toBe("api-service");
    expect(fieldAt(after, "spec", "template", "metadata", "labels")).toEqual({ app: "api", "lattice.dev/service": "api-service" });
    expect(fieldAt(after, "spec", "selector")).toEqual({ matchLabels: { app: "api" } });
    expect(fieldAt(after, "spec", "template", "spec", "containers")).toMatchObject([
      { name: "api", image: "api:1", env: [{ name: "LEVEL", value: "debug" }], envFrom: [{ secretRef: { name: "api-env" } }] },
    ]);
  });

  test("of an object that has the patch changes nothing, so that it can be repeated", () => {
    const once = patched(testDeployment(), review()(reviewed()));
    expect(review()(reviewed(once))).toEqual({ patch: [], warnings: [] });
    const old = once as unknown as KubeObject;
    expect(review()(reviewed(once, { operation: "UPDATE", old }))).toEqual({ patch: [], warnings: [] });
  });

  test("of a dry run answers what a write would", () => {
    expect(review()(reviewed(testDeployment(), { dryRun: true }))).toEqual(review()(reviewed()));
  });

  test("of the controller's check of a new patch changes nothing: the patch from before would replace the one to check", () => {
    const fieldManager = PATCH_CHECK_MANAGER;
    expect(review()(reviewed(testDeployment(), { dryRun: true, fieldManager }))).toEqual({ patch: [], warnings: [] });
    expect(review()(reviewed(testDeployment(), { dryRun: false, fieldManager }))).toEqual(review()(reviewed()));
  });

  test("that no service refers to has no answer", () => {
    expect(review()(reviewed(testDeployment(), { name: "web" }))).toBeUndefined();
  });

  test("without a container of the service says which, and creates none", () => {
    const other = { ...patch, patch: { spec: { template: { spec: { containers: [{ name: "worker", image: "w:1" }] } } } }, envFrom: {} };
    const answer = review(other)(reviewed());
    expect(answer?.warnings).toEqual(['LatticeService shop/api-service: this Deployment has no container "worker"']);
    expect(fieldAt(patched(testDeployment(), answer), "spec", "template", "spec", "containers")).toEqual([{ name: "api", image: "api:1" }]);
  });

  test("names the fields that are not patched, at most five", () => {
    const names = ["A", "B", "C", "D", "E", "F", "G"];
    const valueFrom = { configMapKeyRef: { name: "x", key: "y" } };
    const env = names.map((name) => ({ name, valueFrom }));
    const other = { ...patch, patch: { spec: { template: { spec: { containers: [{ name: "api", env }] } } } }, envFrom: {} };
    const object = JSON.parse(JSON.stringify(testDeployment())) as Deployment;
    for (const container of object.spec.template.spec.containers) container.env = names.map((name) => ({ name, value: "s3cr3t" }));
    const warnings = review(other)(reviewed(object))?.warnings ?? [];
    expect(warnings).toHaveLength(6);
    expect(warnings[0]).toContain(
      "spec.template.spec.containers[api].env[A] is not patched: the Deployment has value and the service configMapKeyRef",
    );
    expect(warnings[5]).toBe("LatticeService shop/api-service: 2 more fields are not patched");
    expect(warnings.join()).not.toContain("s3cr3t");
  });

  test("with a record that cannot be read says so, without its text", () => {
    const annotations = { "lattice.dev/patched-fields": "{not json s3cr3t" };
    const object = testDeployment({ metadata: { name: "api", namespace: "shop", annotations } });
    const warnings = review()(reviewed(object))?.warnings ?? [];
    expect(warnings).toEqual([expect.stringContaining("the record of changed fields was not readable") as string]);
    expect(warnings.join()).not.toContain("s3cr3t");
  });

  test("that cannot be patched is left as it is, with the reason", () => {
    const annotations = { big: "x".repeat(262_000) };
    const object = testDeployment({ metadata: { name: "api", namespace: "shop", annotations } });
    const answer = review()(reviewed(object));
    expect(answer?.patch).toEqual([]);
    expect(answer?.warnings).toEqual([
      expect.stringMatching(/^LatticeService shop\/api-service does not patch this Deployment: /) as string,
    ]);
  });
});
