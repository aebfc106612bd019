/** How much of the server one client may hold. The size of a body is limited as in kube-apiserver. */
export const LISTENER_LIMITS = {
  bodyBytes: 3 * 1024 * 1024,
  headerBytes: 64 * 1024,
  /** From the first byte of a connection or a request to the end of its headers, and to the end of its body. */
  headersMs: 10_000,
  requestMs: 60_000,
  /** Interval between two checks for requests and responses that are late. */
  checkMs: 1_000,
  /** How long the rest of a rejected body is still read, so that the client can see the response. */
  lingerMs: 1_000,
  /** How long a connection may stay open without a request. */
  idleMs: 120_000,
  /** How long a response may wait for a client that does not read. */
  stallMs: 60_000,
  /** Interval of HTTP/2 pings while a request is open. The reply to one must arrive before the next. */
  pingMs: 30_000,
  connections: 10_000,
  streamsPerConnection: 1_000,
} as const;

export type ListenerLimits = { readonly [name in keyof typeof LISTENER_LIMITS]: number };
