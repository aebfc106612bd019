/** Quotas, limit ranges, priorities and ServiceAccounts: admission of Pods and claims. */
import { expect } from "vitest";
import type { Api } from "../client/api.ts";
import { area } from "../contract.ts";
import { configMap, pod, service } from "./objects.ts";

const account = { metadata: { name: "default" } };

/**
 * The controller of quotas of a real cluster counts all quotas again when it finds new kinds, from caches that may lag behind: such a count can replace
 * the newer one of admission. A changed limit makes it count again.
 */
async function untilUsed(api: Api, quota: string, [key, used]: readonly [string, string]): Promise<void> {
  const read = () => api.get(`resourcequotas/${quota}`);
  const first = await read();
  if (first.at("status", "used", key) === used) return;
  const limit = first.at("spec", "hard", key);
  for (const hard of ["100", limit]) {
    (await api.mergePatch(`resourcequotas/${quota}`, { spec: { hard: { [key]: hard } } })).gives(200);
    await api.until(read, (answer) => answer.at("status", "hard", key) === hard && answer.at("status", "used", key) === used);
  }
}

export const quota = area("quota and limits", {
  "a quota counts objects and rejects an object beyond the limit": async (api) => {
    await api.created("resourcequotas", { metadata: { name: "few" }, spec: { hard: { "count/secrets": "2" } } });
    await api.until(
      () => api.get("resourcequotas/few"),
      (answer) => answer.at("status", "used", "count/secrets") === "0",
    );
    await api.created("secrets", { metadata: { name: "a" } });
    await api.created("secrets", { metadata: { name: "b" } });
    await untilUsed(api, "few", ["count/secrets", "2"]);
    (await api.post("secrets", { metadata: { name: "c" } })).refuses(
      403,
      "Forbidden",
      'secrets "c" is forbidden: exceeded quota: few, requested: count/secrets=1, used: count/secrets=2, limited: count/secrets=2',
    );
  },

  "a quota of cpu requires every Pod to set it": async (api) => {
    await api.send("POST", "serviceaccounts", account);
    await api.created("resourcequotas", { metadata: { name: "cpu" }, spec: { hard: { "requests.cpu": "1", pods: "5" } } });
    await api.until(
      () => api.get("resourcequotas/cpu"),
      (answer) => answer.at("status", "used", "pods") === "0",
    );
    (await api.post("pods", pod("a"))).refuses(
      403,
      "Forbidden",
      'pods "a" is forbidden: failed quota: cpu: must specify requests.cpu for: web',
    );
    const asking = (name: string, cpu: string) =>
      pod(name, { containers: [{ name: "web", image: "i", resources: { requests: { cpu } } }] });
    (await api.post("pods", asking("b", "700m"))).gives(201);
    await untilUsed(api, "cpu", ["requests.cpu", "700m"]);
    (await api.post("pods", asking("c", "700m"))).refuses(
      403,
      "Forbidden",
      'pods "c" is forbidden: exceeded quota: cpu, requested: requests.cpu=700m, used: requests.cpu=700m, limited: requests.cpu=1',
    );
    (await api.get("resourcequotas/cpu")).gives(200, { status: { used: { pods: "1", "requests.cpu": "700m" } } });
  },

  "a deleted object reduces the usage": async (api) => {
    await api.created("resourcequotas", { metadata: { name: "one" }, spec: { hard: { services: "1" } } });
    await api.until(
      () => api.get("resourcequotas/one"),
      (answer) => answer.at("status", "used", "services") === "0",
    );
    await api.created("services", service("a"));
    await untilUsed(api, "one", ["services", "1"]);
    (await api.post("services", service("b"))).gives(403);
    await api.delete("services/a");
    await api.until(
      () => api.post("services", service("b")),
      ({ status }) => status === 201,
    );
  },

  "a dry run does not change the usage": async (api) => {
    await api.created("resourcequotas", { metadata: { name: "one" }, spec: { hard: { "count/secrets": "1" } } });
    await api.until(
      () => api.get("resourcequotas/one"),
      (answer) => answer.at("status", "used", "count/secrets") === "0",
    );
    (await api.post("secrets?dryRun=All", { metadata: { name: "a" } })).gives(201);
    (await api.post("secrets", { metadata: { name: "a" } })).gives(201);
  },

  "a limit range sets defaults of containers": async (api) => {
    await api.send("POST", "serviceaccounts", account);
    await api.created("limitranges", {
      metadata: { name: "l" },
      spec: { limits: [{ type: "Container", default: { cpu: "500m" }, defaultRequest: { cpu: "100m" } }] },
    });
    const made = await api.until(
      () => api.post("pods", pod("a")),
      ({ status }) => status === 201,
    );
    made.gives(201, {
      metadata: {
        annotations: { "kubernetes.io/limit-ranger": "LimitRanger plugin set: cpu request for container web; cpu limit for container web" },
      },
      spec: { containers: [{ resources: { limits: { cpu: "500m" }, requests: { cpu: "100m" } } }] },
    });
  },

  "a limit range rejects values outside its limits": async (api) => {
    await api.send("POST", "serviceaccounts", account);
    await api.created("limitranges", {
      metadata: { name: "l" },
      spec: { limits: [{ type: "Container", max: { cpu: "1" }, min: { cpu: "100m" } }] },
    });
    const asking = (name: string, cpu: string) =>
      pod(name, { containers: [{ name: "web", image: "i", resources: { requests: { cpu }, limits: { cpu } } }] });
    const big = await api.until(
      () => api.post("pods?dryRun=All", asking("a", "2")),
      ({ status }) => status === 403,
    );
    big.refuses(403, "Forbidden", 'pods "a" is forbidden: maximum cpu usage per Container is 1, but limit is 2');
    (await api.post("pods", asking("b", "50m"))).refuses(
      403,
      "Forbidden",
      'pods "b" is forbidden: minimum cpu usage per Container is 100m, but request is 50m',
    );
  },

  "a limit range also limits claims": async (api) => {
    await api.created("limitranges", {
      metadata: { name: "l" },
      spec: { limits: [{ type: "PersistentVolumeClaim", max: { storage: "1Gi" }, min: { storage: "1Mi" } }] },
    });
    const claim = {
      metadata: { name: "a" },
      spec: { accessModes: ["ReadWriteOnce"], storageClassName: "", resources: { requests: { storage: "2Gi" } } },
    };
    const answer = await api.until(
      () => api.post("persistentvolumeclaims?dryRun=All", claim),
      ({ status }) => status === 403,
    );
    answer.refuses(
      403,
      "Forbidden",
      'persistentvolumeclaims "a" is forbidden: maximum storage usage per PersistentVolumeClaim is 1Gi, but request is 2Gi',
    );
  },

  "a priority class sets the priority of a Pod, and an unknown one is rejected": async (api) => {
    await api.send("POST", "serviceaccounts", account);
    await api.created("/apis/scheduling.k8s.io/v1/priorityclasses", {
      metadata: { name: `high-${api.id}` },
      value: 77,
      preemptionPolicy: "Never",
    });
    const made = await api.until(
      () => api.post("pods", pod("a", { priorityClassName: `high-${api.id}` })),
      ({ status }) => status === 201,
    );
    made.gives(201, { spec: { priority: 77, preemptionPolicy: "Never" } });
    (await api.post("pods", pod("b", { priorityClassName: "missing" }))).refuses(
      403,
      "Forbidden",
      'pods "b" is forbidden: no PriorityClass with name missing was found',
    );
    (await api.post("pods", pod("c", { priority: 5 }))).gives(403);
  },

  "a Pod needs an existing ServiceAccount, and gets a token volume": async (api) => {
    (await api.post("pods", pod("a", { serviceAccountName: "missing" }))).refuses(
      403,
      "Forbidden",
      `pods "a" is forbidden: error looking up service account ${api.namespace}/missing: serviceaccount "missing" not found`,
    );
    await api.created("serviceaccounts", { metadata: { name: "robot" }, imagePullSecrets: [{ name: "pull" }] });
    const { automountServiceAccountToken: _, ...spec } = pod("b").spec;
    const made = await api.until(
      () => api.post("pods", { metadata: { name: "b" }, spec: { ...spec, serviceAccountName: "robot" } }),
      ({ status }) => status === 201,
    );
    made.gives(201, { spec: { serviceAccount: "robot", imagePullSecrets: [{ name: "pull" }] } });
    const volume = made.at("spec.volumes.0") as { name: string };
    expect(volume.name).toMatch(/^kube-api-access-.{5}$/);
    made.has("spec.containers.0.volumeMounts", [
      { name: volume.name, readOnly: true, mountPath: "/var/run/secrets/kubernetes.io/serviceaccount" },
    ]);
    made.gives(201, {
      spec: {
        volumes: [
          {
            projected: {
              sources: [
                { serviceAccountToken: { expirationSeconds: 3607, path: "token" } },
                { configMap: { name: "kube-root-ca.crt", items: [{ key: "ca.crt", path: "ca.crt" }] } },
                { downwardAPI: { items: [{ path: "namespace" }] } },
              ],
              defaultMode: 420,
            },
          },
        ],
      },
    });
  },

  "scopes restrict the objects that a quota counts": async (api) => {
    await api.send("POST", "serviceaccounts", account);
    await api.created("resourcequotas", { metadata: { name: "besteffort" }, spec: { hard: { pods: "0" }, scopes: ["BestEffort"] } });
    await api.until(
      () => api.get("resourcequotas/besteffort"),
      (answer) => answer.at("status", "used", "pods") === "0",
    );
    (await api.post("pods", pod("a"))).gives(403);
    (await api.post("pods", pod("b", { containers: [{ name: "web", image: "i", resources: { requests: { cpu: "1" } } }] }))).gives(201);
  },

  "the names and amounts of a quota are validated": async (api) => {
    (await api.post("resourcequotas", { metadata: { name: "a" }, spec: { hard: { nonsense: "1" } } })).gives(422, { reason: "Invalid" });
    (await api.post("resourcequotas", { metadata: { name: "a" }, spec: { hard: { pods: "-1" } } })).gives(422);
    (await api.post("resourcequotas", { metadata: { name: "a" }, spec: { hard: { pods: "1.5" } } })).gives(422);
    await api.created("configmaps", configMap("free"));
  },

  "the pod security level of a namespace rejects Pods": async (api) => {
    const name = `strict-${api.id}`;
    await api.created("/api/v1/namespaces", { metadata: { name, labels: { "pod-security.kubernetes.io/enforce": "restricted" } } });
    await api.send("POST", `/api/v1/namespaces/${name}/serviceaccounts`, account);
    const answer = await api.until(
      () => api.post(`/api/v1/namespaces/${name}/pods`, pod("a")),
      (seen) => !seen.text.includes("service account"),
    );
    answer.gives(403, { reason: "Forbidden" });
    expect(answer.textAt("message")).toMatch(
      /^pods "a" is forbidden: violates PodSecurity "restricted:latest": allowPrivilegeEscalation != false \(container "web" must set securityContext\.allowPrivilegeEscalation=false\)/,
    );
  },
});
