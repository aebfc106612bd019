/**
 * The Pod of Deployment lattice-operator as a process, as the fleet's supervisor runs it: the story is scheduler and kubelet of a control plane that
 * has none. Arguments and variables are those of the container; paths of its volume are in a folder.
 */
import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { expectOk } from "#base";
import { fieldAt, parseJson, type KubeList, type Pod } from "#kube";
import { PROGRAM } from "../../builders/program.ts";
import { eventually, type PlaneAccess } from "../harness/index.ts";

export type OperatorPodProcess = {
  readonly output: () => string;
  /** SIGKILL. */
  readonly close: () => Promise<void>;
  /** SIGKILL, and the container starts again, with the volume of its Pod. */
  readonly restart: () => Promise<void>;
};

const HOME = ["-n", "lattice-system"];

export async function runOperatorPod(plane: PlaneAccess, node: string, folder: string): Promise<OperatorPodProcess> {
  const pod = await eventually("the Pod of the operator", async () => {
    const listed = expectOk(parseJson(await plane.kubectlOk(["get", "pods", ...HOME, "-o", "json"]))) as unknown as KubeList<Pod>;
    return listed.items[0];
  });
  const { name } = pod.metadata;
  await bind(plane, name, node);
  const bound = ["--bound-object-kind=Pod", `--bound-object-name=${name}`];
  const token = (await plane.kubectlOk(["create", "token", "lattice-operator", ...HOME, ...bound])).trim();
  mkdirSync(join(folder, "state"), { recursive: true, mode: 0o700 });
  const kubeconfig = join(folder, "kubeconfig");
  writeFileSync(kubeconfig, tokenKubeconfig(plane, token), { mode: 0o600 });
  const [container, ...more] = pod.spec.containers;
  expect(more).toEqual([]);
  const args = fieldAt(container, "args") as readonly string[];
  const placed = args.map((arg) =>
    arg.startsWith("/var/lib/lattice/") ? join(folder, "state", arg.slice("/var/lib/lattice/".length)) : arg,
  );
  const env = { HOME: folder, KUBECONFIG: kubeconfig, POD_NAME: name, POD_NAMESPACE: "lattice-system" };
  let output = "";
  const start = () => {
    const child = spawn(process.execPath, [PROGRAM, ...placed], { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] });
    const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
    return async () => {
      child.kill("SIGKILL");
      await ended;
    };
  };
  let close = start();
  const restart = async () => {
    await close();
    close = start();
  };
  return { output: () => output, close: () => close(), restart };
}

async function bind(plane: PlaneAccess, pod: string, node: string): Promise<void> {
  const binding = { apiVersion: "v1", kind: "Binding", metadata: { name: pod }, target: { apiVersion: "v1", kind: "Node", name: node } };
  const path = `/api/v1/namespaces/lattice-system/pods/${pod}/binding`;
  const answer = await plane.request({ method: "POST", path, body: binding });
  expect(answer.code, answer.text).toBeLessThan(300);
}

/** Of a ServiceAccount, by a token for it. */
export function tokenKubeconfig({ url, caPem }: Pick<PlaneAccess, "url" | "caPem">, token: string): string {
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "own", cluster: { server: url, "certificate-authority-data": Buffer.from(caPem).toString("base64") } }],
    users: [{ name: "operator", user: { token } }],
    contexts: [{ name: "own", context: { cluster: "own", user: "operator", namespace: "lattice-system" } }],
    "current-context": "own",
  });
}
