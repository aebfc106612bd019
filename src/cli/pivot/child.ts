/** A child as its parent reaches it: by the kubeconfig in Secret `<name>-kubeconfig`, which leads through the cell's proxy. */
import { bytesOfBase64, err, ok, PROGRAM_VERSION, silentLogger, textOfBytes, type Result } from "#base";
import { latticeClusters, type LatticeCluster } from "#crds";
import { fieldAt, secrets, type KubeObject } from "#kube";
import {
  createKubeClient,
  httpTransport,
  parseKubeconfig,
  resolveContext,
  type ClusterConfig,
  type KubeClient,
  type RunCommand,
} from "#kube-client";
import type { CliIo } from "../io.ts";

/** "capi-prod": where the Cluster API objects of cluster prod are, on both sides. */
export function pivotNamespace(name: string): string {
  return `capi-${name}`;
}

export async function readLatticeCluster(client: KubeClient, name: string, signal: AbortSignal): Promise<Result<LatticeCluster, string>> {
  const found = await client.get(latticeClusters, { name }, { signal });
  if (found.ok) return found;
  if (found.error.kind !== "not-found") return err(found.error.message);
  return err(`there is no LatticeCluster ${name}; lattice status lists those of this cluster`);
}

/** The kubeconfig of a Secret of Cluster API. No file and no program that it names is used: it comes from a cluster. */
export async function configOfSecret(io: CliIo, secret: KubeObject): Promise<Result<ClusterConfig, string>> {
  const what = `Secret ${secret.metadata.namespace}/${secret.metadata.name}`;
  const encoded = fieldAt(secret, "data", "value");
  const bytes = typeof encoded === "string" ? bytesOfBase64(encoded) : undefined;
  const text = bytes?.ok === true ? textOfBytes(bytes.value) : undefined;
  if (text?.ok !== true) return err(`${what} has no kubeconfig`);
  const parsed = parseKubeconfig(text.value, what);
  if (!parsed.ok) return err(parsed.error.message);
  const readFile = () => Promise.reject(new Error("files are not read"));
  const runCommand: RunCommand = () => Promise.resolve({ kind: "failed", message: "programs are not run" });
  const resolved = await resolveContext(parsed.value, { env: {}, clock: io.clock, readFile, runCommand });
  return resolved.ok ? resolved : err(resolved.error.message);
}

/** Undefined: the parent has no kubeconfig of the child, because its objects are not here. */
export async function connectChild(io: CliIo, client: KubeClient, name: string): Promise<Result<KubeClient | undefined, string>> {
  const key = { namespace: pivotNamespace(name), name: `${name}-kubeconfig` };
  const secret = await client.get<KubeObject>(secrets, key, { signal: io.signal });
  if (!secret.ok) return secret.error.kind === "not-found" ? ok(undefined) : err(secret.error.message);
  const config = await configOfSecret(io, secret.value);
  return config.ok ? ok(clientOf(io, config.value)) : config;
}

export function clientOf(io: CliIo, config: ClusterConfig, timeoutMs?: number): KubeClient {
  const transport = httpTransport(config, { clock: io.clock, userAgent: `lattice/${PROGRAM_VERSION}` });
  const limit = timeoutMs === undefined ? {} : { timeoutMs };
  return createKubeClient({ transport, clock: io.clock, random: io.random, logger: silentLogger, ...limit });
}
