/** Everything that a world becomes: what `lattice compile` prints, and what the data plane is built from. */
import type { KubeObject } from "#kube";
import { describeWarning, type CompiledObject, type Warning } from "#service-compiler";
import type { ServiceError } from "./errors.ts";
import { edgeWarnings } from "./edge-warnings.ts";
import { repeatable } from "./repeatable.ts";
import type { ServiceKey, World } from "./world.ts";

/** All objects of a world, and what kept some services from having any. */
export type CompiledWorld = {
  /** What namespaces themselves have: the Namespace, its default deny, its waypoint. */
  readonly namespaces: readonly KubeObject[];
  /**
   * Each external service and each service, in the order in which they are applied. They can be applied again: fields that an autoscaler or
   * Flagger sets are left out.
   */
  readonly objects: readonly KubeObject[];
  /** All objects, with the fields apart that are written once and belong to another controller afterwards. */
  readonly compiled: readonly CompiledObject[];
  readonly errors: ReadonlyMap<ServiceKey, readonly ServiceError[]>;
  /** Sentences for people; nothing that keeps a service from being applied. */
  readonly warnings: readonly string[];
  /** Those among them that are about one service, with the field. */
  readonly serviceWarnings: ReadonlyMap<ServiceKey, readonly Warning[]>;
};

/**
 * Compiles all of a world. A service with an error has no objects, and the others have all of theirs.
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
      // an external service may be written in the same place
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
