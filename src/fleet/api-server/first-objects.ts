/**
 * The objects that every cluster of the fleet has: Lattice's kinds, reduced kinds of other projects, the operator's namespace, permissions and
 * Deployment.
 *
 * Applying them takes longer than the rest of a restart, so a digest of them is kept on the namespace: a restart with the same program
 * changes nothing. The Deployment is created once, and what users change on it is kept; only a new program version sets its image.
 */
import { err, ok, sha256Hex, type Result } from "#base";
import { providerInventory, reducedCapiCrds } from "#bundle";
import { reducedMeshCrds } from "#controllers";
import { latticeKinds } from "#crds";
import {
  canonicalJson,
  capiProviders,
  customResourceDefinitions,
  deployments,
  fieldAt,
  namespaces,
  type Deployment,
  type KubeObject,
  type Resource,
} from "#kube";
import type { KubeClient } from "#kube-client";
import { OPERATOR_CONTAINER, OPERATOR_NAMESPACE, operatorDeployment, operatorImage, operatorRbac } from "#operator";

const FIELD_MANAGER = "lattice-up";
/** On the operator's namespace: the digest of the objects that were applied. */
const DIGEST_ANNOTATION = "fleet.lattice.dev/applied";
/** On the Deployment: the program that set its image. */
const VERSION_ANNOTATION = "fleet.lattice.dev/version";
/** A Lease of 5 s: an operator that is killed is replaced soon. */
const OPERATOR_ARGS = ["--lease-duration", "5s", "--wait-for-server", "1m", "--resync", "10m"] as const;

export type FirstObjectsOptions = {
  readonly client: KubeClient;
  /** Of the program. */
  readonly version: string;
  /** The server's resource of a kind. */
  readonly resourceOf: (kind: string, apiVersion: string) => Resource;
};

export async function applyFirstObjects({ client, version, resourceOf }: FirstObjectsOptions): Promise<Result<void, string>> {
  const crds: readonly KubeObject[] = [...latticeKinds.map(({ crd }) => crd()), ...reducedMeshCrds(), ...reducedCapiCrds("local")];
  const permissions = operatorRbac();
  // with the providers of local clusters, so that this cluster can become a cell
  const providers = providerInventory("local");
  const digest = sha256Hex(canonicalJson([crds, permissions, providers])).slice(0, 32);
  if (!(await isApplied(client, crds, digest))) {
    const home: KubeObject = { apiVersion: "v1", kind: "Namespace", metadata: { name: OPERATOR_NAMESPACE } };
    const objects = [home, ...crds, ...permissions.filter(({ kind }) => kind !== "Namespace")];
    // the digest last: after a crash in between, all of them are applied again
    const applied = await applyAll(
      client,
      objects.map((object) => ({ object, resource: resourceOf(object.kind, object.apiVersion) })),
    );
    if (!applied.ok) return applied;
    const marked = await applyAll(client, [
      ...providers.map((object) => ({ object, resource: object.kind === capiProviders.kind ? capiProviders : namespaces })),
      { resource: namespaces, object: { ...home, metadata: { ...home.metadata, annotations: { [DIGEST_ANNOTATION]: digest } } } },
    ]);
    if (!marked.ok) return marked;
  }
  return ensureDeployment(client, version);
}

/** Applied by this version of the program, and no kind was deleted since. */
async function isApplied(client: KubeClient, crds: readonly KubeObject[], digest: string): Promise<boolean> {
  const home = await client.get(namespaces, { name: OPERATOR_NAMESPACE });
  if (!home.ok || fieldAt(home.value.metadata, "annotations", DIGEST_ANNOTATION) !== digest) return false;
  const found = await client.list(customResourceDefinitions);
  const names = new Set(found.ok ? found.value.items.map(({ metadata }) => metadata.name) : []);
  return crds.every(({ metadata }) => names.has(metadata.name));
}

async function applyAll(
  client: KubeClient,
  all: readonly { readonly resource: Resource; readonly object: KubeObject }[],
): Promise<Result<void, string>> {
  for (const { resource, object } of all) {
    const answer = await client.apply(resource, object, { fieldManager: FIELD_MANAGER, force: true });
    if (!answer.ok) return err(`${object.kind} ${object.metadata.name} was refused: ${answer.error.message}`);
  }
  return ok(undefined);
}

async function ensureDeployment(client: KubeClient, version: string): Promise<Result<void, string>> {
  const wanted = operatorDeployment({ version, args: OPERATOR_ARGS });
  const { name, namespace } = wanted.metadata;
  const found = await client.get(deployments, { name, namespace });
  if (found.ok)
    return fieldAt(found.value.metadata, "annotations", VERSION_ANNOTATION) === version ? ok(undefined) : setImage(client, wanted, version);
  if (found.error.kind !== "not-found") return err(`Deployment ${name} cannot be read: ${found.error.message}`);
  const object = { ...wanted, metadata: { ...wanted.metadata, annotations: { [VERSION_ANNOTATION]: version } } };
  const created = await client.create(deployments, object, { fieldManager: FIELD_MANAGER });
  return created.ok || created.error.kind === "already-exists"
    ? ok(undefined)
    : err(`Deployment ${name} was refused: ${created.error.message}`);
}

async function setImage(client: KubeClient, { metadata: { name, namespace } }: Deployment, version: string): Promise<Result<void, string>> {
  const containers = [{ name: OPERATOR_CONTAINER, image: operatorImage(version) }];
  const patch = { metadata: { annotations: { [VERSION_ANNOTATION]: version } }, spec: { template: { spec: { containers } } } };
  const patched = await client.patch(deployments, { name, namespace }, { type: "strategic", patch }, { fieldManager: FIELD_MANAGER });
  return patched.ok ? ok(undefined) : err(`the image of Deployment ${name} cannot be set: ${patched.error.message}`);
}
