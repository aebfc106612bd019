export { openTunnelConnections, type TunnelConnections } from "./api-server-connections.ts";
export { requestThroughTunnel, type TunnelAnswer, type TunnelRequestError, type TunnelRequestInput } from "./request-through-tunnel.ts";
export { refuseTunnel, serveTunnel, type TunnelServerOptions } from "./serve-tunnel.ts";
export { headersOfRaw, type TunnelHeader } from "./tunnel-headers.ts";
export { parseTunnelPath } from "./tunnel-path.ts";
export { tunnelTransport } from "./tunnel-transport.ts";
export type { OpenTunnel, TunnelFrames, TunnelOpenError, TunnelTarget } from "./tunnel-types.ts";
