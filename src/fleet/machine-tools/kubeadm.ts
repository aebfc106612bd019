/**
 * `kubeadm init` and `kubeadm join` of a local machine. There is no control plane to set up on the machine: the supervisor runs the API server of
 * its cluster, and this registers the Node. Both can be repeated.
 */
import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import { andThen, describeThrown, err, fromThrowing, ok, type Result } from "#base";
import { configMaps, nodes, type ConfigMap } from "#kube";
import type { KubeClient } from "#kube-client";
import { createFolder, writePrivateFile } from "#pki";
import { requestControl } from "../control/control-client.ts";
import type { MachineControlRequest, MachineView } from "../fleet-types.ts";
import { ROOT_VARIABLE, SOCKET_VARIABLE, TOKEN_VARIABLE } from "../machines/index.ts";
import { parseKubeadmInit, parseKubeadmJoin, type KubeadmNode } from "./kubeadm-config.ts";
import { machineNode } from "./machine-node.ts";
import { openClient, readToolFile, toolPath, type ToolIo } from "./tool-io.ts";

const CAN = "kubeadm of a local machine can only do: kubeadm init --config FILE, kubeadm join --config FILE";
const ADMIN_CONFIG = "/etc/kubernetes/admin.conf";
const FIELD_MANAGER = "kubeadm";
const FOLDER_MODE = 0o700;

type KubeadmArgs = { readonly command: "init" | "join"; readonly config: string };

function parseKubeadmArgs(args: readonly string[]): Result<KubeadmArgs, string> {
  const [command, ...rest] = args;
  if (command !== "init" && command !== "join") return err(CAN);
  let config: string | undefined;
  for (let at = 0; at < rest.length; at += 1) {
    const arg = rest[at] ?? "";
    if (arg === "--config") config = rest[(at += 1)];
    else if (arg.startsWith("--config=")) config = arg.slice("--config=".length);
    else if (arg === "-v" || arg === "--v") at += 1;
    else if (!/^--?v=?[0-9]+$/.test(arg)) return err(`${arg}: ${CAN}`);
  }
  return config === undefined || config === "" ? err(CAN) : ok({ command, config });
}

export async function kubeadm(io: ToolIo, args: readonly string[]): Promise<Result<void, string>> {
  const parsed = parseKubeadmArgs(args);
  if (!parsed.ok) return parsed;
  const { env } = io;
  const [socket, token] = [env[SOCKET_VARIABLE] ?? "", env[TOKEN_VARIABLE] ?? ""];
  if (socket === "" || token === "" || (env[ROOT_VARIABLE] ?? "") === "") return err("kubeadm runs on local machines of lattice up only");
  const text = readToolFile(io, parsed.value.config);
  if (!text.ok) return text;
  const ask: Ask = (request) => askSupervisor(socket, { ...request, token }, io.signal);
  return parsed.value.command === "init" ? init(io, text.value, ask) : join(io, text.value, ask);
}

type WithoutToken<T> = T extends unknown ? Omit<T, "token"> : never;
type Ask = (request: WithoutToken<MachineControlRequest>) => Promise<Result<MachineView, string>>;

async function askSupervisor(socket: string, request: MachineControlRequest, signal: AbortSignal): Promise<Result<MachineView, string>> {
  const response = await requestControl(socket, request, signal);
  if (!response.ok) return response;
  if (!response.value.ok) return err(response.value.error);
  return response.value.machine === undefined
    ? err("lattice up sent no machine; is it another version of Lattice?")
    : ok(response.value.machine);
}

async function init(io: ToolIo, text: string, ask: Ask): Promise<Result<void, string>> {
  const config = parseKubeadmInit(text);
  if (!config.ok) return config;
  const { clusterName: cluster, kubernetesVersion: version, clusterConfiguration, node } = config.value;
  const machine = await ask({ command: "machine-init", cluster, version });
  if (!machine.ok) return machine;
  io.stdout(`[init] the API server of cluster ${cluster} runs\n`);
  return register(io, { machine: machine.value, node, ask, prepare: (client) => keepConfiguration(client, clusterConfiguration) });
}

async function join(io: ToolIo, text: string, ask: Ask): Promise<Result<void, string>> {
  const config = parseKubeadmJoin(text);
  if (!config.ok) return config;
  const machine = await ask({ command: "machine-join" });
  if (!machine.ok) return machine;
  if (machine.value.controlPlane !== config.value.controlPlane)
    return err(
      `JoinConfiguration.controlPlane: machine ${machine.value.name} is ${machine.value.controlPlane ? "a" : "no"} control-plane machine`,
    );
  return register(io, { machine: machine.value, node: config.value.node, ask, prepare: () => Promise.resolve(ok(undefined)) });
}

type Registration = {
  readonly machine: MachineView;
  readonly node: KubeadmNode;
  readonly ask: Ask;
  readonly prepare: (client: KubeClient) => Promise<Result<void, string>>;
};

async function register(io: ToolIo, { machine, node, ask, prepare }: Registration): Promise<Result<void, string>> {
  const kept = machine.controlPlane ? keepAdminConfig(io, machine.kubeconfig) : ok(undefined);
  if (!kept.ok) return kept;
  const client = await openClient(io, machine.kubeconfig);
  if (!client.ok) return client;
  const prepared = await prepare(client.value);
  const created = prepared.ok ? await createNode(client.value, machine, node) : prepared;
  await client.value.close();
  if (!created.ok) return created;
  const reported = await ask({ command: "machine-node", node: machine.name });
  if (!reported.ok) return reported;
  io.stdout(`[kubelet] Node ${machine.name} is registered\n`);
  return ok(undefined);
}

/** Credentials of an administrator are on control-plane machines only. */
function keepAdminConfig(io: ToolIo, kubeconfig: string): Result<void, string> {
  const path = toolPath(io, ADMIN_CONFIG);
  const text = fromThrowing(() => readFileSync(kubeconfig, "utf8"), describeThrown);
  return andThen(text, (content) => andThen(createFolder(dirname(path), FOLDER_MODE), () => writePrivateFile(path, content)));
}

async function createNode(client: KubeClient, machine: MachineView, node: KubeadmNode): Promise<Result<void, string>> {
  const created = await client.create(nodes, machineNode(machine, node), { fieldManager: FIELD_MANAGER });
  if (created.ok || created.error.kind === "already-exists") return ok(undefined);
  return err(`Node ${machine.name} was refused: ${created.error.message}`);
}

/** Cluster API reads and changes it later: an existing one stays. */
async function keepConfiguration(client: KubeClient, clusterConfiguration: string): Promise<Result<void, string>> {
  const object: ConfigMap = {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "kubeadm-config", namespace: "kube-system" },
    data: { ClusterConfiguration: clusterConfiguration },
  };
  const created = await client.create(configMaps, object, { fieldManager: FIELD_MANAGER });
  if (created.ok || created.error.kind === "already-exists") return ok(undefined);
  return err(`ConfigMap kubeadm-config was refused: ${created.error.message}`);
}
