/** Resolves a service name from the command line: `namespace/name` with its target or source namespace, or a unique name. */
import { err, ok, type Result } from "#base";
import { didYouMean } from "#crds";
import { serviceId, type ServiceId } from "#mesh-compiler";
import type { World } from "./world.ts";

/** The namespace in which a name without one is looked up first. `only`: no other namespace is searched. */
export type NameScope = { readonly namespace: string; readonly only: boolean };

export function findNode(world: World, name: string, scope?: NameScope): Result<ServiceId, string> {
  const ids = [...world.mesh.graph.nodes()].map(({ id }) => id);
  if (name.includes("/")) {
    const id = ids.includes(name) ? name : world.idOf(name);
    return id === undefined ? err(`there is no ${name}${didYouMean(name, ids)}`) : ok(id);
  }
  const here = scope === undefined ? undefined : nodeIn(world, scope.namespace, name);
  if (here !== undefined) return ok(here);
  const found = ids.filter((id) => id.endsWith(`/${name}`)).toSorted();
  if (scope?.only === true) {
    const elsewhere = found.length > 0 ? `; there is ${found.join(", ")}` : didYouMean(name, namesOf(ids));
    return err(`there is no service ${name} in namespace ${scope.namespace}${elsewhere}`);
  }
  const [only] = found;
  if (only === undefined) return err(`there is no service ${name}${didYouMean(name, namesOf(ids))}`);
  return found.length === 1 ? ok(only) : err(`${name} is in several namespaces; write one of ${found.join(", ")}`);
}

/** A service is found by the namespace where it runs and by the one where it is declared. */
function nodeIn(world: World, namespace: string, name: string): ServiceId | undefined {
  const key = `${namespace}/${name}`;
  return world.mesh.graph.get(serviceId(namespace, name))?.id ?? world.idOf(key);
}

function namesOf(ids: readonly string[]): readonly string[] {
  return ids.map((id) => id.slice(id.indexOf("/") + 1));
}
