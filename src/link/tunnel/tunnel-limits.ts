/** How much one request in a tunnel may hold, on both ends. */
export const TUNNEL_LIMITS = {
  /** Bytes of one data frame. */
  frameBytes: 64 * 1024,
  /** Path and query. Selectors and `continue` tokens of lists are long. */
  pathBytes: 32 * 1024,
  headers: 128,
  /** All names and values of a head. */
  headerBytes: 64 * 1024,
  /** From the opened tunnel to its request. */
  headMs: 10_000,
  /** To connect to the API server, handshake included. */
  connectMs: 10_000,
  /** How long the API server may take no bytes of a request that it has not answered. */
  stallMs: 60_000,
  /** How long an agent waits for the cell to complete a call whose response is sent. */
  lingerMs: 10_000,
  /** How long a connection to the API server is kept for the next request. Shorter than the time after which API servers close it. */
  idleMs: 15_000,
  /** Connections to the API server at once, apart from watches and the like. More requests wait for one. */
  connections: 64,
  /** Of those, the idle ones that are kept. */
  idleConnections: 32,
} as const;
