/** The API server of the cell in the bench `agents`, in a process of its own, with all children that the cell has. */
import { expectOk, reveal, systemClock } from "#base";
import { reducedCapiCrds } from "#bundle";
import { latticeClusters, latticeKinds, type LatticeCluster } from "#crds";
import { startEmbeddedCluster, type EmbeddedCluster } from "#embedded-cluster";
import { isConditionTrue } from "#kube";
import { CELL_AUTHORITY_SECRET, cellSigner } from "#operator";
import { authoritiesToSecret, createCellAuthorities, createCsr, createPrivateKeyPem, trustBundle, type CellAuthorities } from "#pki";
import { HOME, identity, localCluster } from "../../test/builders/cell-world.ts";
import { freePorts } from "../../test/builders/two-clusters.ts";
import type { ApiServerReply, ApiServerRequest } from "./agents-messages.ts";
import { seededChild } from "./agents-seeds.ts";

const CELL = "mgmt";
const SIGNATURES = 300;
const running: { cluster?: EmbeddedCluster; statusWrites: number; requests: number } = { statusWrites: 0, requests: 0 };

process.on("message", (request: ApiServerRequest) => void handle(request));
process.on("disconnect", () => process.exit(0));

async function handle(request: ApiServerRequest): Promise<void> {
  switch (request.kind) {
    case "start":
      return start(request);
    case "count":
      return reply({ kind: "counted", statusWrites: running.statusWrites, connected: await connectedSince(request.connectedSince) });
    case "change":
      return change(request);
    case "requests":
      return reply({ kind: "requested", requests: running.requests });
  }
}

async function start({ agents, kubeconfig }: Extract<ApiServerRequest, { kind: "start" }>): Promise<void> {
  const now = Date.now();
  const [grpcPort = 0, bootstrapPort = 0, proxyPort = 0] = await freePorts(3);
  const authorities = expectOk(createCellAuthorities(CELL, now));
  const endpoints = { host: "127.0.0.1", grpcPort, bootstrapPort, proxyPort, service: { type: "ClusterIP" } };
  const cell = { name: CELL, host: "127.0.0.1", grpcPort, bootstrapPort, proxyPort, trustBundle: trustBundle(authorities) };
  const names = Array.from({ length: agents }, (_, at) => `child-${String(at).padStart(5, "0")}`);
  const children = names.map((name) => ({ cluster: name, ...seededChild(name, cell, now) }));
  const authoritySecret = {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: CELL_AUTHORITY_SECRET, namespace: HOME },
    type: "Opaque",
    data: reveal(authoritiesToSecret(authorities)),
  };
  const definitions = [...latticeKinds.map(({ crd }) => crd()), ...reducedCapiCrds()];
  const cluster = await startEmbeddedCluster({
    logActions: false,
    objects: [
      { apiVersion: "v1", kind: "Namespace", metadata: { name: HOME } },
      ...definitions,
      authoritySecret,
      identity(CELL),
      localCluster(CELL, { endpoints }),
      ...children.flatMap(({ objects }) => objects),
    ],
  });
  running.cluster = cluster;
  cluster.intercept({ resource: `${latticeClusters.plural}/status`, verb: "update" }, (_action, next) => {
    running.statusWrites += 1;
    return next();
  });
  cluster.intercept(
    { when: ({ verb, resource }) => verb !== "watch" && verb !== "request" && resource?.plural !== "leases" },
    (_action, next) => {
      running.requests += 1;
      return next();
    },
  );
  await cluster.listen();
  await cluster.writeKubeconfig(kubeconfig);
  const tokens = children.map(({ cluster: name, csrToken }) => ({ cluster: name, csrToken }));
  reply({
    kind: "serving",
    address: { cell: CELL, grpcPort, bootstrapPort, trustBundle: cell.trustBundle },
    tokens,
    signedPerSecond: signingRate(authorities),
  });
}

/** As a user changes it; the request of this process counts, too. */
async function change({ cluster: name, workers }: Extract<ApiServerRequest, { kind: "change" }>): Promise<void> {
  const patch = { spec: { nodes: { workers } } };
  expectOk(await clusterOf().client.patch(latticeClusters, { name }, { type: "merge", patch }));
  reply({ kind: "changed" });
}

/** Certificates of agents that one thread signs in a second, without connections and records. */
function signingRate(authorities: CellAuthorities): number {
  const signer = cellSigner({ authorities: () => authorities, clock: systemClock });
  const csr = expectOk(createCsr(createPrivateKeyPem(), { commonName: "bench" }));
  const start = performance.now();
  for (let signed = 0; signed < SIGNATURES; signed += 1) expectOk(signer.sign("bench", csr));
  return SIGNATURES / ((performance.now() - start) / 1_000);
}

/** Children whose status, as users see it, has a connection since then. */
async function connectedSince(since: number): Promise<number> {
  const { items } = expectOk(await clusterOf().client.list<LatticeCluster>(latticeClusters));
  const isNew = ({ status }: LatticeCluster) => Date.parse(status?.agent?.connectedSince ?? "") >= Math.floor(since / 1_000) * 1_000;
  return items.filter((one) => isNew(one) && isConditionTrue(one.status?.conditions, "AgentConnected")).length;
}

function clusterOf(): EmbeddedCluster {
  if (running.cluster === undefined) throw new Error("the API server does not run");
  return running.cluster;
}

function reply(message: ApiServerReply): void {
  process.send?.(message);
}
