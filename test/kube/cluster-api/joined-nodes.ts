/**
 * The kubelets of a real API server whose machines are in memory: for each Machine with a provider id, a Node with that id and a heartbeat; for each
 * control-plane machine also the mirrors of its static Pods. Port-forwards to these Pods, by which the control-plane provider reaches etcd, go to the
 * in-memory machine. Nothing else of a kubelet is here.
 */
import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:https";
import type { IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { connect } from "node:tls";
import type { Duplex } from "node:stream";
import { reveal } from "#base";
import { fieldAt, type KubeObject } from "#kube";
import type { TunnelTarget } from "#link";
import type { PlaneAccess } from "../harness/index.ts";
import { inMemoryServer } from "./in-memory-child.ts";

export type JoinedNodesOptions = {
  /** Whose Nodes these are. */
  readonly child: PlaneAccess;
  readonly cluster: string;
  /** The API servers that have, or will have, the Machines. */
  readonly owners: () => readonly PlaneAccess[];
  /** For keys. */
  readonly folder: string;
};

export type JoinedNodes = { readonly problems: () => readonly string[]; readonly close: () => Promise<void> };

const EVERY_MS = 2_000;
const STATIC_PODS = ["kube-apiserver", "kube-controller-manager", "kube-scheduler", "etcd"];
const PRESSURES = ["MemoryPressure", "DiskPressure", "PIDPressure"];
const CONTROL_PLANE = "node-role.kubernetes.io/control-plane";

type MachineFacts = { readonly name: string; readonly providerId: string; readonly controlPlane: boolean };

export async function joinNodes(options: JoinedNodesOptions): Promise<JoinedNodes> {
  const relay = await startRelay(options);
  const port = (relay.server.address() as AddressInfo).port;
  const joined = new Map<string, MachineFacts>();
  const problems: string[] = [];
  const stop = new AbortController();
  const loop = async () => {
    while (!stop.signal.aborted) {
      try {
        for (const machine of await machinesOf(options)) {
          if (!joined.has(machine.name)) await join(options, machine, port);
          joined.set(machine.name, machine);
        }
        for (const { name } of joined.values()) await beat(options.child, name);
      } catch (problem) {
        // a server that is restarted does not answer
        problems.push(String(problem));
      }
      await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
    }
  };
  const running = loop();
  return {
    problems: () => problems,
    close: async () => {
      stop.abort();
      await running;
      await relay.close();
    },
  };

  async function join({ child }: JoinedNodesOptions, machine: MachineFacts, kubelet: number): Promise<void> {
    const live = await child.request({ path: `/api/v1/nodes/${machine.name}` });
    // kubeadm of the machine has registered the Node with the id of another provider, which is immutable
    if (live.code === 200 && fieldAt(live.json(), "spec", "providerID") !== machine.providerId)
      await child.request({ method: "DELETE", path: `/api/v1/nodes/${machine.name}` });
    await create(child, "/api/v1/nodes", nodeOf(machine));
    await child.request({
      method: "PATCH",
      path: `/api/v1/nodes/${machine.name}/status`,
      contentType: "application/merge-patch+json",
      body: { status: nodeStatus(kubelet) },
    });
    if (!machine.controlPlane) return;
    for (const pod of STATIC_PODS) {
      await create(child, "/api/v1/namespaces/kube-system/pods", mirrorOf(pod, machine.name));
      await child.request({
        method: "PATCH",
        path: `/api/v1/namespaces/kube-system/pods/${pod}-${machine.name}/status`,
        contentType: "application/merge-patch+json",
        body: { status: podStatus() },
      });
    }
  }
}

async function machinesOf({ owners, cluster }: JoinedNodesOptions): Promise<readonly MachineFacts[]> {
  const found: MachineFacts[] = [];
  for (const plane of owners()) {
    const listed = await plane
      .request({ path: `/apis/cluster.x-k8s.io/v1beta2/namespaces/capi-${cluster}/machines` })
      .catch(() => undefined);
    if (listed?.code !== 200) continue;
    for (const item of fieldAt(listed.json(), "items") as unknown as readonly KubeObject[]) {
      const providerId = fieldAt(item, "spec", "providerID");
      if (typeof providerId !== "string" || providerId === "" || item.metadata.deletionTimestamp !== undefined) continue;
      const controlPlane = item.metadata.labels?.["cluster.x-k8s.io/control-plane"] !== undefined;
      found.push({ name: item.metadata.name, providerId, controlPlane });
    }
  }
  return found;
}

async function create(plane: PlaneAccess, path: string, body: object): Promise<void> {
  const answer = await plane.request({ method: "POST", path, body });
  if (answer.code >= 300 && answer.code !== 409) throw new Error(`${path}: ${answer.text}`);
}

function nodeOf({ name, providerId, controlPlane }: MachineFacts): object {
  const labels = { "kubernetes.io/hostname": name, ...(controlPlane ? { [CONTROL_PLANE]: "" } : {}) };
  const taints = controlPlane ? [{ key: CONTROL_PLANE, effect: "NoSchedule" }] : [];
  return { apiVersion: "v1", kind: "Node", metadata: { name, labels }, spec: { providerID: providerId, taints } };
}

function nodeStatus(kubelet: number): object {
  const now = new Date().toISOString().replace(/\.\d+/, "");
  const condition = (type: string, status: string) => ({ type, status, reason: "Story", lastHeartbeatTime: now, lastTransitionTime: now });
  return {
    addresses: [{ type: "InternalIP", address: "127.0.0.1" }],
    daemonEndpoints: { kubeletEndpoint: { Port: kubelet } },
    nodeInfo: { kubeletVersion: "v1.36.3" },
    conditions: [condition("Ready", "True"), ...PRESSURES.map((type) => condition(type, "False"))],
  };
}

function mirrorOf(pod: string, node: string): object {
  const annotations = { "kubernetes.io/config.mirror": "story", "kubernetes.io/config.source": "file" };
  const metadata = { name: `${pod}-${node}`, namespace: "kube-system", labels: { component: pod, tier: "control-plane" }, annotations };
  const tolerations = [{ operator: "Exists" }];
  const containers = [{ name: pod, image: `registry.k8s.io/${pod}:v1.36.3` }];
  return { apiVersion: "v1", kind: "Pod", metadata, spec: { nodeName: node, hostNetwork: true, tolerations, containers } };
}

function podStatus(): object {
  const now = new Date().toISOString().replace(/\.\d+/, "");
  const conditions = ["Initialized", "PodScheduled", "ContainersReady", "Ready"].map((type) => ({
    type,
    status: "True",
    lastTransitionTime: now,
  }));
  return { phase: "Running", conditions };
}

/** By its Lease, as a kubelet does. */
async function beat(plane: PlaneAccess, name: string): Promise<void> {
  const spec = { holderIdentity: name, leaseDurationSeconds: 40, renewTime: new Date().toISOString().replace("Z", "000Z") };
  const path = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";
  const answer = await plane.request({
    method: "PATCH",
    path: `${path}/${name}`,
    contentType: "application/merge-patch+json",
    body: { spec },
  });
  if (answer.code === 404) await create(plane, path, { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { name }, spec });
}

type Relay = { readonly server: Server; readonly close: () => Promise<void> };

/** The port of all kubelets. It accepts `/portForward/NAMESPACE/POD` and passes the upgraded connection on, byte by byte. */
async function startRelay(options: JoinedNodesOptions): Promise<Relay> {
  const { child } = options;
  const open = new Set<Duplex>();
  const file = (name: string) => readFileSync(join(child.folder, name));
  const server = createServer({ cert: file("serving.crt"), key: file("serving.key") }, (_request, response) =>
    response.writeHead(404).end(),
  );
  const targets = new Map<string, TunnelTarget>();
  server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    open.add(socket);
    socket.on("error", () => {});
    socket.once("close", () => open.delete(socket));
    void forward(request, socket, head);
  });
  const forward = async (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const [, namespace, pod] = /^\/portForward\/([^/]+)\/([^/?]+)/.exec(request.url ?? "") ?? [];
    const target = namespace === undefined || pod === undefined ? undefined : await findTarget(options, targets);
    if (target?.clientCertificate === undefined) return void socket.end("HTTP/1.1 503 Service Unavailable\r\n\r\n");
    const { host, port } = new URL(target.url);
    const { certificate, key } = target.clientCertificate;
    const upstream = connect({
      host: "127.0.0.1",
      port: Number(port),
      ca: target.ca,
      cert: certificate,
      key: reveal(key),
      checkServerIdentity: () => undefined,
    });
    upstream.on("error", () => socket.destroy());
    upstream.once("close", () => socket.destroy());
    socket.once("close", () => upstream.destroy());
    const headers: string[] = [];
    for (let at = 0; at < request.rawHeaders.length; at += 2) {
      const [name = "", value = ""] = request.rawHeaders.slice(at, at + 2);
      if (name.toLowerCase() !== "host") headers.push(`${name}: ${value}`);
    }
    const line = `${request.method} /api/v1/namespaces/${namespace}/pods/${pod}/portforward HTTP/1.1`;
    upstream.write(`${[line, `Host: ${host}`, ...headers].join("\r\n")}\r\n\r\n`);
    if (head.length > 0) upstream.write(head);
    upstream.pipe(socket);
    socket.pipe(upstream);
  };
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = async () => {
    for (const socket of open) socket.destroy();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { server, close };
}

/** Of the API server that has the DevCluster; a key is made once for each address. */
async function findTarget(
  { owners, cluster, folder }: JoinedNodesOptions,
  known: Map<string, TunnelTarget>,
): Promise<TunnelTarget | undefined> {
  for (const plane of owners()) {
    const path = `/apis/infrastructure.cluster.x-k8s.io/v1beta2/namespaces/capi-${cluster}/devclusters/${cluster}`;
    const answer = await plane.request({ path }).catch(() => undefined);
    const port = answer?.code === 200 ? fieldAt(answer.json(), "spec", "controlPlaneEndpoint", "port") : undefined;
    if (typeof port !== "number") continue;
    const url = `https://127.0.0.1:${port}`;
    const target = known.get(url) ?? (await inMemoryServer({ plane, name: cluster, folder }));
    if (target !== undefined) known.set(url, target);
    return target;
  }
  return undefined;
}
