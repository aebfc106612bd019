/**
 * HTTP/2 connections that give nothing back are closed: one that nobody speaks on, one that never finished its first words, and one whose
 * other end is gone. A watch on which nothing happens looks like the last, so the other end is asked.
 */
import type { ServerHttp2Session } from "node:http2";
import type { Clock } from "#base";
import type { Limits } from "./limits.ts";

export function watchSession(session: ServerHttp2Session, { headersMs, idleMs, pingMs }: Limits, clock: Clock): void {
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
  const cancelGreeting = clock.after(headersMs, () => session.destroy());
  session.once("remoteSettings", cancelGreeting);
  const cancelAsking = askNowAndThen(session, { pingMs, isWaiting: () => open > 0 }, clock);
  session.once("close", () => {
    cancelGreeting();
    cancelAsking();
  });
}

type Asking = { readonly pingMs: number; readonly isWaiting: () => boolean };

/** An answer that has not come when it is time to ask again will not come. */
function askNowAndThen(session: ServerHttp2Session, { pingMs, isWaiting }: Asking, clock: Clock): () => void {
  let answered = true;
  const turn = () => {
    if (!answered) return session.destroy();
    if (isWaiting()) {
      answered = false;
      session.ping(() => {
        answered = true;
      });
    }
    cancel = clock.after(pingMs, turn);
  };
  let cancel = clock.after(pingMs, turn);
  return () => cancel();
}
