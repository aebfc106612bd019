/** The KubeadmControlPlane, and one KubeadmConfigTemplate per pool of workers. */
import type { LatticeCluster } from "#crds";
import { fieldAt, isJsonObject, kubeadmConfigTemplates, kubeadmControlPlanes, type JsonObject, type KubeObject } from "#kube";
import { bootstrapFields } from "./bootstrap-script.ts";
import { certificateNames, ENDPOINTS_HOST_ANNOTATION } from "./certificate-names.ts";
import type { ClusterContext, ClusterSettingsInput, WorkerPool } from "./input.ts";
import { controlPlaneName, templateName, tokenSecretName } from "./names.ts";
import { clusterObject, extraArgs, referenceTo } from "./objects.ts";
import { POOL_LABEL } from "./pools.ts";
import type { ProviderParts } from "./providers/provider.ts";
import { drainOf } from "./upgrade.ts";

/** Fields of `kubeadmConfigSpec` that only new machines read. A change of them would replace all control-plane machines for nothing. */
export const BOOTSTRAP_ONLY_FIELDS = ["files", "preKubeadmCommands", "postKubeadmCommands"] as const;

type ControlPlaneInput = {
  readonly cluster: LatticeCluster;
  readonly context: ClusterContext;
  readonly parts: ProviderParts;
  readonly settings: ClusterSettingsInput;
  /** Name of the machine template. */
  readonly template: string;
  readonly version: string;
};

export function compileControlPlane({ cluster, context, parts, settings, template, version }: ControlPlaneInput): KubeObject {
  const { nodes, upgrade } = cluster.spec;
  const { names, host } = certificateNames(cluster, settings.existing?.controlPlane);
  return clusterObject(kubeadmControlPlanes, context, {
    name: controlPlaneName(context.name),
    ...(host === undefined ? {} : { annotations: { [ENDPOINTS_HOST_ANNOTATION]: host } }),
    spec: {
      replicas: nodes.controlPlane,
      version,
      machineTemplate: { spec: { infrastructureRef: referenceTo(parts.machines, template), ...drainOf(upgrade) } },
      kubeadmConfigSpec: {
        clusterConfiguration: {
          apiServer: { certSANs: names },
          ...(parts.externalCloudProvider ? { controllerManager: { extraArgs: extraArgs({ "cloud-provider": "external" }) } } : {}),
        },
        ...registrations(parts),
        ...bootstrapOnly(context.name, settings),
      },
    },
  });
}

/** kubeadm refuses an empty registration, and a control plane has no labels of its own. */
function registrations({ registration: { fields, kubeletArgs } }: ProviderParts): JsonObject {
  const args = Object.keys(kubeletArgs).length === 0 ? {} : { kubeletExtraArgs: extraArgs(kubeletArgs) };
  const nodeRegistration = { ...fields, ...args };
  if (Object.keys(nodeRegistration).length === 0) return {};
  return { initConfiguration: { nodeRegistration }, joinConfiguration: { nodeRegistration } };
}

function bootstrapOnly(cluster: string, { cell, existing, tokenSecret }: ClusterSettingsInput): JsonObject {
  if (existing?.controlPlane !== undefined) {
    const known = fieldAt(existing.controlPlane, "spec", "kubeadmConfigSpec");
    if (!isJsonObject(known)) return {};
    return Object.fromEntries(BOOTSTRAP_ONLY_FIELDS.flatMap((name) => (Object.hasOwn(known, name) ? [[name, known[name]]] : [])));
  }
  if (cell === undefined) return {};
  const { host, bootstrapPort, caBundle } = cell;
  return bootstrapFields({ cluster, host, port: bootstrapPort, caBundle, tokenSecret: tokenSecret ?? tokenSecretName(cluster) });
}

/** Its name follows from its content: a MachineDeployment replaces its machines only when it refers to another template. */
export function compilePoolConfig(context: ClusterContext, pool: WorkerPool, { registration }: ProviderParts): KubeObject {
  const { fields, kubeletArgs } = registration;
  const nodeRegistration = {
    ...fields,
    kubeletExtraArgs: extraArgs({ ...kubeletArgs, "node-labels": nodeLabels(pool) }),
    ...(pool.taints.length === 0 ? {} : { taints: pool.taints }),
  };
  const spec = { template: { spec: { joinConfiguration: { nodeRegistration } } } };
  return clusterObject(kubeadmConfigTemplates, context, { name: templateName(pool.name, spec), spec });
}

/** The kubelet's argument: labels in the order of their keys. */
export function nodeLabels({ pool, labels }: WorkerPool): string {
  return Object.entries({ ...labels, [POOL_LABEL]: pool })
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${key}=${value}`)
    .join(",");
}
