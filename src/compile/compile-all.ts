/** Everything that a world becomes: what `lattice compile` prints, and what the data plane is built from. */
import type { KubeObject } from "#kube";
import { atFirst } from "#service-compiler";
import type { ServiceError } from "./errors.ts";
import { edgeWarnings } from "./edge-warnings.ts";
import type { ServiceKey, World } from "./world.ts";

export type CompiledWorld = {
  /** Namespaces first, then each external service and each service, in the order in which they are applied. */
  readonly namespaces: readonly KubeObject[];
  readonly objects: readonly KubeObject[];
  readonly errors: ReadonlyMap<ServiceKey, readonly ServiceError[]>;
  readonly warnings: readonly string[];
};

export function compileAll(world: World): CompiledWorld {
  const objects: KubeObject[] = [];
  const errors = new Map<ServiceKey, readonly ServiceError[]>();
  const warnings: string[] = [];
  for (const key of world.externals()) {
    const compiled = world.compileExternal(key);
    if (compiled.ok) objects.push(...compiled.value);
    else errors.set(key, compiled.error);
  }
  for (const key of world.services()) {
    const compiled = world.compile(key);
    if (!compiled.ok) {
      errors.set(key, compiled.error);
      continue;
    }
    objects.push(...compiled.value.objects.map(atFirst));
    warnings.push(...compiled.value.warnings.map((text) => `${key}: ${text}`));
  }
  const namespaces = world.namespaces().flatMap((namespace) => world.namespaceObjects(namespace));
  return { namespaces, objects, errors, warnings: [...warnings, ...edgeWarnings(world)] };
}
