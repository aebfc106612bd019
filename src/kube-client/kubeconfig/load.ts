/**
 * Finds kubeconfig files, merges them as kubectl does and makes the ClusterConfig of one context.
 *
 * Of several files the first to name an entry wins, whole; files of a KUBECONFIG list that do not exist are passed over. The
 * environment comes in as a value: this folder never reads the process'.
 */
import { delimiter, join } from "node:path";
import { err, ok, type Clock, type Result } from "#base";
import type { ClusterConfig } from "../cluster-config.ts";
import type { RunCommand } from "../credentials/run-command.ts";
import { readText, type ReadFile } from "../read-text.ts";
import { parseKubeconfig, type Kubeconfig, type KubeconfigError } from "./kubeconfig.ts";
import { resolveContext } from "./resolve.ts";

export type LoadKubeconfigOptions = {
  /** One file, which must exist. Wins over KUBECONFIG. */
  readonly path?: string | undefined;
  /** Wins over the files' current-context. */
  readonly context?: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  readonly clock: Clock;
  readonly readFile?: ReadFile;
  readonly runCommand?: RunCommand;
  /** Whether a credential plugin may talk to a person at a terminal. */
  readonly interactive?: boolean;
};

export async function loadKubeconfig(options: LoadKubeconfigOptions): Promise<Result<ClusterConfig, KubeconfigError>> {
  const merged = await readKubeconfig(options);
  return merged.ok ? resolveContext(merged.value, options) : merged;
}

/** The merged files, for those who want to see all contexts. */
export async function readKubeconfig(options: LoadKubeconfigOptions): Promise<Result<Kubeconfig, KubeconfigError>> {
  const found: Kubeconfig[] = [];
  const files = filesOf(options);
  for (const file of files) {
    const text = await readText(file, options.readFile);
    if (!text.ok && (text.error.kind !== "not-found" || options.path !== undefined)) return text;
    if (!text.ok) continue;
    const parsed = parseKubeconfig(text.value, file);
    if (!parsed.ok) return parsed;
    found.push(parsed.value);
  }
  if (found.length > 0) return ok(mergeKubeconfigs(found));
  return err({ kind: "not-found", message: `no kubeconfig: ${files.join(", ")} does not exist; set KUBECONFIG or pass --kubeconfig` });
}

function filesOf({ path, env, home }: LoadKubeconfigOptions): readonly string[] {
  if (path !== undefined) return [path];
  const listed = (env["KUBECONFIG"] ?? "").split(delimiter).filter((file) => file !== "");
  return listed.length > 0 ? [...new Set(listed)] : [join(home, ".kube", "config")];
}

function mergeKubeconfigs(configs: readonly Kubeconfig[]): Kubeconfig {
  // of equal names the last that a Map is given wins, so the first file is given last
  const lastFirst = configs.toReversed();
  return {
    currentContext: configs.find((config) => config.currentContext !== undefined)?.currentContext,
    clusters: new Map(lastFirst.flatMap((config) => [...config.clusters])),
    users: new Map(lastFirst.flatMap((config) => [...config.users])),
    contexts: new Map(lastFirst.flatMap((config) => [...config.contexts])),
  };
}
