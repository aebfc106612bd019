/** The real clusterctl, without its configuration of the user and without network. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runProgram, type Ran } from "../harness/run-program.ts";

export type ClusterctlOptions = {
  readonly binaries: string;
  /** For its configuration. */ readonly folder: string;
  readonly limitMs?: number;
};

export function runClusterctl(args: readonly string[], { binaries, folder, limitMs = 600_000 }: ClusterctlOptions): Promise<Ran> {
  const home = join(folder, "clusterctl");
  const config = join(home, ".config/cluster-api");
  mkdirSync(config, { recursive: true });
  writeFileSync(join(config, "clusterctl.yaml"), "{}\n");
  const env = { PATH: process.env["PATH"], HOME: home, XDG_CONFIG_HOME: join(home, ".config"), CLUSTERCTL_DISABLE_VERSIONCHECK: "true" };
  return runProgram(join(binaries, "clusterctl"), args, { env, limitMs });
}
