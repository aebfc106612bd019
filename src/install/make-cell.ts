/** A cluster becomes a cell: it gets its name, and its own LatticeCluster with endpoints. They are written once: its children keep the addresses of their parent. */
import { err, ok, type Result } from "#base";
import { IDENTITY_CONFIG_MAP } from "#controllers";
import { latticeClusters } from "#crds";
import { configMaps, field, parseJson, type Json, type KubeObject } from "#kube";
import type { KubeClient } from "#kube-client";
import { OPERATOR_NAMESPACE } from "#operator";
import type { CellEndpoints } from "./ports.ts";

const FIELD_MANAGER = "lattice-install";

export type NewCell = { readonly name: string; readonly endpoints: () => Promise<Result<CellEndpoints, string>> };

/** Both objects exist afterwards; those that exist already are not changed. */
export async function makeCell(client: KubeClient, { name, endpoints }: NewCell): Promise<Result<void, string>> {
  const identity = {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: IDENTITY_CONFIG_MAP, namespace: OPERATOR_NAMESPACE },
    data: { cluster: name },
  };
  const named = await client.create(configMaps, identity, { fieldManager: FIELD_MANAGER });
  if (!named.ok && named.error.kind !== "already-exists") return err(`ConfigMap ${IDENTITY_CONFIG_MAP}: ${named.error.message}`);
  const found = await client.get(latticeClusters, { name });
  if (found.ok)
    return found.value.spec.endpoints === undefined
      ? err(`LatticeCluster ${name} exists and has no spec.endpoints, which make a cluster a cell; add them`)
      : ok(undefined);
  if (found.error.kind !== "not-found") return err(`LatticeCluster ${name}: ${found.error.message}`);
  const version = await serverVersion(client);
  if (!version.ok) return version;
  const address = await endpoints();
  if (!address.ok) return address;
  const spec = {
    provider: { type: "local", kubernetes: { version: version.value } },
    nodes: { controlPlane: 1, workers: 0 },
    endpoints: address.value,
  };
  const object: KubeObject & { readonly spec: Json } = {
    apiVersion: "lattice.dev/v1alpha1",
    kind: "LatticeCluster",
    metadata: { name },
    spec,
  };
  const created = await client.create<KubeObject>(latticeClusters, object, { fieldManager: FIELD_MANAGER });
  return created.ok || created.error.kind === "already-exists" ? ok(undefined) : err(`LatticeCluster ${name}: ${created.error.message}`);
}

async function serverVersion(client: KubeClient): Promise<Result<string, string>> {
  const answer = await client.raw("/version");
  if (!answer.ok) return err(answer.error.message);
  const parsed = parseJson(answer.value);
  const version = parsed.ok ? field(parsed.value, "gitVersion") : undefined;
  return typeof version === "string" ? ok(version) : err("the API server reports no version");
}
