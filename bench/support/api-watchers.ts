/**
 * A thousand watchers of one namespace, and how long a change takes until all have it. They share a few HTTP/2 connections, as the watches
 * of real clients do; a connection carries at most a hundred.
 */
import { connect, type ClientHttp2Session } from "node:http2";
import { LoadClient, type Target } from "./api-load.ts";
import { configMap } from "./anchor-objects.ts";

const PER_CONNECTION = 100;

export async function fanOut(
  target: Target,
  watchers: number,
  changes: number,
): Promise<{ readonly eventsPerSecond: number; readonly lastMs: number }> {
  const namespace = "default";
  const client = await LoadClient.open(target, 1);
  const list = JSON.parse(await client.ask({ method: "GET", path: `/api/v1/namespaces/${namespace}/configmaps?limit=1` })) as {
    metadata: { resourceVersion: string };
  };
  const from = list.metadata.resourceVersion;
  const sessions: ClientHttp2Session[] = [];
  let seen = 0;
  let onSeen: () => void = () => {};
  const count = (lines: number) => {
    seen += lines;
    onSeen();
  };
  for (let at = 0; at < watchers; at += PER_CONNECTION) {
    const session = connect(target.url, { ca: target.caPem });
    sessions.push(session);
    const streams = Array.from({ length: Math.min(PER_CONNECTION, watchers - at) }, () =>
      openWatch(session, target, `/api/v1/namespaces/${namespace}/configmaps?watch=true&resourceVersion=${from}`, count),
    );
    await Promise.all(streams);
  }
  const reached = (wanted: number) =>
    new Promise<void>((resolve) => {
      onSeen = () => seen >= wanted && resolve();
      onSeen();
    });
  const name = (at: number) => `watched-${at}`;
  const make = (at: number) =>
    client.ask({
      method: "POST",
      path: `/api/v1/namespaces/${namespace}/configmaps`,
      body: JSON.stringify({ ...configMap(at), metadata: { name: name(at), namespace } }),
    });
  await make(0);
  await reached(watchers); // warm
  const start = performance.now();
  const written = (async () => {
    for (let at = 1; at <= changes; at += 1) await make(at);
  })();
  await Promise.all([written, reached(watchers * (changes + 1))]);
  const lastMs = performance.now() - start;
  for (const session of sessions) session.destroy();
  for (let at = 0; at <= changes; at += 1)
    await client.ask({ method: "DELETE", path: `/api/v1/namespaces/${namespace}/configmaps/${name(at)}` });
  client.close();
  return { eventsPerSecond: (watchers * changes) / (lastMs / 1_000), lastMs };
}

/** Resolves when the server has opened the watch. Each event is one line. */
function openWatch(session: ClientHttp2Session, target: Target, path: string, onLines: (count: number) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const stream = session.request({ ":path": path, authorization: `Bearer ${target.token}`, accept: "application/json" });
    stream.on("response", (headers) =>
      headers[":status"] === 200 ? resolve() : reject(new Error(`the watch was refused: ${headers[":status"]}`)),
    );
    stream.on("error", reject);
    stream.on("data", (piece: Buffer) => onLines(linesIn(piece)));
  });
}

function linesIn(piece: Buffer): number {
  let lines = 0;
  for (let at = piece.indexOf(10); at >= 0; at = piece.indexOf(10, at + 1)) lines += 1;
  return lines;
}
