/** The controllers of a cluster. They use the API of the server like any other client. */
import { map, type Clock, type Logger, type Result } from "#base";
import type { KubeClient } from "#kube-client";
import type { Simulation } from "#kube-controllers";
import type { ControllerOptions } from "./options.ts";

/** Their user name, in managedFields and for interceptors. */
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

/** Imported on demand: a test without controllers does not load their code. */
export async function startControllers(options: ControllerOptions, parts: Parts): Promise<Result<Controllers, string>> {
  const { createSimulation, startKubeControllers } = await import("#kube-controllers");
  const { simulation: wanted = true, beforeStart: _, ...settings } = options;
  const simulation = wanted === false ? undefined : createSimulation(wanted === true ? {} : wanted);
  const machines = typeof wanted === "object" && wanted.localMachines !== undefined ? { localMachines: wanted.localMachines } : {};
  const simulated = simulation === undefined ? {} : { simulation: simulation.controllers, podMetrics: simulation.usage };
  const started = await startKubeControllers({ namespaceGraceMs: 0, ...settings, ...parts, ...simulated, ...machines });
  return map(started, ({ idle, close }) => ({ idle, simulation, close: () => close().then(() => parts.client.close()) }));
}
