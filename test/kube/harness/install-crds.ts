/**
 * Installs CRDs and waits until objects of their kinds can be written. `Established` is not enough: discovery, which kubectl
 * uses, lists a new kind later, and the server responds with 429 until its storage is ready.
 */
import { latticeKinds } from "#crds";
import { formatYamlDocuments, type KubeObject } from "#kube";
import type { PlaneAccess } from "./access.ts";
import { eventually } from "./eventually.ts";
import type { Ran } from "./run-program.ts";

/** Returns the output of `kubectl apply`. Applying again changes nothing, so every story may call this. */
export async function installCrds(plane: PlaneAccess, crds: readonly KubeObject[]): Promise<Ran> {
  const applied = await plane.kubectl(["apply", "--server-side", "-f", "-"], { stdin: formatYamlDocuments(crds) });
  if (applied.code !== 0) throw new Error(`the CRDs were rejected: ${applied.stderr}`);
  const names = crds.map((crd) => crd.metadata.name);
  await plane.kubectlOk(["wait", "--for=condition=Established", "--timeout=60s", ...names.map((name) => `crd/${name}`)]);
  await eventually("discovery of the new kinds", async () => {
    const listed = new Set((await plane.kubectlOk(["api-resources", "--cached=false", "-o", "name"])).split("\n"));
    return names.every((name) => listed.has(name)) || undefined;
  });
  for (const path of crds.flatMap(collectionsOf)) {
    await eventually(`an answer from ${path}`, async () => (await plane.request({ path: `${path}?limit=1` })).code === 200 || undefined);
  }
  return applied;
}

/** The CRDs of all Lattice kinds. */
export function installLatticeCrds(plane: PlaneAccess): Promise<Ran> {
  return installCrds(
    plane,
    latticeKinds.map((kind) => kind.crd()),
  );
}

type CrdSpec = {
  readonly group: string;
  readonly names: { readonly plural: string };
  readonly versions: readonly { readonly name: string; readonly served: boolean }[];
};

/** The server has accepted the manifest, so its spec has this shape. */
function collectionsOf(crd: KubeObject): readonly string[] {
  const { group, names, versions } = (crd as KubeObject & { readonly spec: CrdSpec }).spec;
  return versions.filter(({ served }) => served).map(({ name }) => `/apis/${group}/${name}/${names.plural}`);
}
