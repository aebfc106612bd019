/** Limits and periods of the link. Both sides check what they receive: a certificate proves who sent a message, not that it is sensible. */
export const LINK_LIMITS = {
  /** Of one message, also of a frame of a tunnel. */
  messageBytes: 4 * 1024 * 1024,
  /** To an agent, of what it has not read yet. HTTP/2's own 64 KiB make a tunnel slow; grpc-js has no such option for a server. */
  windowBytes: 1024 * 1024,
  /** Of a text in a message, in UTF-16 units. */
  textLength: 1_024,
  conditions: 100,
  pools: 64,
  effects: 100,
  addresses: 8,
  protocolVersions: 16,
  /** Of PEM texts: certificates, requests, bundles. */
  pemBytes: 256 * 1024,
  /** Commands of one agent that are not acknowledged yet. */
  pendingCommands: 64,
  /** Messages to one agent that are not sent yet. An agent that does not read is disconnected. */
  queuedMessages: 256,
  /** Command ids whose results an agent remembers. */
  rememberedCommands: 256,
  /** Tunnels of one agent, open or awaited. */
  tunnels: 256,
} as const;

export const LINK_TIMES = {
  heartbeatMs: 30_000,
  /** Without a heartbeat for so long, a cell closes the stream. */
  staleMs: 90_000,
  commandMs: 60_000,
  tunnelOpenMs: 10_000,
  /** From the start of a connection until the cell's Welcome. */
  welcomeMs: 20_000,
  /** A connection that lasted so long resets the delay of reconnects. */
  stableMs: 60_000,
  reconnectMinMs: 1_000,
  reconnectMaxMs: 60_000,
  /** Between two warnings that the parent cannot be reached. */
  warnEveryMs: 3_600_000,
  /** Between two requests for a new certificate, when the first failed. */
  renewalRetryMs: 600_000,
  /** How long an agent waits for its own report before it connects without one. */
  reportMs: 5_000,
} as const;
