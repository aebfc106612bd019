/** A bootstrap cluster that has an operator and the providers already, and keeps them. */
import { err, ok, type Result } from "#base";
import { IDENTITY_CONFIG_MAP } from "#controllers";
import type { BootstrapHost, CellEndpoints } from "#install";
import { configMaps } from "#kube";
import type { KubeClient } from "#kube-client";
import { OPERATOR_NAMESPACE } from "#operator";
import { BOOTSTRAP } from "./fleet-host.ts";

export type KubeconfigHostOptions = {
  /** Its name, if it is a cell already. */
  readonly cell?: string | undefined;
  /** `spec.endpoints.host` of the cell that it becomes. */
  readonly address?: string | undefined;
  readonly discard: string;
};

export function kubeconfigHost(client: KubeClient, { cell = BOOTSTRAP, address, discard }: KubeconfigHostOptions): BootstrapHost {
  return {
    name: cell,
    atEnd: "kept",
    find: () => Promise.resolve(ok(client)),
    create: () => Promise.resolve(ok(undefined)),
    remove: () => Promise.resolve(ok(undefined)),
    endpoints: () => Promise.resolve(endpointsOf(address)),
    discard,
  };
}

export const NO_ADDRESS = "the bootstrap cluster is no cell yet: give the address at which machines reach it with --bootstrap-address";

function endpointsOf(host: string | undefined): Result<CellEndpoints, string> {
  if (host === undefined) return err(NO_ADDRESS);
  return ok({ host, grpcPort: 50_051, bootstrapPort: 8_443, proxyPort: 8_444, service: { type: "LoadBalancer" } });
}

/** The name of a cluster that is a cell; undefined: it has no name yet. */
export async function ownCell(client: KubeClient, signal: AbortSignal): Promise<Result<string | undefined, string>> {
  const identity = await client.get(configMaps, { namespace: OPERATOR_NAMESPACE, name: IDENTITY_CONFIG_MAP }, { signal });
  if (identity.ok) return ok(identity.value.data?.["cluster"]);
  return identity.error.kind === "not-found" ? ok(undefined) : err(identity.error.message);
}
