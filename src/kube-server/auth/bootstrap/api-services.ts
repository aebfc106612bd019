/** One APIService for each group version that the server serves itself, as on a real server. */
import { apiServices as apiServiceResource } from "#kube";
import { defaultOf, NOW, type OtherDefault } from "./other-default.ts";

/** Group, version, and the two priorities that determine the order in discovery. */
const SERVED = `
v1 18000 1
admissionregistration.k8s.io/v1 16700 15
apiextensions.k8s.io/v1 16700 15
apps/v1 17800 15
authentication.k8s.io/v1 17700 15
authorization.k8s.io/v1 17600 15
autoscaling/v1 17500 15
autoscaling/v2 17500 30
batch/v1 17400 15
certificates.k8s.io/v1 17300 15
coordination.k8s.io/v1 16500 15
discovery.k8s.io/v1 16200 15
events.k8s.io/v1 17750 15
flowcontrol.apiserver.k8s.io/v1 16100 21
networking.k8s.io/v1 17200 15
node.k8s.io/v1 16300 15
policy/v1 17100 15
rbac.authorization.k8s.io/v1 17000 15
resource.k8s.io/v1 16200 21
scheduling.k8s.io/v1 16600 15
storage.k8s.io/v1 16800 15`;

const LABEL = "kube-aggregator.kubernetes.io/automanaged";

export function apiServices(): readonly OtherDefault[] {
  return SERVED.trim()
    .split("\n")
    .map((line) => {
      const [apiVersion = "", groupPriority = "", versionPriority = ""] = line.split(" ");
      const slash = apiVersion.indexOf("/");
      const [group, version] = slash < 0 ? ["", apiVersion] : [apiVersion.slice(0, slash), apiVersion.slice(slash + 1)];
      return apiService({ group, version, groupPriorityMinimum: Number(groupPriority), versionPriority: Number(versionPriority) });
    });
}

type Served = { readonly group: string; readonly version: string; readonly groupPriorityMinimum: number; readonly versionPriority: number };

function apiService({ group, ...rest }: Served): OtherDefault {
  const spec = group === "" ? rest : { group, ...rest };
  const available = {
    type: "Available",
    status: "True",
    lastTransitionTime: NOW,
    reason: "Local",
    message: "Local APIServices are always available",
  };
  return defaultOf({
    kind: apiServiceResource,
    name: `${rest.version}.${group}`,
    labels: { [LABEL]: "onstart" },
    content: { spec, status: { conditions: [available] } },
    owned: {
      "f:metadata": { "f:labels": { ".": {}, [`f:${LABEL}`]: {} } },
      "f:spec": Object.fromEntries(Object.keys(spec).map((name) => [`f:${name}`, {}])),
    },
  });
}
