/**
 * The operator with one more part: a service of the leader that listens on a port and greets every client with the identity of its process. It stands
 * in for servers that only the leader runs. Ends on SIGTERM.
 */
import { createServer, type Server, type Socket } from "node:net";
import { parseArgs } from "node:util";
import { createLogger, err, expectOk, MetricsRegistry, noTracing, ok, parseDuration, systemClock, type Result } from "#base";
import { bindLeaderService, leaseTimesFor, type LeaderService } from "#controller-runtime";
import { createKubeClient, httpTransport, loadKubeconfig } from "#kube-client";
import { createLogSink, startOperator } from "#operator";

type ListenerSettings = { readonly port: number; readonly identity: string };

const listener: LeaderService<ListenerSettings> = {
  name: "listener",
  start: async ({ port, identity }) => {
    const sockets = new Set<Socket>();
    const server = createServer((socket) => {
      sockets.add(socket);
      socket.on("error", () => {}).on("close", () => sockets.delete(socket));
      socket.write(`${identity}\n`);
    });
    const listening = await listenOn(server, port);
    if (!listening.ok) return listening;
    const ended = new Promise<Result<void, string>>((resolve) => server.once("close", () => resolve(ok(undefined))));
    const close = async () => {
      server.close();
      for (const socket of sockets) socket.destroy();
      await ended;
    };
    return ok({ ended, close });
  },
};

function listenOn(server: Server, port: number): Promise<Result<void, string>> {
  return new Promise((resolve) => {
    server.once("error", ({ message }) => resolve(err(message)));
    server.listen({ host: "127.0.0.1", port }, () => resolve(ok(undefined)));
  });
}

const text = { type: "string" } as const;
const { values } = parseArgs({
  options: { kubeconfig: text, namespace: text, port: text, identity: text, "lease-duration": text },
});
const { kubeconfig = "", namespace = "", port = "0", identity = "" } = values;
const stop = new AbortController();
process.once("SIGTERM", () => stop.abort());

const clock = systemClock;
const random = Math.random;
const logger = createLogger(
  createLogSink({ level: "info", format: "text", write: (line) => process.stderr.write(line), now: () => clock.now() }),
);
const config = expectOk(await loadKubeconfig({ path: kubeconfig, env: {}, home: "/nonexistent", clock }));
const client = createKubeClient({ transport: httpTransport(config, { clock }), clock, random, logger });
const part = { name: "listener", services: [bindLeaderService(listener, { port: Number(port), identity })] };
const operator = expectOk(
  await startOperator(
    {
      namespace,
      identity,
      leaderElection: true,
      leaseTimes: leaseTimesFor(expectOk(parseDuration(values["lease-duration"] ?? "5s"))),
      health: { host: "127.0.0.1", port: 0 },
    },
    { client, clock, random, logger, metrics: new MetricsRegistry(), tracer: noTracing, parts: [part] },
    stop.signal,
  ),
);
process.stdout.write(`health and metrics at ${operator.healthUrl}\n`);
await operator.run(stop.signal);
await client.close();
