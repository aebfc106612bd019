/** Names from the cluster for completion: within a time limit, and none after an error. */
import { readdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { describeThrown, fromPromise, silentLogger, sleep } from "#base";
import { namespaces, parseNamespace } from "#kube";
import type { CliIo } from "../io.ts";
import type { Candidate } from "./candidates.ts";

const TIME_LIMIT_MS = 2_000;
const MOST = 500;

/** `before`: the earlier arguments; --kubeconfig, --context and -n are read from them. */
export async function readNames(io: CliIo, before: readonly string[], what: "services" | "namespaces"): Promise<readonly Candidate[]> {
  const stop = new AbortController();
  const late = sleep(io.clock, TIME_LIMIT_MS, stop.signal).then((): readonly Candidate[] => []);
  const found = await Promise.race([read(io, before, { what, signal: stop.signal }), late]);
  stop.abort();
  return found;
}

/** The clusters of `lattice up` in the folder of --data-dir. */
export async function readClusters(io: CliIo, before: readonly string[]): Promise<readonly Candidate[]> {
  const { "data-dir": folder = ".lattice" } = given("data-dir", before);
  const names = await fromPromise(readdir(join(resolve(io.cwd, folder), "clusters")), describeThrown);
  return names.ok ? names.value.slice(0, MOST).flatMap((text) => (parseNamespace(text).ok ? [{ text }] : [])) : [];
}

type NamesQuery = { readonly what: "services" | "namespaces"; readonly signal: AbortSignal };

async function read(io: CliIo, before: readonly string[], { what, signal }: NamesQuery): Promise<readonly Candidate[]> {
  const [{ connect }, { latticeServices }, { scopeOf }] = await Promise.all([
    import("../cluster.ts"),
    import("#crds"),
    import("../namespace-scope.ts"),
  ]);
  const flags = { ...given("kubeconfig", before), ...given("context", before) };
  const connection = await connect({ ...io, stderr: () => {} }, flags, { logger: silentLogger, local: { report: false } });
  if (!connection.ok) return [];
  const { client, config } = connection.value;
  try {
    if (what === "namespaces") {
      const listed = await client.list(namespaces, { limit: MOST }, { signal });
      return listed.ok ? listed.value.items.map(({ metadata }) => ({ text: metadata.name })) : [];
    }
    const all = before.includes("-A") || before.includes("--all-namespaces");
    const scope = scopeOf({ allNamespaces: all, ...given("namespace", before, "-n") }, config);
    const listed = await client.list(latticeServices, { limit: MOST, namespace: scope.ok ? scope.value : undefined }, { signal });
    if (!listed.ok) return [];
    return listed.value.items.map(({ metadata }) => ({ text: all ? `${metadata.namespace ?? ""}/${metadata.name}` : metadata.name }));
  } finally {
    await client.close();
  }
}

function given(name: string, before: readonly string[], short?: string): Readonly<Record<string, string>> {
  const at = before.findLastIndex((word) => word === `--${name}` || word === short);
  const value = at < 0 ? undefined : before[at + 1];
  return value === undefined ? {} : { [name]: value };
}
