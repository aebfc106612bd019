/** Which bootstrap cluster the flags of `lattice install` and `lattice uninstall` mean, and what is wrong with them. */
import { err, ok, type Result } from "#base";
import type { CliIo } from "../io.ts";
import { kindProblem } from "./kind-source.ts";
import { programRunner } from "./run-program.ts";

export type BootstrapKind = "embedded" | "kind" | "kubeconfig";

export type BootstrapFlags = {
  /** The name of the management cluster. */
  readonly cluster: string;
  /** Of its machines; undefined: it is known later. */
  readonly provider: string | undefined;
  readonly bootstrap?: "kind" | "embedded";
  readonly bootstrapKubeconfig?: string;
  readonly managementKubeconfig?: string;
  readonly bootstrapAddress?: string;
  readonly bundle?: string;
  readonly operatorImage?: string;
  readonly operatorBundle?: string;
  readonly dataDir?: string;
};

export async function bootstrapKind(io: CliIo, flags: BootstrapFlags): Promise<Result<BootstrapKind, string>> {
  const { bootstrap, bootstrapKubeconfig, cluster, managementKubeconfig, dataDir, provider } = flags;
  if (bootstrap !== undefined && bootstrapKubeconfig !== undefined)
    return err(`--bootstrap-kubeconfig is a bootstrap cluster that exists; leave out --bootstrap ${bootstrap}`);
  const kind = await chosenKind(io, flags);
  if (!kind.ok) return kind;
  if (kind.value === "embedded") return embeddedProblem(flags);
  if (kind.value === "kind" && provider === "local")
    return err("clusters of provider local are made on this machine, without kind; leave out --bootstrap");
  const shown = kind.value === "kind" ? "--bootstrap kind" : "--bootstrap-kubeconfig";
  if (dataDir !== undefined) return err(`--data-dir is for clusters on this machine; leave it out, or leave out ${shown}`);
  if (managementKubeconfig === undefined)
    return err(
      `${shown} needs --management-kubeconfig: a file with the kubeconfig of ${cluster}${provider === undefined ? "" : ", which may be written while the installation runs"}`,
    );
  return kind;
}

async function chosenKind(io: CliIo, flags: BootstrapFlags): Promise<Result<BootstrapKind, string>> {
  const { bootstrap, bootstrapKubeconfig, managementKubeconfig, provider } = flags;
  if (bootstrapKubeconfig !== undefined) return ok("kubeconfig");
  if (bootstrap === "embedded") return ok("embedded");
  // the machines of a cluster without a kubeconfig are processes of this machine
  if (bootstrap === undefined && (provider === "local" || (provider === undefined && managementKubeconfig === undefined)))
    return ok("embedded");
  const problem = await kindProblem(programRunner(io), io.signal);
  if (problem === undefined) return ok("kind");
  if (bootstrap === "kind") return err(problem);
  const cluster = provider === undefined ? "a cluster with a kubeconfig" : `a cluster of provider ${provider}`;
  return err(
    `${cluster} needs a bootstrap cluster: give one with --bootstrap-kubeconfig (docs/guides/install.md), or use kind: ${problem}`,
  );
}

function embeddedProblem(flags: BootstrapFlags): Result<"embedded", string> {
  const { provider, bootstrapAddress, managementKubeconfig, bundle, operatorImage, operatorBundle } = flags;
  if (provider !== undefined && provider !== "local")
    return err(
      `an embedded bootstrap cluster makes clusters of provider local, and not ${provider}; use --bootstrap kind or --bootstrap-kubeconfig`,
    );
  const others = {
    "--bootstrap-address": bootstrapAddress,
    "--management-kubeconfig": managementKubeconfig,
    "--bundle": bundle,
    "--operator-image": operatorImage,
    "--operator-bundle": operatorBundle,
  };
  const other = Object.entries(others).find(([, value]) => value !== undefined);
  return other === undefined ? ok("embedded") : err(`${other[0]} is for a bootstrap cluster of --bootstrap kind or --bootstrap-kubeconfig`);
}
