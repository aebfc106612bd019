/** What a person means by a name: `namespace/name` of where it runs or of where it is written, or a name that only one has. */
import { err, ok, type Result } from "#base";
import { didYouMean } from "#crds";
import type { ServiceId } from "#mesh-compiler";
import type { World } from "./world.ts";

export function findNode(world: World, name: string): Result<ServiceId, string> {
  const ids = [...world.mesh.graph.nodes()].map(({ id }) => id);
  if (name.includes("/")) {
    const id = ids.includes(name) ? name : world.idOf(name);
    return id === undefined ? err(`there is no ${name}${didYouMean(name, ids)}`) : ok(id);
  }
  const found = ids.filter((id) => id.endsWith(`/${name}`));
  const [only] = found;
  if (only === undefined)
    return err(
      `there is no service ${name}${didYouMean(
        name,
        ids.map((id) => id.slice(id.indexOf("/") + 1)),
      )}`,
    );
  return found.length === 1 ? ok(only) : err(`${name} is in several namespaces; write one of ${found.toSorted().join(", ")}`);
}
