/** Compiles a whole world: the output of `lattice compile`, and the input of the data plane model. */
import type { KubeObject } from "#kube";
import { splitId, type ServiceId } from "#mesh-compiler";
import { describeWarning, SERVICE_LABEL, type CompiledObject, type Warning } from "#service-compiler";
import type { ServiceError } from "./errors.ts";
import { edgeWarnings } from "./edge-warnings.ts";
import type { PatchTarget } from "./patch-target.ts";
import { repeatable } from "./repeatable.ts";
import type { ServiceKey, World } from "./world.ts";

/** All objects of a world, and the errors of the services that have none. */
export type CompiledWorld = {
  /** Objects of the namespaces: the Namespace, its default deny, its waypoint. */
  readonly namespaces: readonly KubeObject[];
  /**
   * Objects of external services and services, in apply order. They can be applied repeatedly: fields that an autoscaler or
   * Flagger sets are left out.
   */
  readonly objects: readonly KubeObject[];
  /** All objects, with the fields that are written only on creation kept separate. */
  readonly compiled: readonly CompiledObject[];
  /** Deployments that are patched, as far as policies read them: pods with the label of their service, and their ServiceAccount. */
  readonly patched: readonly KubeObject[];
  readonly errors: ReadonlyMap<ServiceKey, readonly ServiceError[]>;
  /** Warnings, one sentence each; they do not prevent a service from being applied. */
  readonly warnings: readonly string[];
  /** The warnings that belong to a field of one service. */
  readonly serviceWarnings: ReadonlyMap<ServiceKey, readonly Warning[]>;
};

/**
 * Compiles a whole world. A service with an error has no objects; the other services are complete.
 *
 * @example
 * const { namespaces, objects, errors } = compileAll(world);
 * if (errors.size === 0) process.stdout.write(formatYamlDocuments([...namespaces, ...objects]));
 */
export function compileAll(world: World): CompiledWorld {
  const compiled: CompiledObject[] = [];
  const errors = new Map<ServiceKey, readonly ServiceError[]>();
  const patched: KubeObject[] = [];
  const warnings: string[] = [];
  const serviceWarnings = new Map<ServiceKey, readonly Warning[]>();
  for (const key of world.externals()) {
    const entries = world.compileExternal(key);
    if (entries.ok) compiled.push(...entries.value.map((object) => ({ object })));
    else errors.set(key, entries.error);
  }
  for (const key of world.services()) {
    const service = world.compile(key, { misplaced: "check" });
    if (!service.ok) {
      // an external service may have the same namespace and name
      errors.set(key, [...(errors.get(key) ?? []), ...service.error]);
      continue;
    }
    compiled.push(...service.value.objects);
    const { target } = service.value;
    if (target !== undefined) {
      patched.push(...patchedDeployment(service.value.id, target));
      warnings.push(...patchNotes(key, target));
    }
    if (service.value.warnings.length > 0) serviceWarnings.set(key, service.value.warnings);
    warnings.push(...service.value.warnings.map((warning) => `${key}: ${describeWarning(warning)}`));
  }
  const namespaces = world.namespaces().flatMap((namespace) => world.namespaceObjects(namespace));
  const all = [...warnings, ...edgeWarnings(world)];
  return { namespaces, objects: repeatable(compiled), compiled, patched, errors, warnings: all, serviceWarnings };
}

/** Named after the service, as an owned Deployment is: policies select pods by its label. */
function patchedDeployment(id: ServiceId, { serviceAccount }: PatchTarget): readonly KubeObject[] {
  if (serviceAccount === undefined) return [];
  const { namespace, name } = splitId(id);
  const template = { metadata: { labels: { [SERVICE_LABEL]: name } }, spec: { serviceAccountName: serviceAccount } };
  return [{ apiVersion: "apps/v1", kind: "Deployment", metadata: { name, namespace }, spec: { template } } as KubeObject];
}

function patchNotes(key: ServiceKey, { namespace, name, serviceAccount, assumed }: PatchTarget): readonly string[] {
  const patches = `${key} patches Deployment ${namespace}/${name}: the patch is applied in the cluster and is not part of this output`;
  if (serviceAccount === undefined) return [patches, `${key}: there is no Deployment ${namespace}/${name}, so that nothing is open`];
  if (!assumed) return [patches];
  return [
    patches,
    `${key}: Deployment ${namespace}/${name} is not among the files; policies assume that its ServiceAccount is ${serviceAccount}`,
  ];
}
