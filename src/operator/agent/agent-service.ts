/**
 * The agent of a cluster, as a service of the leader: it gets a certificate from the parent, keeps the outbound stream, and serves the parent's
 * requests to this cluster's API server. Nothing here can stop the cluster: without its parent the agent waits and tries again.
 */
import { andThen, err, ok, PROGRAM_VERSION, sleep, type Result } from "#base";
import { capiNamespace } from "#cluster-compiler";
import {
  bindLeaderService,
  type CacheReader,
  type LeaderService,
  type LeaderServiceContext,
  type RunningLeaderService,
} from "#controller-runtime";
import { identityOf, PARENT_CONFIG_SECRET, tracesIn, type UplinkSlot } from "#controllers";
import { latticeClusters } from "#crds";
import { capiClusters, configMaps, field, nodes, parseJson, secrets, secretsByMetadata, type KubeObject } from "#kube";
import {
  openTunnelConnections,
  refuseTunnel,
  serveTunnel,
  startAgentLink,
  type AgentLink,
  type AgentTransport,
  type TunnelTarget,
} from "#link";
import { ownershipOf } from "#pivot";
import { MOVE_PERMISSIONS } from "../move-permissions.ts";
import { AgentCertificate, type AgentCertificateOptions } from "./agent-certificate.ts";
import { CLUSTER_API_PATHS, CLUSTER_API_PERMISSIONS } from "./cluster-api-permissions.ts";
import { ExpiredRenewal } from "./expired-renewal.ts";
import { nodeReport, type OwnReport } from "./node-report.ts";
import { preparePivot } from "./prepare-pivot.ts";
import { parseParentConfig, type ParentConfig } from "./parent-config.ts";

export type AgentServiceShared = {
  /** The operator's namespace. */
  readonly home: string;
  readonly uplink: UplinkSlot;
  readonly random: () => number;
  /** The API server of this cluster, and the operator's credential there, or why the parent's requests are refused. */
  readonly apiServer: Result<TunnelTarget, string> | undefined;
  /** Other ways to the parent than sockets, and other times: for tests. */
  readonly transport?: AgentTransport | undefined;
  readonly post?: AgentCertificateOptions["post"];
  readonly pollMs?: number | undefined;
};

/**
 * For Flux objects of a parent. Applying them would let the parent install anything in the child, with the rights of Flux; a child gets its manifests
 * once, when it registers. A command without manifests is acknowledged before.
 */
const NO_FLUX =
  "Flux objects of the parent are not applied: this release has no Flux in a bundle. A cluster gets its manifests when it registers; apply others in the cluster itself";

/** State of the connection, of nodes and of the certificate is looked at so often. */
const POLL_MS = 2_000;

/** Also the declaration for RBAC. */
export const agentService: LeaderService<AgentServiceShared> = {
  name: "agent",
  reads: [latticeClusters, configMaps, secretsByMetadata, nodes, capiClusters],
  optional: [capiClusters],
  permissions: [...CLUSTER_API_PERMISSIONS, ...MOVE_PERMISSIONS],
  paths: CLUSTER_API_PATHS,
  homePermissions: [{ resource: secrets, verbs: ["get", "create", "patch"] }],
  start: startAgent,
};

export const bindAgentService = (shared: AgentServiceShared) => bindLeaderService(agentService, shared);

type AgentContext = LeaderServiceContext & AgentServiceShared;
type AgentParts = {
  readonly cluster: string;
  readonly parent: ParentConfig;
  readonly version: string;
  readonly certificate: AgentCertificate;
};

async function startAgent(context: AgentContext): Promise<Result<RunningLeaderService, string>> {
  const { client, cache, home, signal, uplink, clock } = context;
  uplink.starting(clock.monotonic());
  const { name: cluster } = identityOf(cache, home);
  if (cluster === undefined) return err("ConfigMap lattice-identity has no name of this cluster");
  const secret = await client.get<KubeObject>(secrets, { namespace: home, name: PARENT_CONFIG_SECRET }, { signal });
  if (!secret.ok) return err(secret.error.message);
  const parent = parseParentConfig(secret.value);
  if (!parent.ok) return parent;
  uplink.set({ parent: parent.value.cell, cluster, connected: false }, clock.monotonic());
  const certificate = await AgentCertificate.open({ client, home, cluster, parent: parent.value, clock, signal, post: context.post });
  if (!certificate.ok) {
    uplink.set({ parent: parent.value.cell, cluster, connected: false, lastCloseReason: certificate.error }, clock.monotonic());
    return certificate;
  }
  const version = await serverVersion(context);
  const parts = { cluster, parent: parent.value, version, certificate: certificate.value };
  const { resourceVersion } = secret.value.metadata;
  return ok(run(context, parts, openLink(context, parts), resourceVersion));
}

async function serverVersion({ client, signal }: AgentContext): Promise<string> {
  const answer = await client.raw("/version", { signal });
  const json = answer.ok ? parseJson(answer.value) : undefined;
  const version = json?.ok === true ? field(json.value, "gitVersion") : undefined;
  return typeof version === "string" ? version : "";
}

type OpenedLink = { readonly link: AgentLink; readonly close: () => Promise<void> };

function openLink(context: AgentContext, { cluster, parent, version, certificate }: AgentParts): OpenedLink {
  const { cache, clock, logger, apiServer = NO_API_SERVER, uplink } = context;
  const connections = andThen(apiServer, openTunnelConnections);
  if (!connections.ok && context.apiServer !== undefined)
    logger.warn("requests of the parent to this cluster are refused", { reason: connections.error });
  const link = startAgentLink({
    ...context,
    endpoint: parent.endpoint,
    cell: parent.cell,
    cluster,
    credentials: () => certificate.credentials,
    renewal: { due: (now) => certificate.isDue(now), request: () => certificate.request() },
    onRenewed: (credentials) => certificate.store(credentials),
    onTrustBundle: (trustBundle) => certificate.store({ ...certificate.credentials, trustBundle }),
    report: () => Promise.resolve(nodeReport(cache.list(nodes), version, ownReport(cache, cluster, parent))),
    onBootstrap: () => Promise.resolve(err(NO_FLUX)),
    onReconcile: () => {
      uplink.set(uplink.current, clock.monotonic());
      return Promise.resolve(ok([`LatticeCluster ${cluster} is reconciled`]));
    },
    onPivot: (order) => preparePivot(order, { ...context, apiServer }),
    apiServer: apiServer.ok ? apiServer.value : NOWHERE,
    serveTunnel: (frames, target) =>
      connections.ok
        ? serveTunnel(frames, target, { clock, logger, connections: connections.value })
        : refuseTunnel(frames, `The agent cannot reach its API server: ${connections.error}.`, { clock, logger }),
    version: PROGRAM_VERSION,
    generation: () => BigInt(Math.floor(clock.now())),
  });
  const close = async () => {
    await link.close();
    if (connections.ok) connections.value.close();
  };
  return { link, close };
}

function ownReport(cache: CacheReader, name: string, { endpoint, bootstrap }: ParentConfig): OwnReport {
  const namespace = capiNamespace(name);
  const capi = cache.isServed(capiClusters) ? cache.get(capiClusters, { namespace, name }) : undefined;
  return {
    ownership: ownershipOf(tracesIn(cache, namespace)),
    cluster: cache.get(latticeClusters, { name }),
    capi,
    parentAddresses: [endpoint, bootstrap],
  };
}

const NO_API_SERVER: Result<TunnelTarget, string> = err("the operator was started without the address of its API server");
const NOWHERE: TunnelTarget = { url: "", ca: "", authorization: () => Promise.resolve(undefined) };

function run(context: AgentContext, parts: AgentParts, { link, close }: OpenedLink, version: string | undefined): RunningLeaderService {
  const stop = new AbortController();
  const ended = follow(context, parts, { link, version, signal: stop.signal });
  return {
    ended,
    close: async () => {
      stop.abort();
      await ended;
      context.uplink.set(undefined, context.clock.monotonic());
      await close();
    },
  };
}

type Following = { readonly link: AgentLink; readonly version: string | undefined; readonly signal: AbortSignal };

/** Until it is stopped, or the parent's configuration changes. */
async function follow(
  context: AgentContext,
  { cluster, parent, certificate }: AgentParts,
  following: Following,
): Promise<Result<void, string>> {
  const { cache, clock, home, uplink, pollMs = POLL_MS } = context;
  const { link, version, signal } = following;
  const expired = new ExpiredRenewal({ ...context, certificate, link });
  let written = "";
  do {
    const live = cache.get(secretsByMetadata, { namespace: home, name: PARENT_CONFIG_SECRET });
    if (live !== undefined && live.metadata.resourceVersion !== version) return err(`Secret ${PARENT_CONFIG_SECRET} has changed`);
    await expired.renewIfExpired();
    link.reportChanged();
    const { connected, since, lastCloseReason: closed } = link.status();
    const lastCloseReason = expired.problem ?? closed;
    const state = { parent: parent.cell, cluster, connected, since, lastCloseReason, certificateNotAfter: certificate.notAfter };
    const text = JSON.stringify(state);
    if (text === written) continue;
    written = text;
    uplink.set(state, clock.monotonic());
  } while (await sleep(clock, pollMs, signal));
  return ok(undefined);
}
