/** How much of everything one client may take. The body limit is the real server's; a request that comes drop by drop is cut off. */
export const LIMITS = {
  bodyBytes: 3 * 1024 * 1024,
  headerBytes: 64 * 1024,
  /** From the first byte of a connection or a request to the last of its headers, and to the last of its body. */
  headersMs: 10_000,
  requestMs: 60_000,
  /** How often those that are late are looked for. */
  lookMs: 1_000,
  /** How long the rest of a body that is too large is still read. */
  lingerMs: 1_000,
  idleMs: 120_000,
  /** An answer that is not read, or a watch: how long it may stand still. */
  stallMs: 60_000,
  /** Who has a request open and says nothing is asked whether he is still there; an answer must come before it is asked again. */
  pingMs: 30_000,
  connections: 10_000,
  streamsPerConnection: 1_000,
} as const;

export type Limits = { readonly [name in keyof typeof LIMITS]: number };
