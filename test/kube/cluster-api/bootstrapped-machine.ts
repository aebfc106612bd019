/**
 * A machine that runs bootstrap data as a local machine of the fleet does: `lattice __fleet-machine` with kubeadm, kubectl and curl of Lattice on its
 * PATH. Other than in the fleet, `kubeadm init` gets a real control plane, which the story starts.
 */
import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { err, expectOk, ok, systemClock, type Result } from "#base";
import { openControlSocket, type MachineControlRequest, type MachineView } from "#fleet";
import { PROGRAM } from "../../builders/program.ts";

export type BootstrappedMachine = {
  /** Short: a socket is in it. */
  readonly folder: string;
  readonly name: string;
  readonly cluster: string;
  readonly bootstrapData: string;
  /** The kubeconfig of the control plane that `kubeadm init` asks for. */
  readonly startControlPlane: (version: string) => Promise<string>;
};

export type MachineResult = {
  readonly code: number | null;
  readonly output: string;
  readonly root: string;
  readonly node?: string | undefined;
};

const TOKEN = "token-of-the-machine";

/** Resolves when its commands have ended. */
export async function runBootstrapData(machine: BootstrappedMachine): Promise<MachineResult> {
  const { folder, name, cluster } = machine;
  const root = join(folder, name);
  const record = { id: name, name, cluster, namespace: `capi-${cluster}`, controlPlane: true, version: "v1.36.3", owner: "mgmt" };
  for (const path of ["etc", "run", "tmp", "var/lib"]) mkdirSync(join(root, path), { recursive: true, mode: 0o700 });
  writeFileSync(join(root, "user-data"), machine.bootstrapData, { mode: 0o600 });
  writeFileSync(join(root, "machine.json"), JSON.stringify(record), { mode: 0o600 });
  let node: string | undefined;
  let kubeconfig = "";
  const answer = async (request: MachineControlRequest): Promise<Result<MachineView, string>> => {
    if (request.token !== TOKEN) return err("another machine");
    if (request.command === "machine-join") return err("the story has no second machine");
    if (request.command === "machine-node") node = request.node;
    else if (request.cluster !== cluster) return err(`kubeadm asks for cluster ${request.cluster}`);
    else kubeconfig = await machine.startControlPlane(request.version);
    return ok({ ...record, kubeconfig });
  };
  const notHere = () => Promise.resolve(err("the story has no clusters of its own"));
  const fleet = { clusters: () => [], start: notHere, stop: notHere, machine: answer };
  const socket = expectOk(await openControlSocket({ path: join(folder, "control.sock"), fleet, clock: systemClock }));
  const env = {
    PATH: `${join(root, "bin")}:/usr/bin:/bin`,
    HOME: root,
    TMPDIR: join(root, "tmp"),
    LATTICE_ROOT: root,
    LATTICE_FLEET_SOCKET: socket.path,
    LATTICE_MACHINE_TOKEN: TOKEN,
  };
  const child = spawn(process.execPath, [PROGRAM, "__fleet-machine", "--folder", root, "--name", name], {
    cwd: root,
    env,
    stdio: ["ignore", "pipe", "pipe", "ipc"],
    detached: true,
  });
  const ended = new Promise<number | null>((resolve) => child.once("exit", resolve));
  const all = (stream: Readable | null) => (stream === null ? Promise.resolve("") : text(stream));
  const [code, out, problems] = await Promise.all([ended, all(child.stdout), all(child.stderr)]);
  await socket.close();
  return { code, output: `${out}${problems}`, root, node };
}
