export { SOCKET_VARIABLE, TOKEN_VARIABLE } from "./machine-environment.ts";
export { ROOT_VARIABLE, reRootKnownPath } from "./re-root.ts";
export { runMachine, type RunMachineOptions } from "./run-machine.ts";
