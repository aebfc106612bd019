/** Both halves of a tunnel, joined in memory, to a server on loopback. */
import type { RequestListener } from "node:http";
import { setImmediate as turn } from "node:timers/promises";
import { createLogger, expectOk, systemClock, type Result } from "#base";
import {
  openTunnelConnections,
  requestThroughTunnel,
  serveTunnel,
  type TunnelAnswer,
  type TunnelRequestInput,
  type TunnelServerOptions,
  type TunnelTarget,
} from "#link";
import { authority, http1Server, stopAll } from "./loopback-servers.ts";
import { tunnelPair, type TunnelPair } from "./tunnel-frames.ts";

const closing: (() => void)[] = [];
/** Ends what a test has opened, the servers of loopback-servers.ts included. */
export async function closeTunnels(): Promise<void> {
  for (const close of closing.splice(0)) close();
  await stopAll();
}

const logger = createLogger(() => {});
const live = new AbortController().signal;

export type Tunnel = {
  readonly call: (input: Partial<TunnelRequestInput>, signal?: AbortSignal) => ReturnType<typeof requestThroughTunnel>;
  readonly pairs: TunnelPair[];
  /** Tunnels whose agent has not finished. */
  readonly open: Set<Promise<void>>;
};

export function tunnelTo(port: number, target: Partial<TunnelTarget> = {}, options: Partial<TunnelServerOptions> = {}, window = 2): Tunnel {
  const all: TunnelTarget = {
    url: `https://127.0.0.1:${port}`,
    ca: authority.certificate,
    authorization: async () => "Bearer agent",
    ...target,
  };
  const connections = openTunnelConnections(all);
  if (connections.ok) closing.push(connections.value.close);
  const shared = connections.ok ? { connections: connections.value } : {};
  const pairs: TunnelPair[] = [];
  const open = new Set<Promise<void>>();
  return {
    pairs,
    open,
    call(input, signal = live) {
      const pair = tunnelPair(window);
      pairs.push(pair);
      const serving = serveTunnel(pair.agent, all, { clock: systemClock, logger, ...shared, ...options }).finally(() =>
        open.delete(serving),
      );
      open.add(serving);
      return requestThroughTunnel(pair.cell, { method: "GET", path: "/", headers: [], ...input }, signal);
    },
  };
}

export async function tunnelToServer(handler: RequestListener): Promise<Tunnel> {
  return tunnelTo((await http1Server(handler)).port);
}

/** `pauses`: turns of the event loop before each chunk. */
export async function* chunksOf(chunks: readonly Uint8Array[], pauses: readonly number[] = []): AsyncGenerator<Uint8Array> {
  for (const [at, chunk] of chunks.entries()) {
    for (let wait = 0; wait < (pauses[at] ?? 0); wait += 1) await turn();
    yield chunk;
  }
}

/** `pauses`: turns of the event loop after chunks. */
export async function readAnswer(
  answer: Result<TunnelAnswer, unknown>,
  pauses: readonly number[] = [],
): Promise<{ status: number; body: Buffer; error?: string }> {
  const { status, body } = expectOk(answer);
  const pieces: Uint8Array[] = [];
  for await (const piece of body) {
    if (!piece.ok) return { status, body: Buffer.concat(pieces), error: piece.error };
    pieces.push(piece.value);
    for (let wait = 0; wait < (pauses[pieces.length % (pauses.length + 1)] ?? 0); wait += 1) await turn();
  }
  return { status, body: Buffer.concat(pieces) };
}
