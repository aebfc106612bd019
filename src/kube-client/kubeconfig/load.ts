/**
 * Finds kubeconfig files, merges them as kubectl does and creates the ClusterConfig of one context.
 *
 * Of several entries with one name the first is used; files of a KUBECONFIG list that do not exist are skipped. The environment is an
 * argument: this folder never reads that of the process.
 */
import { delimiter, join } from "node:path";
import { err, ok, type Clock, type Result } from "#base";
import type { ClusterConfig } from "../cluster-config.ts";
import type { RunCommand } from "../credentials/run-command.ts";
import { readText, type ReadFile } from "../read-text.ts";
import { parseKubeconfig, type Kubeconfig, type KubeconfigError } from "./kubeconfig.ts";
import { resolveContext } from "./resolve.ts";

export type LoadKubeconfigOptions = {
  /** One file, which must exist. Overrides KUBECONFIG. */
  readonly path?: string | undefined;
  /** Overrides current-context. */
  readonly context?: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  readonly clock: Clock;
  readonly readFile?: ReadFile;
  readonly runCommand?: RunCommand;
  /** Whether a credential plugin may use the terminal. */
  readonly interactive?: boolean;
};

export async function loadKubeconfig(options: LoadKubeconfigOptions): Promise<Result<ClusterConfig, KubeconfigError>> {
  const merged = await readKubeconfig(options);
  return merged.ok ? resolveContext(merged.value, options) : merged;
}

/** The merged files, with all contexts. */
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
  // a Map keeps the last of equal keys, so the first file is added last
  const lastFirst = configs.toReversed();
  return {
    currentContext: configs.find((config) => config.currentContext !== undefined)?.currentContext,
    clusters: new Map(lastFirst.flatMap((config) => [...config.clusters])),
    users: new Map(lastFirst.flatMap((config) => [...config.users])),
    contexts: new Map(lastFirst.flatMap((config) => [...config.contexts])),
  };
}
