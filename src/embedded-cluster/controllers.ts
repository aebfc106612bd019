/** The controllers of a cluster, started against it like any client: they know nothing of the server but its API. */
import { map, type Clock, type Logger, type Result } from "#base";
import type { KubeClient } from "#kube-client";
import type { Simulation } from "#kube-controllers";
import type { ControllerOptions } from "./options.ts";

/** Who they are, in managedFields and to interceptors that name them. */
export const CONTROLLER_USER = "system:kube-controller-manager";

export type Controllers = {
  readonly idle: () => Promise<void>;
  readonly simulation: Simulation | undefined;
  readonly close: () => Promise<void>;
};

type Parts = {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
  readonly rootCa: string;
};

/** Imported when they are wanted: a test without controllers does not wait for their code. */
export async function startControllers(options: ControllerOptions, parts: Parts): Promise<Result<Controllers, string>> {
  const { createSimulation, startKubeControllers } = await import("#kube-controllers");
  const { simulation: wanted = true, ...settings } = options;
  const simulation = wanted === false ? undefined : createSimulation(wanted === true ? {} : wanted);
  const played = simulation === undefined ? {} : { simulation: simulation.controllers, podMetrics: simulation.usage };
  const started = await startKubeControllers({ namespaceGraceMs: 0, ...settings, ...parts, ...played });
  return map(started, ({ idle, close }) => ({ idle, simulation, close: () => close().then(() => parts.client.close()) }));
}
