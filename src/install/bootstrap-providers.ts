/** Which components of Cluster API a bootstrap cluster has already, and whether they can be used. Pure. */
import { err, ok, type Result } from "#base";
import { field, type KubeObject } from "#kube";
import { isProviderAtLeast } from "#pivot";

/** Names of components that need not be installed. An error: one is there, and cannot be used. */
export function presentProviders(wanted: readonly KubeObject[], installed: readonly KubeObject[]): Result<ReadonlySet<string>, string> {
  const present = new Set<string>();
  for (const provider of wanted) {
    const { name } = provider.metadata;
    const same = installed.filter((other) => ["type", "providerName"].every((key) => textOf(other, key) === textOf(provider, key)));
    if (same.length === 0) continue;
    const [version, needed] = [textOf(same[0], "version"), textOf(provider, "version")];
    const isNewEnough = isProviderAtLeast(version, needed);
    if (isNewEnough === undefined)
      return err(
        `provider ${name} of the bootstrap cluster has version "${version}", which cannot be compared with ${needed} of the bundle`,
      );
    if (!isNewEnough)
      return err(
        `provider ${name} of the bootstrap cluster is older (${version}) than that of the bundle (${needed}); upgrade it with clusterctl upgrade, or use another bootstrap cluster`,
      );
    present.add(name);
  }
  return ok(present);
}

function textOf(object: KubeObject | undefined, key: string): string {
  const value = field(object, key);
  return typeof value === "string" ? value : "";
}
