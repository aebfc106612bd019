/** Controllers of a controller manager: garbage collection, namespaces, workloads. Only for servers that have one. */
import { expect } from "vitest";
import type { Api } from "../client/api.ts";
import type { ApiResponse } from "../client/api-response.ts";
import { area } from "../contract.ts";
import { configMap, deployment } from "./objects.ts";

const gone = ({ status }: ApiResponse) => status === 404;
const owner = (made: ApiResponse, more: object = {}) => ({
  apiVersion: made.textAt("apiVersion"),
  kind: made.textAt("kind"),
  name: made.textAt("metadata.name"),
  uid: made.textAt("metadata.uid"),
  ...more,
});
const condition = (answer: ApiResponse, type: string) =>
  ((answer.at("status.conditions") ?? []) as readonly { type: string; status: string; reason: string }[]).find((one) => one.type === type);
const items = (answer: ApiResponse) =>
  (answer.at("items") ?? []) as readonly {
    metadata: { name: string; ownerReferences?: readonly { name: string; controller?: boolean }[]; annotations?: Record<string, string> };
    spec: Record<string, unknown>;
  }[];
const replicaSets = async (api: Api, app: string) => items(await api.get(`apps/v1/replicasets?labelSelector=app%3D${app}`));

export const controllers = area("controllers", {
  "an object whose owners are deleted is garbage collected": async (api) => {
    const made = await api.created("configmaps", configMap("owner"));
    await api.created("configmaps", configMap("owned", {}, { ownerReferences: [owner(made)] }));
    await api.delete("configmaps/owner");
    await api.until(() => api.get("configmaps/owned"), gone);
  },

  "an object with one remaining owner is kept": async (api) => {
    const [a, b] = [await api.created("configmaps", configMap("a")), await api.created("configmaps", configMap("b"))];
    await api.created("configmaps", configMap("both", {}, { ownerReferences: [owner(a), owner(b)] }));
    await api.delete("configmaps/a");
    const left = await api.until(
      () => api.get("configmaps/both"),
      (answer) => (answer.at("metadata.ownerReferences") as readonly unknown[] | undefined)?.length === 1,
    );
    left.has("metadata.ownerReferences", [owner(b)]);
  },

  "an object whose owner never existed is garbage collected": async (api) => {
    const missing = { apiVersion: "v1", kind: "ConfigMap", name: "missing", uid: "11111111-1111-4111-8111-111111111111" };
    await api.created("configmaps", configMap("owned", {}, { ownerReferences: [missing] }));
    await api.until(() => api.get("configmaps/owned"), gone);
  },

  "foreground deletion waits for dependents that block it": async (api) => {
    const made = await api.created("configmaps", configMap("owner"));
    await api.created(
      "configmaps",
      configMap("owned", {}, { ownerReferences: [owner(made, { blockOwnerDeletion: true })], finalizers: ["example.test/f"] }),
    );
    await api.delete("configmaps/owner", { propagationPolicy: "Foreground" });
    await api.until(
      () => api.get("configmaps/owned"),
      (answer) => answer.at("metadata.deletionTimestamp") !== undefined,
    );
    (await api.get("configmaps/owner")).gives(200, { metadata: { finalizers: ["foregroundDeletion"] } });
    await api.mergePatch("configmaps/owned", { metadata: { finalizers: null } });
    await api.until(() => api.get("configmaps/owner"), gone);
  },

  "orphaning removes the owner references first": async (api) => {
    const made = await api.created("configmaps", configMap("owner"));
    await api.created("configmaps", configMap("owned", {}, { ownerReferences: [owner(made)] }));
    await api.delete("configmaps/owner", { propagationPolicy: "Orphan" });
    await api.until(() => api.get("configmaps/owner"), gone);
    (await api.get("configmaps/owned")).gives(200).has("metadata.ownerReferences", undefined);
  },

  "garbage collection works across kinds, also custom ones": async (api) => {
    const group = `${api.id}.contracts.test`;
    const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
    await api.created("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
      metadata: { name: `things.${group}` },
      spec: {
        group,
        scope: "Namespaced",
        names: { plural: "things", kind: "Thing" },
        versions: [{ name: "v1", served: true, storage: true, schema }],
      },
    });
    const thing = { apiVersion: `${group}/v1`, kind: "Thing", metadata: { name: "owner" } };
    const made = await api.until(
      () => api.post(`${group}/v1/things`, thing),
      ({ status }) => status === 201,
    );
    await api.created("configmaps", configMap("owned", {}, { ownerReferences: [owner(made)] }));
    await api.delete(`${group}/v1/things/owner`);
    await api.until(() => api.get("configmaps/owned"), gone);
  },

  "deleting a namespace deletes its content": async (api) => {
    const name = `doomed-${api.id}`;
    await api.created("/api/v1/namespaces", { metadata: { name } });
    await api.created(`/api/v1/namespaces/${name}/configmaps`, configMap("a"));
    await api.created(`/api/v1/namespaces/${name}/secrets`, { metadata: { name: "s" } });
    await api.delete(`/api/v1/namespaces/${name}`);
    await api.until(() => api.get(`/api/v1/namespaces/${name}`), gone);
    (await api.get(`/api/v1/namespaces/${name}/secrets/s`)).gives(404);
  },

  "a namespace with remaining content reports why in its conditions": async (api) => {
    const name = `stuck-${api.id}`;
    await api.created("/api/v1/namespaces", { metadata: { name } });
    await api.created(`/api/v1/namespaces/${name}/configmaps`, configMap("a", {}, { finalizers: ["example.test/f"] }));
    await api.delete(`/api/v1/namespaces/${name}`);
    const stuck = await api.until(
      () => api.get(`/api/v1/namespaces/${name}`),
      (answer) => condition(answer, "NamespaceFinalizersRemaining")?.status === "True",
    );
    expect(condition(stuck, "NamespaceContentRemaining")).toMatchObject({
      status: "True",
      reason: "SomeResourcesRemain",
      message: "Some resources are remaining: configmaps. has 1 resource instances",
    });
    expect(condition(stuck, "NamespaceFinalizersRemaining")).toMatchObject({
      reason: "SomeFinalizersRemain",
      message: "Some content in the namespace has finalizers remaining: example.test/f in 1 resource instances",
    });
    await api.mergePatch(`/api/v1/namespaces/${name}/configmaps/a`, { metadata: { finalizers: null } });
    await api.until(() => api.get(`/api/v1/namespaces/${name}`), gone);
  },

  "every namespace gets a default ServiceAccount and the root certificate": async (api) => {
    await api.until(
      () => api.get("serviceaccounts/default"),
      ({ status }) => status === 200,
    );
    const root = await api.until(
      () => api.get("configmaps/kube-root-ca.crt"),
      ({ status }) => status === 200,
    );
    expect(root.textAt("data", "ca.crt")).toContain("BEGIN CERTIFICATE");
    await api.delete("serviceaccounts/default");
    await api.until(
      () => api.get("serviceaccounts/default"),
      ({ status }) => status === 200,
    );
  },

  "a Deployment creates a ReplicaSet, which creates Pods": async (api) => {
    await api.created("apps/v1/deployments", deployment("web", { replicas: 2 }));
    const pods = await api.until(
      () => api.get("pods?labelSelector=app%3Dweb"),
      (answer) => items(answer).length === 2,
    );
    const [set] = await replicaSets(api, "web");
    expect(set?.metadata.ownerReferences).toMatchObject([{ name: "web", controller: true }]);
    expect(set?.metadata.annotations).toMatchObject({
      "deployment.kubernetes.io/revision": "1",
      "deployment.kubernetes.io/desired-replicas": "2",
      "deployment.kubernetes.io/max-replicas": "3",
    });
    for (const { metadata } of items(pods)) {
      expect(metadata.name).toMatch(new RegExp(`^${set?.metadata.name}-.{5}$`));
      expect(metadata.ownerReferences).toMatchObject([{ name: set?.metadata.name, controller: true }]);
    }
    const seen = await api.until(
      () => api.get("apps/v1/deployments/web"),
      (answer) => answer.at("status.replicas") === 2,
    );
    seen.gives(200, {
      metadata: { annotations: { "deployment.kubernetes.io/revision": "1" } },
      status: { observedGeneration: 1, unavailableReplicas: 2, updatedReplicas: 2 },
    });
    expect(condition(seen, "Available")).toMatchObject({ status: "False", reason: "MinimumReplicasUnavailable" });
  },

  "a new template creates a new ReplicaSet and revision": async (api) => {
    await api.created("apps/v1/deployments", deployment("web", { replicas: 1 }));
    await api.until(
      () => api.get("apps/v1/deployments/web"),
      (answer) => answer.at("status.observedGeneration") === 1,
    );
    await api.strategicPatch("apps/v1/deployments/web", {
      spec: { template: { spec: { containers: [{ name: "web", image: "example.test/web:2" }] } } },
    });
    await api.until(
      () => api.get("apps/v1/deployments/web"),
      (answer) => answer.at("metadata", "annotations", "deployment.kubernetes.io/revision") === "2",
    );
    expect(
      (await replicaSets(api, "web")).map(({ metadata }) => metadata.annotations?.["deployment.kubernetes.io/revision"] ?? "").toSorted(),
    ).toEqual(["1", "2"]);
  },

  "scaling a Deployment scales its ReplicaSet": async (api) => {
    await api.created("apps/v1/deployments", deployment("web", { replicas: 1 }));
    await api.until(
      () => api.get("apps/v1/replicasets?labelSelector=app%3Dweb"),
      (answer) => items(answer).length === 1,
    );
    await api.mergePatch("apps/v1/deployments/web/scale", { spec: { replicas: 3 } });
    await api.until(
      () => api.get("pods?labelSelector=app%3Dweb"),
      (answer) => items(answer).length === 3,
    );
    await api.mergePatch("apps/v1/deployments/web/scale", { spec: { replicas: 0 } });
    await api.until(
      () => api.get("pods?labelSelector=app%3Dweb"),
      (answer) => items(answer).length === 0,
    );
  },

  "a paused Deployment does not roll out": async (api) => {
    await api.created("apps/v1/deployments", deployment("web", { replicas: 1, paused: true }));
    const seen = await api.until(
      () => api.get("apps/v1/deployments/web"),
      (answer) => answer.at("status.observedGeneration") === 1,
    );
    expect(condition(seen, "Progressing")).toMatchObject({ status: "Unknown", reason: "DeploymentPaused" });
    expect(await replicaSets(api, "web")).toEqual([]);
  },

  "deleting a Deployment deletes its ReplicaSets and Pods": async (api) => {
    await api.created("apps/v1/deployments", deployment("web", { replicas: 1 }));
    await api.until(
      () => api.get("pods?labelSelector=app%3Dweb"),
      (answer) => items(answer).length === 1,
    );
    await api.delete("apps/v1/deployments/web");
    await api.until(
      () => api.get("pods?labelSelector=app%3Dweb"),
      (answer) => items(answer).length === 0,
    );
    await api.until(
      () => api.get("apps/v1/replicasets?labelSelector=app%3Dweb"),
      (answer) => items(answer).length === 0,
    );
  },

  "a StatefulSet creates its Pods in order, with ordinals": async (api) => {
    await api.created("apps/v1/statefulsets", deployment("db", { replicas: 2, serviceName: "db" }));
    const first = await api.until(
      () => api.get("pods/db-0"),
      ({ status }) => status === 200,
    );
    first.gives(200, {
      metadata: { labels: { "apps.kubernetes.io/pod-index": "0", "statefulset.kubernetes.io/pod-name": "db-0" } },
      spec: { hostname: "db-0", subdomain: "db" },
    });
    (await api.get("pods/db-1")).gives(404);
  },

  "a Job creates Pods with a finalizer and counts them": async (api) => {
    await api.created("batch/v1/jobs", {
      metadata: { name: "once" },
      spec: { template: { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "i" }] } } },
    });
    const pods = await api.until(
      () => api.get("pods?labelSelector=job-name%3Donce"),
      (answer) => items(answer).length === 1,
    );
    expect(pods.at("items.0.metadata.finalizers")).toEqual(["batch.kubernetes.io/job-tracking"]);
    await api.until(
      () => api.get("batch/v1/jobs/once"),
      (answer) => answer.at("status.active") === 1,
    );
    await api.strategicPatch(`pods/${items(pods)[0]?.metadata.name}/status`, { status: { phase: "Succeeded" } });
    const done = await api.until(
      () => api.get("batch/v1/jobs/once"),
      (answer) => condition(answer, "Complete")?.status === "True",
    );
    done.gives(200, { status: { succeeded: 1 } });
  },

  "Services get the endpoints of their Pods": async (api) => {
    await api.created("services", { metadata: { name: "web" }, spec: { selector: { app: "web" }, ports: [{ port: 80 }] } });
    const slices = await api.until(
      () => api.get("discovery.k8s.io/v1/endpointslices?labelSelector=kubernetes.io%2Fservice-name%3Dweb"),
      (answer) => items(answer).length === 1,
    );
    expect(slices.at("items.0")).toMatchObject({
      addressType: "IPv4",
      metadata: {
        labels: { "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io" },
        ownerReferences: [{ kind: "Service", name: "web", controller: true }],
      },
    });
  },

  "a ResourceQuota's status has the usage": async (api) => {
    await api.created("secrets", { metadata: { name: "a" } });
    await api.created("resourcequotas", { metadata: { name: "q" }, spec: { hard: { "count/secrets": "5" } } });
    await api.until(
      () => api.get("resourcequotas/q"),
      (answer) => answer.at("status", "used", "count/secrets") === "1",
    );
  },

  "a PodDisruptionBudget's status has the allowed disruptions": async (api) => {
    await api.created("policy/v1/poddisruptionbudgets", {
      metadata: { name: "b" },
      spec: { minAvailable: 1, selector: { matchLabels: { app: "none" } } },
    });
    const seen = await api.until(
      () => api.get("policy/v1/poddisruptionbudgets/b"),
      (answer) => answer.at("status.observedGeneration") === 1,
    );
    seen.gives(200, { status: { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 1, expectedPods: 0 } });
  },
});
