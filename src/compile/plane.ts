/** The data plane model of a world, from its compiled objects or from the objects of a cluster. */
import type { KubeObject } from "#kube";
import { DataPlane } from "#mesh-compiler";
import { compileAll } from "./compile-all.ts";
import type { World } from "./world.ts";

export function planeOf(world: World, objects?: readonly KubeObject[]): DataPlane {
  return new DataPlane(objects ?? compiledObjects(world), (namespace) => world.trustDomainOf(namespace));
}

function compiledObjects(world: World): readonly KubeObject[] {
  const { namespaces, objects, patched } = compileAll(world);
  return [...namespaces, ...objects, ...patched];
}
