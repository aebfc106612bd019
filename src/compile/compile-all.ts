/** Compiles a whole world: the output of `lattice compile`, and the input of the data plane model. */
import type { KubeObject } from "#kube";
import { describeWarning, type CompiledObject, type Warning } from "#service-compiler";
import type { ServiceError } from "./errors.ts";
import { edgeWarnings } from "./edge-warnings.ts";
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
  const warnings: string[] = [];
  const serviceWarnings = new Map<ServiceKey, readonly Warning[]>();
  for (const key of world.externals()) {
    const entries = world.compileExternal(key);
    if (entries.ok) compiled.push(...entries.value.map((object) => ({ object })));
    else errors.set(key, entries.error);
  }
  for (const key of world.services()) {
    const patched = world.service(key)?.spec.workloadRef;
    if (patched !== undefined) {
      warnings.push(
        `${key} patches Deployment ${patched.namespace}/${patched.name}: the patch is applied in the cluster and is not part of this output`,
      );
      continue;
    }
    const service = world.compile(key, { misplaced: "check" });
    if (!service.ok) {
      // an external service may have the same namespace and name
      errors.set(key, [...(errors.get(key) ?? []), ...service.error]);
      continue;
    }
    compiled.push(...service.value.objects);
    if (service.value.warnings.length > 0) serviceWarnings.set(key, service.value.warnings);
    warnings.push(...service.value.warnings.map((warning) => `${key}: ${describeWarning(warning)}`));
  }
  const namespaces = world.namespaces().flatMap((namespace) => world.namespaceObjects(namespace));
  const all = [...warnings, ...edgeWarnings(world)];
  return { namespaces, objects: repeatable(compiled), compiled, errors, warnings: all, serviceWarnings };
}
