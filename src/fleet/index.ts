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
  OperatorProcess,
  StartFleet,
} from "./fleet-types.ts";
export { clusterFolder, clusterFolderAt, fleetFolder } from "./folder/layout.ts";
export type { SupervisorChannel } from "./messages/channel.ts";
export type { FromOperator } from "./messages/messages.ts";
export { startFleet } from "./supervisor/start-fleet.ts";
