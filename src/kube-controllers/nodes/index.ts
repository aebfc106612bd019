export { PREFIX as SIMULATION_ANNOTATIONS } from "./faults/annotations.ts";
export { FaultList, type Fault, type FaultHandle, type FaultTarget, type Mishap, type ProbeKind } from "./faults/fault.ts";
export { nodeLifecycleController } from "./lifecycle/node-lifecycle.ts";
export { taintEvictionController } from "./lifecycle/taint-eviction.ts";
export { type SimulatedNode, type SimulationOptions, type Speeds } from "./options.ts";
export { createSimulation, type Simulation } from "./simulation.ts";
export { DeclaredUsage, type UsageTarget } from "./usage.ts";
