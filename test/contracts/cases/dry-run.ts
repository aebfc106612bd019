/** Dry runs: a request is processed completely, but not stored. */
import { expect } from "vitest";
import { area } from "../contract.ts";
import { configMap, deployment, service } from "./objects.ts";

export const dryRun = area("dry run", {
  "a dry-run creation returns the object without a resourceVersion": async (api) => {
    const dry = await api.post("configmaps?dryRun=All", configMap("a", { x: "1" }));
    dry.gives(201, { data: { x: "1" } }).has("metadata.resourceVersion", undefined);
    expect(dry.textAt("metadata.uid")).not.toBe("");
    (await api.get("configmaps/a")).gives(404);
  },

  "a dry-run creation sets defaults and validates": async (api) => {
    (await api.post("apps/v1/deployments?dryRun=All", deployment("a"))).gives(201, { spec: { replicas: 1 } });
    (await api.post("apps/v1/deployments?dryRun=All", { metadata: { name: "b" } })).gives(422, { reason: "Invalid" });
    await api.created("configmaps", configMap("c"));
    (await api.post("configmaps?dryRun=All", configMap("c"))).gives(409, { reason: "AlreadyExists" });
  },

  "a dry-run Service gets no address": async (api) => {
    const dry = await api.post("services?dryRun=All", service("a"));
    dry.gives(201);
    const made = await api.created("services", service("a"));
    expect(made.textAt("spec.clusterIP")).toMatch(/^10\./);
  },

  "a dry run returns a generated name": async (api) => {
    expect((await api.post("configmaps?dryRun=All", { metadata: { generateName: "a-" } })).textAt("metadata.name")).toMatch(/^a-.{5}$/);
  },

  "a dry-run PUT returns the result with the current version": async (api) => {
    const made = await api.created("configmaps", configMap("a", { x: "1" }));
    (await api.put("configmaps/a?dryRun=All", configMap("a", { x: "2" })))
      .gives(200, { data: { x: "2" } })
      .has("metadata.resourceVersion", made.textAt("metadata.resourceVersion"));
    (await api.get("configmaps/a")).has("data", { x: "1" });
  },

  "a dry-run PUT that would create returns 201 and creates nothing": async (api) => {
    (await api.put("coordination.k8s.io/v1/leases/a?dryRun=All", { metadata: { name: "a" } })).gives(201);
    (await api.get("coordination.k8s.io/v1/leases/a")).gives(404);
  },

  "a dry-run patch returns the result": async (api) => {
    await api.created("configmaps", configMap("a", { x: "1" }));
    (await api.mergePatch("configmaps/a?dryRun=All", { data: { y: "2" } })).gives(200).has("data", { x: "1", y: "2" });
    (await api.jsonPatch("configmaps/a?dryRun=All", [{ op: "remove", path: "/data/x" }])).gives(200).has("data", undefined);
    (await api.get("configmaps/a")).has("data", { x: "1" });
  },

  "a dry-run deletion returns the response of a real one": async (api) => {
    const made = await api.created("configmaps", configMap("a"));
    (await api.delete("configmaps/a?dryRun=All")).gives(200, {
      status: "Success",
      details: { name: "a", kind: "configmaps", uid: made.textAt("metadata.uid") },
    });
    (await api.delete("configmaps/a", { dryRun: ["All"] })).gives(200, { status: "Success" });
    (await api.get("configmaps/a")).gives(200);
  },

  "a dry-run deletion of an object with finalizers sets no deletion timestamp": async (api) => {
    await api.created("configmaps", configMap("a", {}, { finalizers: ["example.test/f"] }));
    const dry = await api.delete("configmaps/a?dryRun=All");
    dry.gives(200, { kind: "ConfigMap" });
    expect(dry.textAt("metadata.deletionTimestamp")).not.toBe("");
    (await api.get("configmaps/a")).has("metadata.deletionTimestamp", undefined);
    await api.mergePatch("configmaps/a", { metadata: { finalizers: null } });
  },

  "a dry-run deletion of a collection keeps it": async (api) => {
    await api.created("secrets", { metadata: { name: "a" } });
    (await api.delete("secrets?dryRun=All")).gives(200, { items: [{ metadata: { name: "a" } }] });
    (await api.get("secrets/a")).gives(200);
  },

  "dry runs of scale and status write nothing": async (api) => {
    await api.created("apps/v1/replicasets", deployment("a", { replicas: 0 }));
    (await api.mergePatch("apps/v1/replicasets/a/scale?dryRun=All", { spec: { replicas: 5 } })).gives(200, { spec: { replicas: 5 } });
    (await api.get("apps/v1/replicasets/a")).has("spec.replicas", 0);
    await api.created("policy/v1/poddisruptionbudgets", { metadata: { name: "a" }, spec: { selector: {}, minAvailable: 1 } });
    (
      await api.mergePatch("policy/v1/poddisruptionbudgets/a/status?dryRun=All", {
        status: { disruptedPods: { p: "2020-01-01T00:00:00Z" } },
      })
    ).gives(200);
    (await api.get("policy/v1/poddisruptionbudgets/a")).has("status.disruptedPods", undefined);
  },

  "the only valid dryRun value is All": async (api) => {
    (await api.post("configmaps?dryRun=Some", configMap("a"))).refuses(
      422,
      "Invalid",
      'CreateOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: ["Some"]: supported values: "All"',
    );
    (await api.delete("configmaps/a?dryRun=Some")).gives(422);
    (await api.post("configmaps?dryRun=All&dryRun=All", configMap("c"))).gives(201).has("metadata.resourceVersion", undefined);
  },
});
