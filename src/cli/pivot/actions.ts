/** The actions of `lattice pivot`, and which flags each of them has. */
import { err, ok, type Result } from "#base";
import type { ClusterFlags } from "../cluster.ts";

export const PIVOT_ACTIONS = ["plan", "status", "resume", "abort", "export", "import"] as const;
export type PivotAction = (typeof PIVOT_ACTIONS)[number];

export type PivotFlags = ClusterFlags & {
  readonly directory?: string;
  readonly namespace?: string;
  readonly confirm?: string;
  readonly abort?: boolean;
  readonly notImported?: boolean;
  readonly receipt?: string;
  readonly forceOwner?: boolean;
  readonly wait?: string;
  readonly output: "text" | "json";
};

type Flag = keyof Omit<PivotFlags, "kubeconfig" | "context" | "output">;

const TAKES: Readonly<Record<PivotAction, readonly Flag[]>> = {
  plan: [],
  status: [],
  resume: ["wait"],
  abort: ["wait"],
  export: ["directory", "namespace", "confirm", "abort", "notImported", "wait"],
  import: ["directory", "abort", "receipt", "forceOwner"],
};

const NAMES: Readonly<Record<Flag, string>> = {
  directory: "--directory",
  namespace: "--namespace",
  confirm: "--confirm",
  abort: "--abort",
  notImported: "--not-imported",
  receipt: "--receipt",
  forceOwner: "--force-owner",
  wait: "--wait",
};

export type PivotRequestLine = { readonly action: PivotAction; readonly name: string | undefined };

/** One sentence for a combination that means nothing. */
export function checkPivotFlags({ action, name }: PivotRequestLine, flags: PivotFlags): Result<void, string> {
  const isOnCluster = action !== "export" && action !== "import";
  if (isOnCluster && name === undefined) return err(`pivot ${action}: give the name of the LatticeCluster`);
  if (!isOnCluster && name !== undefined) return err(`pivot ${action} takes no name; it works on a namespace or a directory`);
  const foreign = (Object.keys(NAMES) as Flag[]).find((flag) => flags[flag] !== undefined && !TAKES[action].includes(flag));
  if (foreign !== undefined) return err(`pivot ${action} has no flag ${NAMES[foreign]}`);
  if (flags.confirm !== undefined && flags.abort === true) return err("--confirm and --abort exclude each other");
  if (flags.notImported === true && flags.abort !== true) return err("--not-imported is for --abort");
  const needsDirectory = action === "import" || (action === "export" && flags.confirm === undefined && flags.abort !== true);
  if (needsDirectory && flags.directory === undefined) return err(`pivot ${action}: name a directory with --directory`);
  return ok(undefined);
}
