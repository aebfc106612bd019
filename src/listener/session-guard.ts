/**
 * Closes HTTP/2 connections that are of no use: without a request, without the client's settings, or with a client that does not reply.
 *
 * A connection whose client has vanished looks like a watch without events, so the client is pinged while a request is open.
 */
import type { ServerHttp2Session } from "node:http2";
import type { Clock } from "#base";
import type { ListenerLimits } from "./limits.ts";

export function guardSession(session: ServerHttp2Session, { headersMs, idleMs, pingMs }: ListenerLimits, clock: Clock): void {
  let open = 0;
  session.on("stream", (stream) => {
    open += 1;
    stream.once("close", () => {
      open -= 1;
    });
  });
  session.setTimeout(idleMs, () => {
    if (open === 0) session.close();
  });
  const cancelSettings = clock.after(headersMs, () => session.destroy());
  session.once("remoteSettings", cancelSettings);
  const cancelPings = pingWhileOpen(session, { pingMs, isOpen: () => open > 0 }, clock);
  session.once("close", () => {
    cancelSettings();
    cancelPings();
  });
}

type Pinging = { readonly pingMs: number; readonly isOpen: () => boolean };

function pingWhileOpen(session: ServerHttp2Session, { pingMs, isOpen }: Pinging, clock: Clock): () => void {
  let hasReplied = true;
  const check = () => {
    if (!hasReplied) return session.destroy();
    if (isOpen()) {
      hasReplied = false;
      session.ping(() => {
        hasReplied = true;
      });
    }
    cancel = clock.after(pingMs, check);
  };
  let cancel = clock.after(pingMs, check);
  return () => cancel();
}
