/**
 * One LatticeCluster to its Cluster API objects. Pure: the same input gives the same objects.
 *
 * With an error there are no objects: half a cluster costs money and cannot work.
 */
import { err, ok, type Result } from "#base";
import type { LatticeCluster } from "#crds";
import { capiClusters, fieldAt, isJsonObject, kubeadmControlPlanes, namespaces, type Json, type JsonObject, type KubeObject } from "#kube";
import { checkCluster } from "./checks/index.ts";
import type { ClusterSpecError } from "./errors.ts";
import type { ClusterContext, ClusterSettingsInput, CompiledCluster, OnceFields, WantedClusterObject } from "./input.ts";
import { BOOTSTRAP_ONLY_FIELDS, compileControlPlane, compilePoolConfig } from "./kubeadm.ts";
import { compileControlPlaneCheck, compilePool, compilePoolCheck } from "./machines.ts";
import { capiNamespace, controlPlaneName, templateName } from "./names.ts";
import { DEFAULT_PODS, DEFAULT_SERVICES } from "./networks.ts";
import { clusterObject, referenceTo } from "./objects.ts";
import { workerPools } from "./pools.ts";
import { providerParts } from "./providers/index.ts";
import type { MachineRole, ProviderParts } from "./providers/provider.ts";
import { stagesOf } from "./stages.ts";
import { parseKubernetesVersion } from "./versions.ts";

export function compileCluster(
  cluster: LatticeCluster,
  settings: ClusterSettingsInput = {},
): Result<CompiledCluster, readonly ClusterSpecError[]> {
  const version = parseKubernetesVersion(cluster.spec.provider.kubernetes.version);
  const context = contextOf(cluster, version.ok ? version.value.text : "");
  const errors = [...(version.ok ? [] : [version.error]), ...checkCluster(cluster, context, settings)];
  const parts = providerParts(cluster, context, settings);
  if (errors.length > 0 || parts === undefined) return err(errors);
  return ok(assemble(cluster, context, parts, settings));
}

function contextOf({ metadata: { name }, spec }: LatticeCluster, version: string): ClusterContext {
  return {
    name,
    namespace: capiNamespace(name),
    version,
    pods: spec.networking?.pods?.cidr ?? DEFAULT_PODS,
    services: spec.networking?.services?.cidr ?? DEFAULT_SERVICES,
    pools: workerPools(name, spec.nodes),
  };
}

function assemble(cluster: LatticeCluster, context: ClusterContext, parts: ProviderParts, settings: ClusterSettingsInput): CompiledCluster {
  const stages = stagesOf(cluster, context, settings.existing);
  const control = stages.controlPlane.machine ?? machineTemplate(context, parts, controlPlaneName(context.name), { role: "control-plane" });
  const pools = stages.pools.map(({ pool, stage }) => ({
    pool,
    version: stage.version,
    machine: stage.machine ?? machineTemplate(context, parts, pool.name, { role: "worker", pool }),
    config: stage.config ?? compilePoolConfig(context, pool, parts),
  }));
  // those that are in use already are not applied: their content is that of an earlier spec
  const templates = [control, ...pools.map(({ machine }) => machine), ...pools.map(({ config }) => config)].filter(isObject);
  const head = [
    clusterObject(namespaces, context, { name: context.namespace }),
    ...parts.credentials,
    parts.infrastructure.object,
    compileCapiCluster(context, parts),
    ...templates,
    compileControlPlane({ cluster, context, parts, settings, template: nameOf(control), version: stages.controlPlane.version }),
  ];
  const checks = [compileControlPlaneCheck(context), ...pools.map(({ pool }) => compilePoolCheck(context, pool))];
  const wanted: readonly WantedClusterObject[] = [
    ...head.map((object) => ({ object })),
    ...pools.map(({ pool, machine, config, version }) =>
      compilePool({ cluster, context, parts, pool, version, templates: { machine: nameOf(machine), config: nameOf(config) } }),
    ),
    ...checks.map((object) => ({ object })),
  ];
  return {
    namespace: context.namespace,
    objects: wanted.map(atCreation),
    wanted,
    once: wanted.flatMap(onceFields),
    templates: templates.map(nameOf),
    ...(stages.progress === undefined ? {} : { upgrade: stages.progress }),
    later: stages.later.map(({ name }) => name),
  };
}

/** A template, or the name of one that exists. */
type Template = KubeObject | string;

function isObject(template: Template): template is KubeObject {
  return typeof template !== "string";
}

function nameOf(template: Template): string {
  return typeof template === "string" ? template : template.metadata.name;
}

function machineTemplate(context: ClusterContext, parts: ProviderParts, owner: string, role: MachineRole): KubeObject {
  const spec = parts.machineTemplate(role);
  return clusterObject(parts.machines, context, { name: templateName(owner, spec), spec });
}

function compileCapiCluster(context: ClusterContext, { infrastructure, endpoint }: ProviderParts): KubeObject {
  return clusterObject(capiClusters, context, {
    name: context.name,
    spec: {
      clusterNetwork: {
        pods: { cidrBlocks: [context.pods] },
        services: { cidrBlocks: [context.services] },
        serviceDomain: "cluster.local",
      },
      ...(endpoint === undefined ? {} : { controlPlaneEndpoint: { host: endpoint.host, port: endpoint.port } }),
      infrastructureRef: referenceTo(infrastructure.resource, infrastructure.object.metadata.name),
      controlPlaneRef: referenceTo(kubeadmControlPlanes, controlPlaneName(context.name)),
    },
  });
}

function atCreation({ object, once }: WantedClusterObject): KubeObject {
  if (once === undefined) return object;
  const { spec } = object as { readonly spec?: JsonObject };
  const first: Json | undefined = once["spec"];
  return { ...object, spec: { ...(isJsonObject(first) ? first : {}), ...spec } } as KubeObject;
}

function onceFields({ object, once }: WantedClusterObject): readonly OnceFields[] {
  const { kind, metadata } = object;
  if (once !== undefined) return [{ kind, name: metadata.name, paths: [["spec", "replicas"]] }];
  if (kind !== kubeadmControlPlanes.kind) return [];
  const config = fieldAt(object, "spec", "kubeadmConfigSpec");
  const present = BOOTSTRAP_ONLY_FIELDS.filter((name) => isJsonObject(config) && Object.hasOwn(config, name));
  return present.length === 0 ? [] : [{ kind, name: metadata.name, paths: present.map((name) => ["spec", "kubeadmConfigSpec", name]) }];
}
