/** Namespaces: their label, their end, and what may happen in between. */
import { area } from "../contract.ts";
import { configMap } from "./objects.ts";

const collection = "/api/v1/namespaces";

export const namespaces = area("namespaces", {
  "a namespace always has a label with its name": async (api) => {
    const name = `ns-${api.id}`;
    const label = { "kubernetes.io/metadata.name": name };
    (await api.created(collection, { metadata: { name, labels: { "kubernetes.io/metadata.name": "x" } } })).gives(201, {
      metadata: { labels: label },
      spec: { finalizers: ["kubernetes"] },
      status: { phase: "Active" },
    });
    (await api.mergePatch(`${collection}/${name}`, { metadata: { labels: { "kubernetes.io/metadata.name": null, own: "1" } } }))
      .gives(200)
      .has("metadata.labels", { ...label, own: "1" });
    (await api.put(`${collection}/${name}`, { metadata: { name } })).gives(200).has("metadata.labels", label);
  },

  "an invalid finalizer of a namespace is reported with its path": async (api) => {
    const name = `ns-${api.id}`;
    const problem = "name is neither a standard finalizer name nor is it fully qualified";
    (await api.post(collection, { metadata: { name }, spec: { finalizers: ["bad"] } })).refuses(
      422,
      "Invalid",
      `Namespace "${name}" is invalid: spec.finalizers: Invalid value: "bad": ${problem}`,
    );
    await api.created(collection, { metadata: { name } });
    (await api.put(`${collection}/${name}/finalize`, { metadata: { name }, spec: { finalizers: ["kubernetes", "bad"] } })).refuses(
      422,
      "Invalid",
      `Namespace "${name}" is invalid: spec.finalizers[1]: Invalid value: "bad": ${problem}`,
    );
  },

  "the name of a namespace is a DNS label": async (api) => {
    (await api.post(collection, { metadata: { name: "a.b" } })).gives(422, { reason: "Invalid" });
    (await api.post(collection, { metadata: { name: "n".repeat(64) } })).gives(422, { reason: "Invalid" });
  },

  "a namespace with a finalizer becomes Terminating and accepts no new objects": async (api) => {
    const name = `ns-${api.id}`;
    await api.created(collection, { metadata: { name, finalizers: ["example.test/f"] } });
    await api.created(`${collection}/${name}/configmaps`, configMap("a"));
    (await api.delete(`${collection}/${name}`)).gives(200, { kind: "Namespace", status: { phase: "Terminating" } });
    (await api.post(`${collection}/${name}/configmaps`, configMap("b"))).refuses(
      403,
      "Forbidden",
      `configmaps "b" is forbidden: unable to create new content in namespace ${name} because it is being terminated`,
      { causes: [["NamespaceTerminating", "metadata.namespace", `namespace ${name} is being terminated`]] },
    );
    await api.mergePatch(`${collection}/${name}`, { metadata: { finalizers: null } });
  },

  "creating an existing namespace is AlreadyExists": async (api) => {
    (await api.post(collection, { metadata: { name: api.namespace } })).refuses(
      409,
      "AlreadyExists",
      `namespaces "${api.namespace}" already exists`,
    );
  },

  "system namespaces cannot be deleted": async (api) => {
    for (const name of ["default", "kube-system", "kube-public"]) {
      (await api.delete(`${collection}/${name}?dryRun=All`)).refuses(
        403,
        "Forbidden",
        `namespaces "${name}" is forbidden: this namespace may not be deleted`,
      );
    }
  },

  "the phase is part of the status": async (api) => {
    (await api.mergePatch(`${collection}/${api.namespace}`, { status: { phase: "Terminating" } })).gives(200, {
      status: { phase: "Active" },
    });
    (await api.mergePatch(`${collection}/${api.namespace}/status`, { status: { phase: "Terminating" } })).gives(422);
  },

  "namespaces have no collection to delete": async (api) => {
    (await api.delete(`${collection}?labelSelector=no%3D${api.id}`)).refuses(
      405,
      "MethodNotAllowed",
      "the server does not allow this method on the requested resource",
    );
  },

  "spec.finalizers are set at creation and nowhere else": async (api) => {
    const name = `ns-${api.id}`;
    (await api.created(collection, { metadata: { name }, spec: { finalizers: ["kubernetes", "example.test/x"] } })).has("spec.finalizers", [
      "kubernetes",
      "example.test/x",
    ]);
    (await api.put(`${collection}/${name}/finalize`, { metadata: { name }, spec: { finalizers: [] } }))
      .gives(200)
      .has("spec.finalizers", undefined);
  },
});
