export { startAgentLink } from "./agent/start-agent-link.ts";
export type {
  AgentChannel,
  AgentCredentials,
  AgentLink,
  AgentLinkOptions,
  AgentLinkStatus,
  AgentRenewal,
  AgentReport,
  AgentTransport,
  OrderResult,
  PivotOrder,
} from "./agent/agent-types.ts";
export { AgentSessions } from "./cell/agent-sessions.ts";
export { startCellLink } from "./cell/start-cell-link.ts";
export type {
  AgentView,
  CellCommandInput,
  CellLink,
  CellLinkOptions,
  CellTls,
  CommandResult,
  ConnectionLimits,
  LinkError,
  LinkIdentity,
  RenewedCertificate,
} from "./cell/cell-types.ts";
export type { AgentHealth } from "./protocol/agent-messages.ts";
export type { AgentStateName } from "./protocol/agent-states.ts";
export {
  headersOfRaw,
  openTunnelConnections,
  parseTunnelPath,
  requestThroughTunnel,
  refuseTunnel,
  serveTunnel,
  tunnelTransport,
  type OpenTunnel,
  type TunnelAnswer,
  type TunnelConnections,
  type TunnelFrames,
  type TunnelHeader,
  type TunnelOpenError,
  type TunnelRequestError,
  type TunnelRequestInput,
  type TunnelServerOptions,
  type TunnelTarget,
} from "./tunnel/index.ts";
