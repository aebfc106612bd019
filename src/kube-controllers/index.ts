export type { KubeController, KubeControllerContext } from "./context.ts";
export { kubeControllers, type KubeControllersSettings } from "./controllers.ts";
export {
  createSimulation,
  DeclaredUsage,
  FaultList,
  SIMULATION_ANNOTATIONS,
  type Fault,
  type FaultHandle,
  type FaultTarget,
  type Mishap,
  type SimulatedNode,
  type Simulation,
  type SimulationOptions,
  type Speeds,
} from "./nodes/index.ts";
export { EveryKind } from "./every-kind.ts";
export type { ServedResource } from "./discovery.ts";
export { follow, SharedInformers } from "./shared-informers.ts";
export { startKubeControllers, type KubeControllersHealth, type KubeControllersOptions, type RunningKubeControllers } from "./start.ts";
export type { MetricsSource } from "./workloads/index.ts";
export { again, done, failed, passOf, retry, worstPass, type Pass, type WorkOptions } from "./work.ts";
