/**
 * A cell on a real API server whose operator is a process with the roles of `lattice rbac` and no other rights, so that a story can kill it and a
 * missing right shows.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expectOk } from "#base";
import { formatYamlDocuments } from "#kube";
import { operatorRbac } from "#operator";
import { OperatorProcess } from "../../builders/operator-process.ts";
import { findFreePorts } from "../harness/free-ports.ts";
import { installLatticeCrds, type PlaneAccess } from "../harness/index.ts";
import { inMemoryCluster } from "./management-cell.ts";
import { tokenKubeconfig } from "./operator-pod.ts";

export type CellProcess = {
  readonly apply: (...objects: readonly object[]) => Promise<string>;
  /** Of all its processes. */
  readonly output: () => string;
  /** SIGKILL, and another process starts. */
  readonly restart: () => Promise<void>;
  readonly close: () => Promise<void>;
};

/** `bundle`, `folder`: paths. */
export async function startCellProcess(plane: PlaneAccess, bundle: string, folder: string): Promise<CellProcess> {
  const apply = (...objects: readonly object[]) =>
    plane.kubectlOk(["apply", "--server-side", "-f", "-"], { stdin: formatYamlDocuments(objects) });
  await installLatticeCrds(plane);
  const [grpcPort, bootstrapPort, proxyPort] = expectOk(await findFreePorts(3));
  const endpoints = { host: "127.0.0.1", grpcPort, bootstrapPort, proxyPort, service: { type: "ClusterIP" } };
  const identity = { name: "lattice-identity", namespace: "lattice-system" };
  await apply(
    ...operatorRbac(),
    { apiVersion: "v1", kind: "ConfigMap", metadata: identity, data: { cluster: "mgmt" } },
    inMemoryCluster("mgmt", { nodes: { controlPlane: 1, workers: 0 }, endpoints }),
  );
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const token = (await plane.kubectlOk(["create", "token", "lattice-operator", "-n", "lattice-system", "--duration=4h"])).trim();
  const kubeconfig = join(folder, "kubeconfig");
  writeFileSync(kubeconfig, tokenKubeconfig(plane, token), { mode: 0o600 });
  const args = [
    "operator",
    "--kubeconfig",
    kubeconfig,
    "--bundle",
    bundle,
    "--identity-file",
    join(folder, "identity"),
    "--lease-duration",
    "5s",
    "--wait-for-server",
    "2m",
  ];
  const before: string[] = [];
  let process = new OperatorProcess(args);
  return {
    apply,
    output: () => [...before, process.output].join(""),
    restart: async () => {
      await process.end("SIGKILL");
      before.push(process.output);
      process = new OperatorProcess(args);
    },
    close: async () => void (await process.end("SIGKILL")),
  };
}
