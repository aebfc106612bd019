/**
 * The API-server process of one cluster: an embedded cluster with controllers and simulated nodes, whose operator runs as a process of the
 * supervisor. It ends with a signal, which bin/ also fires when the supervisor is gone.
 */
import {
  describeThrown,
  err,
  fromPromise,
  millisecondsOf,
  ok,
  PROGRAM_VERSION,
  sensitive,
  type Clock,
  type Logger,
  type Result,
} from "#base";
import { startEmbeddedCluster, type EmbeddedCluster } from "#embedded-cluster";
import { fieldAt, type Pod } from "#kube";
import type { ClusterFolder } from "../fleet-types.ts";
import { FleetMachineHost } from "../machines/machine-host.ts";
import type { SupervisorChannel } from "../messages/channel.ts";
import { parseToApiServer, type FromApiServer, type ToApiServer } from "../messages/messages.ts";
import type { ServerAddress } from "../pod-processes/pod-files.ts";
import { FleetPodProcesses } from "../pod-processes/pod-processes.ts";
import type { PodToken } from "../pod-processes/pod-tokens.ts";
import { applyFirstObjects } from "./first-objects.ts";

export type ServeClusterOptions = {
  readonly folder: ClusterFolder;
  readonly channel: SupervisorChannel;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
  /** The process ends. */
  readonly signal: AbortSignal;
};

type Begin = Extract<ToApiServer, { kind: "begin" }>;

const NODES = 2;
/** A node counts as lost after 50 s. In an idle cluster, heartbeats are most of the work beside the Lease of the operator. */
const HEARTBEAT_MS = 20_000;
const TOKEN_SECONDS = 3_600;

/** Runs until the signal fires. An error is also sent to the supervisor. */
export async function serveCluster(options: ServeClusterOptions): Promise<Result<void, string>> {
  const { channel, signal } = options;
  const send = (message: FromApiServer) => channel.send(message);
  const supervisor = new SupervisorMessages(channel);
  const begin = await Promise.race([supervisor.begin, untilAborted(signal)]);
  if (begin === undefined) return ok(undefined);
  const served = await serve(options, { begin, supervisor, send });
  if (!served.ok) send({ kind: "failed", message: served.error });
  return served;
}

type Session = { readonly begin: Begin; readonly supervisor: SupervisorMessages; readonly send: (message: FromApiServer) => void };

async function serve(options: ServeClusterOptions, { begin, supervisor, send }: Session): Promise<Result<void, string>> {
  const { folder, clock, random, logger, signal } = options;
  const address = Promise.withResolvers<ServerAddress>();
  const opened: { cluster?: EmbeddedCluster } = {};
  const podProcesses = new FleetPodProcesses({
    folder,
    adopted: begin.processes,
    peek: (resource, key) => opened.cluster?.peek(resource, key),
    requestToken: (pod) => (opened.cluster === undefined ? Promise.resolve(err("the server starts")) : requestToken(opened.cluster, pod)),
    address: address.promise,
    send,
    clock,
    logger,
  });
  const localMachines = new FleetMachineHost({ machines: begin.machines, send });
  const reported = { version: begin.version };
  supervisor.follow((message) => {
    if (message.kind === "process") podProcesses.update(message.process);
    else if (message.kind === "version") reported.version = message.version;
    else localMachines.update(message);
  });
  const beforeStart = (cluster: EmbeddedCluster) => {
    opened.cluster = cluster;
    // before the controllers read all objects: clients of a server that restarts do not wait for them. `open` reports an error
    void fromPromise(cluster.listen(), describeThrown);
  };
  const nodes = begin.bare ? 0 : NODES;
  const controllers = { simulation: { nodes, speeds: { heartbeatMs: HEARTBEAT_MS }, podProcesses, localMachines }, beforeStart };
  const kubernetesVersion = () => reported.version;
  const started = await fromPromise(
    startEmbeddedCluster({
      dataDir: folder.data,
      repair: begin.repair,
      clock,
      random,
      logger,
      controllers,
      kubernetesVersion,
      logActions: false,
    }),
    describeThrown,
  );
  if (!started.ok) return started;
  await using cluster = started.value;
  const ready = await open(cluster, folder, begin.bare);
  if (ready.ok) {
    address.resolve(ready.value);
    send({ kind: "ready", url: ready.value.url, movedPort: ready.value.movedPort });
    await untilAborted(signal);
  }
  podProcesses.close();
  return ready.ok ? ok(undefined) : ready;
}

type Opened = ServerAddress & { readonly movedPort?: { readonly from: number; readonly to: number } | undefined };

/** The kubeconfig last: with it, everything is there. `bare`: the first objects come with the bootstrap data of machines. */
async function open(cluster: EmbeddedCluster, folder: ClusterFolder, bare: boolean): Promise<Result<Opened, string>> {
  const { client } = cluster;
  const resourceOf = (kind: string, apiVersion: string) => cluster.resource(kind, apiVersion);
  const applied = bare ? ok(undefined) : await applyFirstObjects({ client, version: PROGRAM_VERSION, resourceOf });
  if (!applied.ok) return applied;
  const endpoint = await fromPromise(cluster.listen(), describeThrown);
  if (!endpoint.ok) return endpoint;
  const { url, certificateAuthority, movedFrom: from } = endpoint.value;
  const written = await fromPromise(cluster.writeKubeconfig(folder.kubeconfig), describeThrown);
  if (!written.ok) return written;
  return ok({ url, certificateAuthority, movedPort: from === undefined ? undefined : { from, to: Number(new URL(url).port) } });
}

async function requestToken(cluster: EmbeddedCluster, pod: Pod): Promise<Result<PodToken, string>> {
  const { name, namespace = "", uid } = pod.metadata;
  const account = fieldAt(pod, "spec", "serviceAccountName");
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${typeof account === "string" ? account : "default"}/token`;
  const boundObjectRef = { apiVersion: "v1", kind: "Pod", name, uid: uid ?? "" };
  const body = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: { expirationSeconds: TOKEN_SECONDS, boundObjectRef } };
  const answer = await fromPromise(cluster.request("POST", path, body), describeThrown);
  if (!answer.ok) return answer;
  const textOf = (...path: readonly string[]) => {
    const value = fieldAt(answer.value.body, ...path);
    return typeof value === "string" ? value : "";
  };
  const token = textOf("status", "token");
  if (token === "") return err(`no token for the ServiceAccount of Pod ${name}: ${textOf("message")}`);
  return ok({ token: sensitive(token), expiresAt: millisecondsOf(textOf("status", "expirationTimestamp")) });
}

type LaterMessage = Exclude<ToApiServer, Begin>;

/** The messages of the supervisor: first "begin", then reports of processes and machines. */
class SupervisorMessages {
  readonly begin: Promise<Begin>;
  #listener: ((message: LaterMessage) => void) | undefined;
  /** Reports before there is a kubelet. */
  readonly #early: LaterMessage[] = [];

  constructor(channel: SupervisorChannel) {
    const begin = Promise.withResolvers<Begin>();
    this.begin = begin.promise;
    channel.receive((raw) => {
      const message = parseToApiServer(raw);
      if (!message.ok) return;
      if (message.value.kind === "begin") begin.resolve(message.value);
      else if (this.#listener === undefined) this.#early.push(message.value);
      else this.#listener(message.value);
    });
  }

  follow(listener: (message: LaterMessage) => void): void {
    this.#listener = listener;
    for (const message of this.#early.splice(0)) listener(message);
  }
}

function untilAborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    else signal.addEventListener("abort", () => resolve(undefined), { once: true });
  });
}
