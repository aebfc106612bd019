/**
 * A running cell, as a service of the leader: its authority, its access records and its three listeners. The cluster controller finds it in the slot.
 *
 * It ends when the address in its own LatticeCluster changes, and is started again with the new one.
 */
import { err, ok, sleep, type Clock, type Logger, type Metrics, type Result } from "#base";
import type { Bundle } from "#bundle";
import { bindLeaderService, type LeaderService, type LeaderServiceContext, type RunningLeaderService } from "#controller-runtime";
import { identityOf, type CellSlot, type ServedEndpoints } from "#controllers";
import { latticeClusters, type LatticeClusterSpec } from "#crds";
import { Registrations } from "#http";
import { createKubeClient } from "#kube-client";
import { tunnelTransport } from "#link";
import { configMaps, deployments, jsonEqual, secrets, secretsByMetadata, type Deployment, type KubeObject } from "#kube";
import { MOVE_PERMISSIONS } from "../move-permissions.ts";
import { followAdoptions } from "./adoptions.ts";
import { CellCertificates } from "./cell-certificates.ts";
import { startCellListeners, type CellListeners } from "./cell-listeners.ts";
import { cellSigner } from "./cell-signer.ts";
import { childAccessRecords } from "./child-access.ts";
import { childManifests } from "./child-manifests.ts";
import { formerPorts, openFormerPorts } from "./former-ports.ts";
import { PivotRunner } from "./pivot/pivot-runner.ts";

export type CellServiceShared = {
  /** The operator's namespace. */
  readonly home: string;
  readonly slot: CellSlot;
  readonly random: () => number;
  readonly randomBytes: (count: number) => Uint8Array;
  readonly metrics: Metrics;
  /** The operator of a child. */
  readonly childOperator: { readonly rbac: readonly KubeObject[]; readonly deployment: Deployment };
  readonly bundle: Bundle | undefined;
  /** Of the Lease of a move. */
  readonly leaseMs: number;
};

type Endpoints = NonNullable<LatticeClusterSpec["endpoints"]>;
type OwnCell = { readonly name: string; readonly endpoints: Endpoints; readonly served: ServedEndpoints };

/** Certificates live for weeks. */
const REFRESH_MS = 3_600_000;
const WATCH_MS = 2_000;

/** Also the declaration for RBAC. */
export const cellService: LeaderService<CellServiceShared> = {
  name: "cell",
  reads: [latticeClusters, configMaps, secretsByMetadata],
  permissions: MOVE_PERMISSIONS,
  homePermissions: [
    { resource: secrets, verbs: ["get", "list", "watch", "create", "update", "delete"] },
    { resource: deployments, verbs: ["get"] },
  ],
  start: startCell,
};

export const bindCellService = (shared: CellServiceShared) => bindLeaderService(cellService, shared);

type CellContext = LeaderServiceContext & CellServiceShared;

async function startCell(context: CellContext): Promise<Result<RunningLeaderService, string>> {
  const own = ownCell(context);
  if (own === undefined) return err("the LatticeCluster of this cluster has no spec.endpoints");
  const { client, home, clock, signal } = context;
  const hosts = [own.served.current, ...own.served.former].map(({ host }) => host);
  const certificates = await CellCertificates.open({ client, home, cell: own.name, host: hosts, clock, signal });
  if (!certificates.ok) return certificates;
  const registrations = registrationsOf(context, own, certificates.value);
  if (!(await registrations.open(signal))) return (await registrations.close(), err("stopped while the access records were read"));
  const { grpcPort: grpc, bootstrapPort: bootstrap, proxyPort: proxy, host } = own.endpoints;
  const listeners = await startCellListeners({
    ...context,
    cell: own.name,
    bind: bindAddress(host),
    ports: { grpc, bootstrap, proxy },
    certificates: certificates.value,
    registrations,
  });
  if (!listeners.ok) return (await registrations.close(), listeners);
  context.logger.info("cell listens", { cell: own.name, host, grpc, bootstrap, proxy });
  const former = await openFormerPorts(formerPorts(own.served, bindAddress), context.logger);
  const running = { certificates: certificates.value, registrations, listeners: listeners.value, former };
  return ok(run(context, own, running));
}

function registrationsOf(context: CellContext, own: OwnCell, certificates: CellCertificates): Registrations {
  const { home, childOperator } = context;
  const trustBundle = () => certificates.trustBundle;
  const manifests = childManifests({ ...context, ...childOperator, cell: own.name, endpoints: own.endpoints, trustBundle });
  const signer = cellSigner({ authorities: () => certificates.authorities, clock: context.clock });
  return new Registrations({ ...context, namespace: home, signer, manifests });
}

type Parts = {
  readonly certificates: CellCertificates;
  readonly registrations: Registrations;
  readonly listeners: CellListeners;
  readonly former: { close(): Promise<void> };
};

function run(context: CellContext, own: OwnCell, { certificates, registrations, listeners, former }: Parts): RunningLeaderService {
  const { slot, clock } = context;
  const stop = new AbortController();
  const access = childAccessRecords(registrations);
  const pivots = pivotsOf(context, listeners);
  slot.set({ link: listeners.link, access, pivots, trustBundle: () => certificates.trustBundle, since: clock.now() });
  const fresh = keepFresh(context, { certificates, listeners }, stop.signal);
  const adopting = { ...context, cell: own.name, endpoints: own.endpoints, registrations, trustBundle: () => certificates.trustBundle };
  const adoptions = followAdoptions(adopting, stop.signal);
  const ended = untilChanged(context, own, stop.signal);
  const close = async () => {
    stop.abort();
    slot.set(undefined);
    await Promise.all([ended, fresh, adoptions, pivots.close()]);
    await listeners.close();
    await former.close();
    await registrations.close();
  };
  return { ended, close };
}

function pivotsOf({ client, clock, random, randomBytes, logger, leaseMs }: CellContext, { link }: CellListeners): PivotRunner {
  const childClient = (cluster: string) =>
    createKubeClient({ transport: tunnelTransport(cluster, link.openTunnel), clock, random, logger });
  const identity = `cell-${[...randomBytes(8)].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
  return new PivotRunner({ client, childClient, link, clock, random, logger, identity, leaseMs });
}

/** The address may change at any time. A former one that no child uses any more is served until the next start: an end of all connections would cost more. */
async function untilChanged(context: CellContext, own: OwnCell, signal: AbortSignal): Promise<Result<void, string>> {
  while (await sleep(context.clock, WATCH_MS, signal)) {
    const now = ownCell(context);
    const isSame = now !== undefined && now.name === own.name && jsonEqual(now.endpoints, own.endpoints);
    const isKnown = now?.served.former.every((one) => own.served.former.some((other) => jsonEqual(one, other))) === true;
    if (!isSame || !isKnown) return err("spec.endpoints has changed");
  }
  return ok(undefined);
}

type FreshContext = { readonly clock: Clock; readonly logger: Logger };

/** Rotates the authority and renews the serving certificate; an error is tried again an hour later, weeks before anything expires. */
async function keepFresh(
  { clock, logger }: FreshContext,
  { certificates, listeners }: Pick<Parts, "certificates" | "listeners">,
  signal: AbortSignal,
): Promise<void> {
  while (await sleep(clock, REFRESH_MS, signal)) {
    const changed = await certificates.refresh();
    const loaded = changed.ok && changed.value ? listeners.reload() : changed;
    if (!loaded.ok) logger.warn("the certificates of the cell could not be renewed, and are tried again", { reason: loaded.error });
  }
}

function ownCell({ cache, home }: Pick<CellContext, "cache" | "home">): OwnCell | undefined {
  const { name, endpoints: served } = identityOf(cache, home);
  return name === undefined || served === undefined ? undefined : { name, endpoints: served.current, served };
}

/** In a Pod the address of the Service is not one of its own. Loopback addresses are those of the fleet on one machine. */
function bindAddress(host: string): string {
  if (host.startsWith("127.") || host === "::1") return host;
  return host === "localhost" ? "127.0.0.1" : "0.0.0.0";
}
