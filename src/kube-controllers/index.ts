export type { LocalMachineHost, LocalMachineRun, LocalMachineState } from "./capi/index.ts";
export type { KubeController, KubeControllerContext } from "./context.ts";
export { kubeControllers, type KubeControllersSettings } from "./controllers.ts";
export {
  containerLogFolder,
  ContainerLogWriter,
  createSimulation,
  DeclaredUsage,
  FaultList,
  findContainerLog,
  podLogFolder,
  readContainerLog,
  SIMULATION_ANNOTATIONS,
  type ContainerLogOptions,
  type ContainerProcess,
  type ContainerProcessState,
  type EndedContainer,
  type Fault,
  type FaultHandle,
  type FaultTarget,
  type LogReading,
  type LogWriterOptions,
  type Mishap,
  type OutputStream,
  type PodProcesses,
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
