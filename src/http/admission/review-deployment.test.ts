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

  test("names four of the fields that are not patched, and counts the others: one answer has five warnings", () => {
    const names = ["A", "B", "C", "D", "E", "F", "G"];
    const valueFrom = { configMapKeyRef: { name: "x", key: "y" } };
    const env = names.map((name) => ({ name, valueFrom }));
    const other = { ...patch, patch: { spec: { template: { spec: { containers: [{ name: "api", env }] } } } }, envFrom: {} };
    const object = JSON.parse(JSON.stringify(testDeployment())) as Deployment;
    for (const container of object.spec.template.spec.containers) container.env = names.map((name) => ({ name, value: "s3cr3t" }));
    const warnings = review(other)(reviewed(object))?.warnings ?? [];
    expect(warnings).toHaveLength(5);
    expect(warnings[0]).toContain(
      "spec.template.spec.containers[api].env[A] is not patched: the Deployment has value and the service configMapKeyRef",
    );
    expect(warnings[4]).toBe("LatticeService shop/api-service: 3 more fields are not patched");
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

  describe("with annotations that grow beyond the limit together with the record", () => {
    const old = patched(testDeployment(), review()(reviewed()));
    const annotated = (note: string): JsonObject => {
      const metadata = fieldAt(old, "metadata") as JsonObject;
      return { ...old, metadata: { ...metadata, annotations: { ...(metadata["annotations"] as JsonObject), note } } };
    };
    const sizeOf = (object: JsonObject) => JSON.stringify(fieldAt(object, "metadata", "annotations")).length;

    test.each([245_000, 262_000])("takes the patch off in the same write, so that it is not refused: %i characters", (length) => {
      const object = annotated("x".repeat(length));
      const answer = review()(reviewed(object, { operation: "UPDATE", old: old as unknown as KubeObject }));
      const after = patched(object, answer);
      expect(fieldAt(after, "metadata", "annotations")).toEqual({ note: "x".repeat(length) });
      expect(fieldAt(after, "spec")).toEqual(fieldAt(testDeployment(), "spec"));
      expect(answer?.warnings).toEqual([expect.stringContaining("larger than 240 KiB, of the 256 KiB") as string]);
    });

    test("keeps it below, with room for the annotations of controllers", () => {
      const object = annotated("x".repeat(240_000));
      expect(sizeOf(object)).toBeLessThan(240 * 1_024);
      expect(review()(reviewed(object, { operation: "UPDATE", old: old as unknown as KubeObject }))?.patch).toEqual([]);
    });
  });
});

describe("the review of a Deployment that needs the consent of its owner", () => {
  const asked = { ...patch, service: "tenant/api-service", consent: { label: "lattice.dev/shareable", values: ["true", "tenant"] } };
  const withLabels = (labels: JsonObject | null) => testDeployment({ metadata: { name: "api", namespace: "shop", labels } });

  test.each([
    { labels: { "lattice.dev/shareable": "true" }, want: true },
    { labels: { "lattice.dev/shareable": "tenant" }, want: true },
    { labels: { "lattice.dev/shareable": "other" }, want: false },
    { labels: { "lattice.dev/shareable": true }, want: false },
    { labels: {}, want: false },
    { labels: null, want: false },
  ])("patches its creation only with the label: $labels", ({ labels, want }) => {
    const answer = review(asked)(reviewed(withLabels(labels)));
    expect(answer?.patch.length !== 0).toBe(want);
    expect(answer?.warnings).toEqual([]);
  });

  test("restores it in the write that removes the label, and names what its owner changed since", () => {
    const shared = withLabels({ "lattice.dev/shareable": "true" });
    const live = patched(shared, review(asked)(reviewed(shared)));
    const old = live as unknown as KubeObject;
    const { "lattice.dev/shareable": _, ...labels } = fieldAt(live, "metadata", "labels") as JsonObject;
    const object = { ...live, metadata: { ...(live["metadata"] as JsonObject), labels } };
    const answer = review(asked)(reviewed(object, { operation: "UPDATE", old }));
    // an API server stores no empty labels
    expect(patched(object, answer)).toEqual(withLabels({}));
    expect(answer?.warnings).toEqual([
      "LatticeService tenant/api-service: the changes are taken off, because this Deployment is not shared any more",
    ]);
    const changed = JSON.parse(JSON.stringify(object).replace('"value":"debug"', '"value":"own"')) as JsonObject;
    expect(review(asked)(reviewed(changed, { operation: "UPDATE", old }))?.warnings).toContainEqual(
      expect.stringContaining("containers[api].env[LEVEL] is not restored, because it was changed since"),
    );
  });
});
