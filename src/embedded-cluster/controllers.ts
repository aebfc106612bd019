/** The controllers of a cluster, started against it like any client: they know nothing of the server but its API. */
import type { Clock, Logger, Result } from "#base";
import type { KubeClient } from "#kube-client";
import type { RunningKubeControllers } from "#kube-controllers";
import type { ControllerOptions } from "./options.ts";

/** Who they are, in logs, in managedFields and to interceptors that name them. */
export const CONTROLLER_USER = "system:kube-controller-manager";

type Parts = {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
  readonly rootCa: string;
};

/** Imported when they are wanted: a test without controllers does not wait for their code. */
export async function startControllers(_options: ControllerOptions, parts: Parts): Promise<Result<RunningKubeControllers, string>> {
  const { startKubeControllers } = await import("#kube-controllers");
  return startKubeControllers({ ...parts, namespaceGraceMs: 0 });
}
