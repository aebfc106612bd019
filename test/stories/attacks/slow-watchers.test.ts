/** Watchers that do not read, while large objects change: the server keeps a bounded backlog, closes them, and stays responsive. */
import { connect, type Socket } from "node:net";
import { afterEach, expect, test } from "vitest";
import { startMeasuredApiServer, type MeasuredApiServer } from "../../builders/attacks/measured-api-server.ts";
import { TOKEN } from "../../builders/api-server/server-process.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";
const UPDATES = 200;
const OBJECT_BYTES = 900_000;
const READ = 60;

const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

type Watcher = { readonly socket: Socket; readonly closed: Promise<void> };

/** Sends the request, waits for the head of the response, and then reads nothing. */
async function watchWithoutReading(server: MeasuredApiServer, query: string, accept = "application/json"): Promise<Watcher> {
  const socket = connect(Number(new URL(server.url).port), "127.0.0.1");
  sockets.push(socket);
  const closed = new Promise<void>((resolve) => socket.on("error", () => {}).once("close", () => resolve()));
  socket.write(`GET ${MAPS}?watch=1${query} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${TOKEN}\r\naccept: ${accept}\r\n\r\n`);
  await new Promise<void>((resolve) => socket.once("data", () => resolve()));
  socket.pause();
  return { socket, closed };
}

async function write(server: MeasuredApiServer, at: number): Promise<void> {
  const body = { metadata: { name: "big" }, data: { text: String(at).repeat(OBJECT_BYTES / String(at).length) } };
  const [method, path] = at === 0 ? ["POST", MAPS] : ["PUT", `${MAPS}/big`];
  expect(await server.exchange.request({ method, path, body })).toMatchObject({ code: at === 0 ? 201 : 200 });
}

test("watchers that do not read are closed before their backlog fills the memory", async () => {
  await using server = await startMeasuredApiServer({ controllers: false });
  const tables = "application/json;as=Table;v=v1;g=meta.k8s.io";
  const watchers = [
    await watchWithoutReading(server, ""),
    await watchWithoutReading(server, "&fieldSelector=metadata.name%3Dbig"),
    await watchWithoutReading(server, "&includeObject=Object", tables),
  ];
  for (let at = 0; at < UPDATES; at += 1) await write(server, at);
  for (const { socket } of watchers) socket.resume();
  await Promise.all(watchers.map(({ closed }) => closed));
  await server.process.expectWithinLimits("watchers that do not read");
});

test("a watcher that reads receives every change while others do not read", async () => {
  await using server = await startMeasuredApiServer({ controllers: false });
  await watchWithoutReading(server, "");
  const gone = new AbortController();
  const lines = server.exchange.lines(`${MAPS}?watch=1&fieldSelector=metadata.name%3Dbig`, gone.signal);
  const read = (async () => {
    let count = 0;
    for await (const line of lines) if (line.includes(`"name":"big"`) && (count += 1) === READ) break;
    return count;
  })();
  for (let at = 0; at < READ; at += 1) await write(server, at);
  expect(await read).toBe(READ);
  gone.abort();
  await server.process.expectWithinLimits("one watcher reads, one does not");
});
