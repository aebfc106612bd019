/** Deletion: responses, finalizers, propagation and grace periods. */
import { expect } from "vitest";
import { area } from "../contract.ts";
import { configMap, deployment, pod, service } from "./objects.ts";

const FINALIZER = "example.test/f";

export const deletion = area("deletion and finalizers", {
  "a deleted object is gone, and the response is a Status with its name": async (api) => {
    const made = await api.created("configmaps", configMap("a"));
    const uid = made.textAt("metadata.uid");
    const answer = await api.delete("configmaps/a");
    expect(answer.body).toEqual({
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Success",
      details: { name: "a", kind: "configmaps", uid },
    });
    (await api.delete("configmaps/a")).refuses(404, "NotFound", 'configmaps "a" not found');
  },

  "some kinds return the deleted object": async (api) => {
    await api.created("serviceaccounts", { metadata: { name: "a" } });
    (await api.delete("serviceaccounts/a")).gives(200, { kind: "ServiceAccount" });
    await api.created("services", service("a"));
    (await api.delete("services/a")).gives(200, { kind: "Service" });
    await api.created("secrets", { metadata: { name: "a" } });
    (await api.delete("secrets/a")).gives(200, { kind: "Status" });
  },

  "an object with a finalizer stays until the finalizer is removed": async (api) => {
    await api.created("configmaps", configMap("a", {}, { finalizers: [FINALIZER] }));
    const terminating = await api.delete("configmaps/a");
    terminating.gives(200, { kind: "ConfigMap", metadata: { finalizers: [FINALIZER], deletionGracePeriodSeconds: 0 } });
    expect(terminating.textAt("metadata.deletionTimestamp")).toMatch(/Z$/);
    (await api.get("configmaps/a")).gives(200);
    (await api.mergePatch("configmaps/a", { metadata: { finalizers: null } })).gives(200);
    (await api.get("configmaps/a")).gives(404);
  },

  "a second deletion changes nothing": async (api) => {
    await api.created("configmaps", configMap("a", {}, { finalizers: [FINALIZER] }));
    const first = await api.delete("configmaps/a");
    const second = await api.delete("configmaps/a");
    second.gives(200).has("metadata.resourceVersion", first.textAt("metadata.resourceVersion"));
    await api.mergePatch("configmaps/a", { metadata: { finalizers: null } });
  },

  "a terminating object accepts changes, but no new finalizers": async (api) => {
    await api.created("configmaps", configMap("a", {}, { finalizers: [FINALIZER] }));
    await api.delete("configmaps/a");
    (await api.mergePatch("configmaps/a", { data: { x: "1" } })).gives(200);
    (await api.mergePatch("configmaps/a", { metadata: { finalizers: [FINALIZER, "example.test/g"] } })).refuses(
      422,
      "Invalid",
      'ConfigMap "a" is invalid: metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"example.test/g"}',
    );
    (await api.post("configmaps", configMap("a"))).refuses(409, "AlreadyExists", 'object is being deleted: configmaps "a" already exists');
    await api.mergePatch("configmaps/a", { metadata: { finalizers: null } });
  },

  "finalizers are validated at creation": async (api) => {
    (await api.post("configmaps", configMap("a", {}, { finalizers: ["no-slash"] }))).gives(422);
    (await api.post("configmaps", configMap("b", {}, { finalizers: ["kubernetes"] }))).gives(201);
    await api.mergePatch("configmaps/b", { metadata: { finalizers: null } });
  },

  "foreground deletion adds its finalizer": async (api) => {
    await api.created("configmaps", configMap("a", {}, { finalizers: [FINALIZER] }));
    const answer = await api.delete("configmaps/a", { propagationPolicy: "Foreground" });
    answer.gives(200);
    expect(answer.at("metadata.finalizers")).toEqual([FINALIZER, "foregroundDeletion"]);
    await api.mergePatch("configmaps/a", { metadata: { finalizers: null } });
  },

  "orphaning adds its finalizer": async (api) => {
    await api.created("configmaps", configMap("a", {}, { finalizers: [FINALIZER] }));
    const answer = await api.delete("configmaps/a?propagationPolicy=Orphan");
    expect(answer.gives(200).at("metadata.finalizers")).toEqual([FINALIZER, "orphan"]);
    await api.mergePatch("configmaps/a", { metadata: { finalizers: null } });
  },

  "background deletion removes these finalizers": async (api) => {
    await api.created("configmaps", configMap("a", {}, { finalizers: [FINALIZER, "orphan"] }));
    const answer = await api.delete("configmaps/a", { propagationPolicy: "Background" });
    expect(answer.gives(200).at("metadata.finalizers")).toEqual([FINALIZER]);
    await api.mergePatch("configmaps/a", { metadata: { finalizers: null } });
  },

  "propagationPolicy and orphanDependents exclude each other": async (api) => {
    await api.created("configmaps", configMap("a"));
    (await api.delete("configmaps/a", { propagationPolicy: "Orphan", orphanDependents: true })).refuses(
      422,
      "Invalid",
      'DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Invalid value: "Orphan": orphanDependents and deletionPropagation cannot be both set',
    );
    (await api.delete("configmaps/a", { propagationPolicy: "Sideways" })).refuses(
      422,
      "Invalid",
      'DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Unsupported value: "Sideways": supported values: "Foreground", "Background", "Orphan", "nil"',
    );
    (await api.delete("configmaps/a", { gracePeriodSeconds: "soon" })).gives(400);
    (await api.delete("configmaps/a", { kind: "Pod", apiVersion: "v1" })).gives(400);
  },

  "a Pod on a node gets its grace period": async (api) => {
    await api.created("pods", pod("a", { nodeName: "n1", terminationGracePeriodSeconds: 7 }));
    (await api.delete("pods/a")).gives(200, { metadata: { deletionGracePeriodSeconds: 7, generation: 2 } });
    (await api.delete("pods/a", { gracePeriodSeconds: 3 })).gives(200, { metadata: { deletionGracePeriodSeconds: 3 } });
    (await api.delete("pods/a", { gracePeriodSeconds: 9 })).gives(200, { metadata: { deletionGracePeriodSeconds: 3 } });
    (await api.delete("pods/a?gracePeriodSeconds=0")).gives(200);
    (await api.get("pods/a")).gives(404);
  },

  "a Pod without a node is deleted at once": async (api) => {
    await api.created("pods", pod("a"));
    (await api.delete("pods/a")).gives(200, { kind: "Pod" });
    (await api.get("pods/a")).gives(404);
  },

  "setting the deletion timestamp increments the generation": async (api) => {
    await api.created("apps/v1/statefulsets", {
      ...deployment("a", { serviceName: "x", replicas: 0 }),
      metadata: { name: "a", finalizers: [FINALIZER] },
    });
    (await api.delete("apps/v1/statefulsets/a")).gives(200, { metadata: { generation: 2 } });
    await api.mergePatch("apps/v1/statefulsets/a", { metadata: { finalizers: null } });
  },

  "a PUT without finalizers completes the deletion": async (api) => {
    await api.created("configmaps", configMap("a", {}, { finalizers: [FINALIZER] }));
    await api.delete("configmaps/a");
    (await api.put("configmaps/a", configMap("a"))).gives(200);
    (await api.get("configmaps/a")).gives(404);
  },

  "objects of a deleted collection stay while they have finalizers": async (api) => {
    await api.created("secrets", { metadata: { name: "a", finalizers: [FINALIZER] } });
    await api.created("secrets", { metadata: { name: "b" } });
    await api.delete("secrets");
    const left = await api.get("secrets");
    expect((left.at("items") as readonly { metadata: { name: string } }[]).map(({ metadata }) => metadata.name)).toEqual(["a"]);
    await api.mergePatch("secrets/a", { metadata: { finalizers: null } });
  },

  "the body of a deletion may be YAML": async (api) => {
    await api.created("configmaps", configMap("a"));
    (
      await api.delete("configmaps/a", "kind: DeleteOptions\napiVersion: v1\ndryRun: [All]\n", { "content-type": "application/yaml" })
    ).gives(200);
    (await api.get("configmaps/a")).gives(200);
  },
});
