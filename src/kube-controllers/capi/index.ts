export { capiController, type CapiControllerOptions } from "./capi-controller.ts";
export type { LocalMachineHost, LocalMachineRun, LocalMachineState } from "./local-machine-host.ts";
