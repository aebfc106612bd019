/** The tables that kubectl prints. */
import { expect } from "vitest";
import type { Api } from "../client/api.ts";
import { area } from "../contract.ts";
import { configMap, deployment, pod, podTemplate, service } from "./objects.ts";

const TABLE = { accept: "application/json;as=Table;v=v1;g=meta.k8s.io,application/json" };
const table = (api: Api, path: string) => api.get(path, TABLE);
type Rows = readonly { readonly cells: readonly unknown[]; readonly object: unknown }[];

async function columnsAndCells(api: Api, path: string): Promise<{ readonly columns: string; readonly cells: readonly unknown[] }> {
  const answer = (await table(api, path)).gives(200, { kind: "Table", apiVersion: "meta.k8s.io/v1" });
  const columns = (answer.at("columnDefinitions") as readonly { name: string }[]).map(({ name }) => name).join(" | ");
  return { columns, cells: (answer.at("rows") as Rows)[0]?.cells ?? [] };
}
const age = expect.stringMatching(/^\d+s$/);

export const tables = area("tables", {
  "includeObject decides whether a row has metadata, the object, or nothing": async (api) => {
    await api.created("configmaps", configMap("a", { x: "1" }));
    (await table(api, "configmaps/a")).gives(200, {
      rows: [{ cells: ["a", 1, age], object: { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1" } }],
    });
    (await table(api, "configmaps/a?includeObject=Object")).gives(200, { rows: [{ object: { kind: "ConfigMap", data: { x: "1" } } }] });
    (await table(api, "configmaps/a?includeObject=None")).has("rows.0.object", null);
    (await table(api, "configmaps/a?includeObject=Some")).gives(400);
  },

  "columns have type, format and priority": async (api) => {
    await api.created("configmaps", configMap("a"));
    (await table(api, "configmaps")).gives(200, {
      columnDefinitions: [
        { name: "Name", type: "string", format: "name", priority: 0 },
        { name: "Data", type: "string", format: "", priority: 0 },
        { name: "Age", type: "string", format: "", priority: 0 },
      ],
    });
  },

  "an error is a Status, not a Table": async (api) => {
    (await table(api, "configmaps/no")).refuses(404, "NotFound", 'configmaps "no" not found');
  },

  "a Table of an unknown version falls back to the next accepted type": async (api) => {
    await api.created("configmaps", configMap("a"));
    (await api.get("configmaps/a", { accept: "application/json;as=Table;v=v9;g=meta.k8s.io,application/json" })).gives(200, {
      kind: "ConfigMap",
    });
    (await api.get("configmaps/a", { accept: "application/json;as=Table;v=v9;g=meta.k8s.io" })).gives(406);
  },

  "an empty list is an empty table": async (api) => {
    (await table(api, "secrets")).gives(200, { kind: "Table", rows: [] });
  },

  "Secrets show type and number of keys": async (api) => {
    await api.created("secrets", { metadata: { name: "a" }, stringData: { x: "1", y: "2" } });
    expect(await columnsAndCells(api, "secrets")).toEqual({ columns: "Name | Type | Data | Age", cells: ["a", "Opaque", 2, age] });
  },

  "Services show type, addresses and ports": async (api) => {
    const made = await api.created(
      "services",
      service("a", {
        type: "NodePort",
        ports: [
          { name: "x", port: 80 },
          { name: "y", port: 53, protocol: "UDP" },
        ],
      }),
    );
    const port = (at: number) => JSON.stringify(made.at(`spec.ports.${at}.nodePort`));
    expect(await columnsAndCells(api, "services")).toEqual({
      columns: "Name | Type | Cluster-IP | External-IP | Port(s) | Age | Selector",
      cells: ["a", "NodePort", made.textAt("spec.clusterIP"), "<none>", `80:${port(0)}/TCP,53:${port(1)}/UDP`, age, "app=a"],
    });
  },

  "a Scale as a Table shows the replicas": async (api) => {
    await api.created("apps/v1/deployments", deployment("a", { replicas: 0, paused: true }));
    const path = "apps/v1/deployments/a/scale";
    const answer = (await table(api, path)).gives(200, {
      kind: "Table",
      columnDefinitions: [
        { name: "Name", type: "string", format: "" },
        { name: "Desired", type: "integer", description: "replicas is the desired number of instances for the scaled object." },
        { name: "Available", type: "integer" },
        { name: "Age", type: "string" },
      ],
      rows: [{ cells: ["a", 0, 0, age], object: { kind: "PartialObjectMetadata", metadata: { name: "a" } } }],
    });
    expect(answer.textAt("metadata.resourceVersion")).toBe(answer.textAt("rows.0.object.metadata.resourceVersion"));
    (await table(api, `${path}?includeObject=Object`)).gives(200, { rows: [{ object: { kind: "Scale", apiVersion: "autoscaling/v1" } }] });
    const merge = { ...TABLE, "content-type": "application/merge-patch+json" };
    (await api.send("PATCH", path, { spec: { replicas: 1 } }, merge)).gives(200, { kind: "Table", rows: [{ cells: ["a", 1, 0, age] }] });
    (await api.get(path, { accept: "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io" })).gives(200, {
      kind: "PartialObjectMetadata",
      metadata: { name: "a" },
    });
  },

  "the row of a terminated Pod has a condition": async (api) => {
    await api.created("pods", pod("a"));
    (await api.mergePatch("pods/a/status", { status: { phase: "Failed" } })).gives(200);
    (await table(api, "pods/a")).has("rows.0.conditions", [
      { type: "Completed", status: "True", reason: "Failed", message: "The pod failed." },
    ]);
  },

  "Pods show readiness, phase and restarts": async (api) => {
    await api.created(
      "pods",
      pod("a", {
        containers: [
          { name: "a", image: "i" },
          { name: "b", image: "i" },
        ],
      }),
    );
    expect(await columnsAndCells(api, "pods")).toEqual({
      columns: "Name | Ready | Status | Restarts | Age | IP | Node | Nominated Node | Readiness Gates",
      cells: ["a", "0/2", "Pending", "0", age, "<none>", "<none>", "<none>", "<none>"],
    });
  },

  "Deployments show ready and desired replicas": async (api) => {
    await api.created("apps/v1/deployments", deployment("a", { replicas: 3, paused: true }));
    const { columns, cells } = await columnsAndCells(api, "apps/v1/deployments");
    expect(columns).toBe("Name | Ready | Up-to-date | Available | Age | Containers | Images | Selector");
    expect(cells.with(4, "AGE")).toEqual(["a", "0/3", 0, 0, "AGE", "web", "example.test/web:1", "app=a"]);
  },

  "Jobs and CronJobs show their state": async (api) => {
    const template = { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "i" }] } };
    const job = await api.created("batch/v1/jobs", { metadata: { name: "a" }, spec: { template, suspend: true } });
    await api.until(
      () => api.get("batch/v1/jobs/a"),
      (answer) => answer.status === 200,
    );
    const seen = await columnsAndCells(api, "batch/v1/jobs");
    expect(seen.columns).toBe("Name | Status | Completions | Duration | Age | Containers | Images | Selector");
    expect(seen.cells.at(-1)).toBe(`batch.kubernetes.io/controller-uid=${job.textAt("metadata.uid")}`);
    await api.created("batch/v1/cronjobs", {
      metadata: { name: "c" },
      spec: { schedule: "0 0 1 1 *", suspend: true, jobTemplate: { spec: { template } } },
    });
    expect(await columnsAndCells(api, "batch/v1/cronjobs")).toEqual({
      columns: "Name | Schedule | Timezone | Suspend | Active | Last Schedule | Age | Containers | Images | Selector",
      cells: ["c", "0 0 1 1 *", "<none>", "True", 0, "<none>", age, "c", "i", "<none>"],
    });
  },

  "Ingresses show class, hosts and ports": async (api) => {
    const backend = { service: { name: "s", port: { number: 80 } } };
    const rules = ["a.test", "b.test"].map((host) => ({ host, http: { paths: [{ path: "/", pathType: "Prefix", backend }] } }));
    await api.created("networking.k8s.io/v1/ingresses", {
      metadata: { name: "a" },
      spec: { rules, ingressClassName: "x", tls: [{ hosts: ["a.test"], secretName: "t" }] },
    });
    expect(await columnsAndCells(api, "networking.k8s.io/v1/ingresses")).toEqual({
      columns: "Name | Class | Hosts | Address | Ports | Age",
      cells: ["a", "x", "a.test,b.test", "", "80, 443", age],
    });
  },

  "roles show their creation time, bindings their role": async (api) => {
    await api.created("rbac.authorization.k8s.io/v1/roles", { metadata: { name: "r" }, rules: [] });
    const { columns, cells } = await columnsAndCells(api, "rbac.authorization.k8s.io/v1/roles");
    expect(columns).toBe("Name | Created At");
    expect(cells[1]).toMatch(/^\d{4}-\d\d-\d\dT/);
    const subjects = [
      { kind: "User", name: "u" },
      { kind: "Group", name: "g" },
      { kind: "ServiceAccount", name: "s", namespace: "n" },
    ];
    await api.created("rbac.authorization.k8s.io/v1/rolebindings", {
      metadata: { name: "b" },
      roleRef: { kind: "Role", name: "r", apiGroup: "rbac.authorization.k8s.io" },
      subjects,
    });
    expect(await columnsAndCells(api, "rbac.authorization.k8s.io/v1/rolebindings")).toEqual({
      columns: "Name | Role | Age | Users | Groups | ServiceAccounts",
      cells: ["b", "Role/r", age, "u", "g", "n/s"],
    });
  },

  "quotas, limit ranges, budgets, claims, leases and pod templates have their own columns": async (api) => {
    await api.created("resourcequotas", { metadata: { name: "a" }, spec: { hard: { "count/nothing.example.test": "3" } } });
    await api.created("limitranges", { metadata: { name: "a" }, spec: { limits: [] } });
    await api.created("policy/v1/poddisruptionbudgets", {
      metadata: { name: "a" },
      spec: { maxUnavailable: "50%", selector: { matchLabels: { a: "b" } } },
    });
    await api.created("persistentvolumeclaims", {
      metadata: { name: "a" },
      spec: { accessModes: ["ReadWriteOnce", "ReadOnlyMany"], storageClassName: "x", resources: { requests: { storage: "1Gi" } } },
    });
    await api.created("coordination.k8s.io/v1/leases", { metadata: { name: "a" }, spec: { holderIdentity: "me" } });
    await api.created("podtemplates", podTemplate("a"));
    const columns: Record<string, string> = {};
    for (const path of [
      "resourcequotas",
      "limitranges",
      "policy/v1/poddisruptionbudgets",
      "persistentvolumeclaims",
      "coordination.k8s.io/v1/leases",
      "podtemplates",
    ])
      columns[path] = (await columnsAndCells(api, path)).columns;
    expect(columns).toEqual({
      resourcequotas: "Name | Request | Limit | Age",
      limitranges: "Name | Created At",
      "policy/v1/poddisruptionbudgets": "Name | Min Available | Max Unavailable | Allowed Disruptions | Age",
      persistentvolumeclaims: "Name | Status | Volume | Capacity | Access Modes | StorageClass | VolumeAttributesClass | Age | VolumeMode",
      "coordination.k8s.io/v1/leases": "Name | Holder | Age",
      podtemplates: "Name | Containers | Images | Pod Labels",
    });
    expect((await columnsAndCells(api, "policy/v1/poddisruptionbudgets")).cells).toEqual(["a", "N/A", "50%", 0, age]);
    expect((await columnsAndCells(api, "persistentvolumeclaims")).cells).toEqual([
      "a",
      "Pending",
      "",
      "",
      "",
      "x",
      "<unset>",
      age,
      "Filesystem",
    ]);
  },

  "network policies, autoscalers, endpoint slices and ServiceAccounts have their own columns": async (api) => {
    await api.created("networking.k8s.io/v1/networkpolicies", {
      metadata: { name: "a" },
      spec: { podSelector: { matchLabels: { a: "b" } } },
    });
    await api.created("autoscaling/v2/horizontalpodautoscalers", {
      metadata: { name: "a" },
      spec: { scaleTargetRef: { kind: "Deployment", name: "web", apiVersion: "apps/v1" }, minReplicas: 2, maxReplicas: 5 },
    });
    await api.created("discovery.k8s.io/v1/endpointslices", {
      metadata: { name: "a" },
      addressType: "IPv4",
      endpoints: [{ addresses: ["10.1.1.1"] }],
      ports: [{ port: 80 }],
    });
    await api.created("serviceaccounts", { metadata: { name: "a" }, secrets: [{ name: "x" }] });
    expect((await columnsAndCells(api, "networking.k8s.io/v1/networkpolicies")).cells).toEqual(["a", "a=b", age]);
    const autoscaler = await columnsAndCells(api, "autoscaling/v2/horizontalpodautoscalers/a");
    expect(autoscaler.columns).toBe("Name | Reference | Targets | MinPods | MaxPods | Replicas | Age");
    expect(autoscaler.cells).toEqual(["a", "Deployment/web", "cpu: <unknown>/80%", "2", 5, 0, age]);
    expect((await columnsAndCells(api, "discovery.k8s.io/v1/endpointslices")).cells).toEqual(["a", "IPv4", "80", "10.1.1.1", age]);
    expect(await columnsAndCells(api, "serviceaccounts/a")).toEqual({ columns: "Name | Age", cells: ["a", age] });
  },

  "nodes and volumes show their state": async (api) => {
    const name = `node-${api.id}`;
    await api.created("/api/v1/nodes", {
      metadata: { name, labels: { "node-role.kubernetes.io/worker": "" } },
      spec: { unschedulable: true },
    });
    const node = await columnsAndCells(api, `/api/v1/nodes/${name}`);
    expect(node.columns).toBe(
      "Name | Status | Roles | Age | Version | Internal-IP | External-IP | OS-Image | Kernel-Version | Container-Runtime",
    );
    expect(node.cells).toEqual([
      name,
      "Unknown,SchedulingDisabled",
      "worker",
      age,
      "",
      "<none>",
      "<none>",
      "<unknown>",
      "<unknown>",
      "<unknown>",
    ]);
    await api.created("/api/v1/persistentvolumes", {
      metadata: { name: `pv-${api.id}` },
      spec: { capacity: { storage: "2Gi" }, accessModes: ["ReadWriteMany"], hostPath: { path: "/x" }, storageClassName: "s" },
    });
    const volume = await columnsAndCells(api, `/api/v1/persistentvolumes/pv-${api.id}`);
    expect(volume.columns).toBe(
      "Name | Capacity | Access Modes | Reclaim Policy | Status | Claim | StorageClass | VolumeAttributesClass | Reason | Age | VolumeMode",
    );
    expect(volume.cells.with(4, "STATUS")).toEqual([
      `pv-${api.id}`,
      "2Gi",
      "RWX",
      "Retain",
      "STATUS",
      "",
      "s",
      "<unset>",
      "",
      age,
      "Filesystem",
    ]);
  },

  "namespaces, classes and events have their own columns": async (api) => {
    expect((await columnsAndCells(api, `/api/v1/namespaces/${api.namespace}`)).cells).toEqual([api.namespace, "Active", age]);
    await api.created("/apis/storage.k8s.io/v1/storageclasses", {
      metadata: { name: `s-${api.id}`, annotations: {} },
      provisioner: "example.test/p",
    });
    expect((await columnsAndCells(api, `/apis/storage.k8s.io/v1/storageclasses/s-${api.id}`)).cells).toEqual([
      `s-${api.id}`,
      "example.test/p",
      "Delete",
      "Immediate",
      false,
      age,
    ]);
    await api.created("/apis/scheduling.k8s.io/v1/priorityclasses", { metadata: { name: `p-${api.id}` }, value: 7 });
    expect((await columnsAndCells(api, `/apis/scheduling.k8s.io/v1/priorityclasses/p-${api.id}`)).cells).toEqual([
      `p-${api.id}`,
      7,
      false,
      age,
      "PreemptLowerPriority",
    ]);
    await api.created("events", {
      metadata: { name: "e" },
      involvedObject: { kind: "Pod", name: "p", namespace: api.namespace },
      reason: "Seen",
      type: "Normal",
      message: "m",
      count: 3,
    });
    const event = await columnsAndCells(api, "events/e");
    expect(event.columns).toBe("Last Seen | Type | Reason | Object | Subobject | Source | Message | First Seen | Count | Name");
    expect(event.cells.slice(1, 7)).toEqual(["Normal", "Seen", "pod/p", "", "", "m"]);
  },
});
