/**
 * The agent's half of a tunnel: reads one request from the cell, sends it to the API server of its own cluster and streams the response back.
 *
 * The frames of the cell are read until the call ends, also after the request is complete: that is how a cancelled request is noticed.
 */
import { describeThrown, err, fromPromise, sleep, type Clock, type Logger, type Result } from "#base";
import { openTunnelConnections, type TunnelConnections } from "./api-server-connections.ts";
import { failureFrame, FrameReader, headersOf } from "./frames.ts";
import { parseRequestHead, type TunnelRequestHead } from "./request-head.ts";
import { TunnelExchange } from "./tunnel-exchange.ts";
import { TUNNEL_LIMITS } from "./tunnel-limits.ts";
import { ENDED, type TunnelFrames, type TunnelTarget } from "./tunnel-types.ts";

export type TunnelServerOptions = {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Shared by the tunnels to one target, from `openTunnelConnections`. Absent: a connection for this tunnel only. */
  readonly connections?: TunnelConnections | undefined;
};

/** Resolves when the tunnel has ended; never rejects. */
export async function serveTunnel(frames: TunnelFrames, target: TunnelTarget, options: TunnelServerOptions): Promise<void> {
  const reader = new FrameReader(frames.read);
  const head = await readHead(reader, options.clock);
  if (!head.ok) return refuseTunnel(frames, `The request was refused: ${head.error}.`, options);
  const own = options.connections === undefined ? openTunnelConnections(target) : undefined;
  if (own?.ok === false) return refuseTunnel(frames, `The agent is not configured correctly: ${own.error}.`, options);
  const connections = options.connections ?? own?.value;
  const authorization = await fromPromise(target.authorization(), describeThrown);
  if (!authorization.ok) options.logger.warn("there is no credential for the API server", { reason: authorization.error });
  if (connections === undefined || !authorization.ok)
    return refuseTunnel(frames, "The agent has no credential for the API server.", options);
  await new TunnelExchange({ ...options, frames, reader, connections, head: head.value, authorization: authorization.value }).run();
  if (own?.ok === true) own.value.close();
}

async function readHead(reader: FrameReader, clock: Clock): Promise<Result<TunnelRequestHead, string>> {
  const done = new AbortController();
  const late = sleep(clock, TUNNEL_LIMITS.headMs, done.signal).then(() => undefined);
  const frame = await Promise.race([reader.next(), late]);
  done.abort(ENDED);
  if (frame?.case === "requestHead") return parseRequestHead({ ...frame.value, headers: headersOf(frame.value) });
  return err("the first frame of a cell must be the head of a request");
}

/** Answers a request without reading it. */
export async function refuseTunnel(frames: TunnelFrames, message: string, { clock, logger }: TunnelServerOptions): Promise<void> {
  logger.warn("request of the cell refused", { reason: message });
  const written = new AbortController();
  const writing = frames.write(failureFrame(message)).then(
    () => written.abort(ENDED),
    () => written.abort(ENDED),
  );
  await Promise.race([writing, sleep(clock, TUNNEL_LIMITS.lingerMs, written.signal)]);
  written.abort(ENDED);
  frames.end();
}
