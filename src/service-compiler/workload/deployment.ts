/** The Deployment. It holds references to config, never the config itself; a hash of it makes pods roll when it changes. */
import type { LatticeServiceSpec } from "#crds";
import type { JsonObject, KubeObject } from "#kube";
import { CONFIG_HASH_ANNOTATION, labelsOf, metadataFor, SERVICE_LABEL, type WorkloadOwner } from "./names.ts";
import type { CompiledObject } from "./once.ts";

export type PodParts = {
  readonly initContainers: readonly JsonObject[];
  readonly containers: readonly JsonObject[];
  readonly volumes: readonly JsonObject[];
  readonly securityContext: JsonObject | undefined;
  readonly configHash: string | undefined;
};

export type Replicas = { readonly min: number; readonly max: number | undefined };

export function compileDeployment(owner: WorkloadOwner, spec: LatticeServiceSpec, replicas: Replicas, pod: PodParts): CompiledObject {
  const labels = { ...labelsOf(owner.name), [SERVICE_LABEL]: owner.name };
  const handsOff = replicas.max !== undefined || spec.deploy?.strategy === "canary";
  const rolling = spec.deploy?.rolling;
  const object = {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { ...metadataFor(owner, owner.name, { [SERVICE_LABEL]: owner.name }), ...annotated(spec, {}) },
    spec: {
      ...(handsOff ? {} : { replicas: replicas.min }),
      selector: { matchLabels: { "app.kubernetes.io/name": owner.name } },
      ...(rolling === undefined ? {} : { strategy: { type: "RollingUpdate", rollingUpdate: rolling } }),
      template: {
        metadata: { labels, ...annotated(spec, pod.configHash === undefined ? {} : { [CONFIG_HASH_ANNOTATION]: pod.configHash }) },
        spec: {
          serviceAccountName: owner.name,
          automountServiceAccountToken: false,
          enableServiceLinks: false,
          ...(pod.securityContext === undefined ? {} : { securityContext: pod.securityContext }),
          ...(pod.initContainers.length === 0 ? {} : { initContainers: pod.initContainers }),
          containers: pod.containers,
          ...(pod.volumes.length === 0 ? {} : { volumes: pod.volumes }),
        },
      },
    },
  } as unknown as KubeObject;
  return handsOff ? { object, once: { spec: { replicas: replicas.min } } } : { object };
}

function annotated({ annotations }: LatticeServiceSpec, own: Readonly<Record<string, string>>): JsonObject {
  const all = { ...annotations, ...own };
  return Object.keys(all).length === 0 ? {} : { annotations: all };
}
