export { serveCluster } from "./api-server/index.ts";
export { requestControl } from "./control/control-client.ts";
export { openControlSocket, type ControlSocket, type ControlSocketOptions } from "./control/control-server.ts";
export { controlSocketPath, type SocketPathOptions } from "./control/socket-path.ts";
export type {
  ClusterFolder,
  ClusterState,
  ClusterView,
  ControlRequest,
  ControlResponse,
  Fleet,
  FleetCluster,
  FleetFolder,
  FleetOptions,
  FleetProcess,
  LatticeProgram,
  MachineControlRequest,
  MachineView,
  OperatorProcess,
  StartFleet,
} from "./fleet-types.ts";
export { endFolder, type EndedFolder } from "./folder/end-folder.ts";
export { clusterFolder, clusterFolderAt, fleetFolder } from "./folder/layout.ts";
export type { FleetFolderContent } from "./folder/marker.ts";
export { isEmptyInstallation, type FoundFleet } from "./folder/find-fleet.ts";
export { openFleetFolder, type OpenFolder } from "./folder/open-folder.ts";
export { runningUp, type UpRecord } from "./folder/up-record.ts";
export type { SupervisorChannel } from "./messages/channel.ts";
export type { FromOperator } from "./messages/messages.ts";
export { curl, kubeadm, kubectl, type CurlOutcome, type ToolIo } from "./machine-tools/index.ts";
export { runMachine, type RunMachineOptions } from "./machines/index.ts";
export { startFleet } from "./supervisor/start-fleet.ts";
