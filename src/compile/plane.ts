/** The data plane of a world: of what it compiles to, or of what a cluster really has. */
import type { KubeObject } from "#kube";
import { DataPlane } from "#mesh-compiler";
import { compileAll } from "./compile-all.ts";
import type { World } from "./world.ts";

export function planeOf(world: World, objects?: readonly KubeObject[]): DataPlane {
  return new DataPlane(objects ?? compiledObjects(world), (namespace) => world.trustDomainOf(namespace));
}

function compiledObjects(world: World): readonly KubeObject[] {
  const { namespaces, objects } = compileAll(world);
  return [...namespaces, ...objects];
}
