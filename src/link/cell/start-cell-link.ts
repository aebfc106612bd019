/**
 * Starts the gRPC server of a cell: the listener, the two methods, and the sessions of the agents.
 *
 * Who may speak is decided when a stream opens, not at the handshake: only a stream can carry a reason that users read.
 */
import { Server, ServerCredentials, type ServerDuplexStream } from "@grpc/grpc-js";
import { andThen, err, map, ok, type Result } from "#base";
import { LINK_LIMITS } from "../protocol/link-limits.ts";
import type { StreamClose } from "../protocol/message-stream.ts";
import { agentMessageCodec, cellCommandCodec, LINK_METHODS } from "../protocol/wire.ts";
import { serverCallFrames } from "../transport/call-frames.ts";
import { serverCallStream } from "../transport/call-stream.ts";
import { statusOfClose } from "../transport/close-codes.ts";
import { AgentSessions } from "./agent-sessions.ts";
import { CONNECTION_LIMITS, type CellLink, type CellLinkOptions, type CellTls, type LinkIdentity } from "./cell-types.ts";
import { ConnectionTable } from "./connection-table.ts";
import { atMost } from "./event-loop-turns.ts";
import { startTlsListener } from "./tls-listener.ts";

type ByteCall = ServerDuplexStream<Buffer, Buffer>;

const SERVER_OPTIONS = {
  "grpc.max_receive_message_length": LINK_LIMITS.messageBytes,
  "grpc.max_send_message_length": LINK_LIMITS.messageBytes,
  // the control stream, the tunnels, and a few that are refused with a reason
  "grpc.max_concurrent_streams": LINK_LIMITS.tunnels + 16,
  "grpc.keepalive_time_ms": 60_000,
  "grpc.keepalive_timeout_ms": 20_000,
  "grpc-node.max_session_memory": 64,
  "grpc.enable_channelz": 0,
};
/**
 * A service of the leader has five seconds to end. No agent is served from the first turn on; with thousands of them, the last ones get the reason, and their
 * connections end, after that time.
 */
const CLOSE_MS = 3_000;
/** How long an agent has to read the reason before its connection is destroyed. */
const GRACE_MS = 2_000;

export async function startCellLink(options: CellLinkOptions): Promise<Result<CellLink, string>> {
  const limits = { ...CONNECTION_LIMITS, ...options.limits };
  let tls: CellTls = options.tls;
  const sessions = new AgentSessions(options, { firstMessageMs: limits.firstMessageMs, trustBundle: () => tls.trustBundle });
  const connections = new ConnectionTable({ clock: options.clock, firstCallMs: limits.firstMessageMs, graceMs: GRACE_MS });
  const server = new Server(SERVER_OPTIONS);
  const admitted = (call: ByteCall): Result<LinkIdentity, StreamClose> => {
    const identity = connections.identityOf(call.getPeer(), limits.connections);
    return andThen(identity, (known) => sessions.admit(known));
  };
  const refusals = options.metrics.counter("lattice_link_refused_total", "Streams that the cell refused when they opened, by kind.");
  const refuse = (call: ByteCall, close: StreamClose): void => {
    refusals.add(1, { kind: close.kind });
    options.logger.debug("stream refused", { peer: call.getPeer(), reason: close.reason });
    connections.destroyLater(call.getPeer());
    call.on("error", () => {});
    call.emit("error", statusOfClose(close));
  };
  server.register(
    LINK_METHODS.connect.path,
    (call: ByteCall) => {
      const identity = admitted(call);
      if (!identity.ok) return refuse(call, identity.error);
      const stream = serverCallStream(call, { incoming: agentMessageCodec, outgoing: cellCommandCodec });
      sessions.accept(connections.guarded(stream, call.getPeer()), identity.value);
    },
    LINK_METHODS.connect.responseSerialize,
    LINK_METHODS.connect.requestDeserialize,
    "bidi",
  );
  server.register(
    LINK_METHODS.tunnel.path,
    (call: ByteCall) => {
      const identity = admitted(call);
      if (!identity.ok) return refuse(call, identity.error);
      void acceptTunnel(call, identity.value.cluster, sessions);
    },
    LINK_METHODS.tunnel.responseSerialize,
    LINK_METHODS.tunnel.requestDeserialize,
    "bidi",
  );
  const injector = server.createConnectionInjector(ServerCredentials.createInsecure());
  const listener = await startTlsListener({
    ...options,
    limits,
    onConnection(connection) {
      connections.add(connection);
      injector.injectConnection(connection.socket);
    },
  });
  if (!listener.ok) {
    sessions.close();
    server.forceShutdown();
    return err(`the cell cannot listen on ${options.host}:${options.port}: ${listener.error}`);
  }
  return ok({
    port: listener.value.port,
    agents: () => sessions.agents(),
    subscribe: (changed) => sessions.subscribe(changed),
    send: (cluster, command, signal) => sessions.send(cluster, command, signal),
    disconnect(cluster, reason) {
      sessions.disconnect(cluster, reason);
      connections.destroyOf(cluster);
    },
    forget(cluster, reason) {
      sessions.forget(cluster, reason);
      connections.destroyOf(cluster);
    },
    openTunnel: sessions.openTunnel,
    reloadTls: (next) =>
      map(listener.value.reload(next), () => {
        tls = next;
        sessions.welcomeAgain();
      }),
    close() {
      listener.value.stop();
      const ended = async () => {
        await sessions.drain();
        await connections.close();
        server.forceShutdown();
        await listener.value.close();
      };
      return atMost(options.clock, CLOSE_MS, ended());
    },
  });
}

/** The first frame of the agent names the tunnel; it must be one that this agent was asked for. */
async function acceptTunnel(call: ByteCall, cluster: string, sessions: AgentSessions): Promise<void> {
  let state: "waiting" | "open" | "closed" = "waiting";
  const frames = serverCallFrames(call, () => {
    if (state === "open") sessions.tunnels.closed(cluster);
    state = "closed";
  });
  const cancelLate = sessions.afterFirstMessage(() => frames.cancel("the first frame is late"));
  const first = await frames.read[Symbol.asyncIterator]().next();
  cancelLate();
  const frame = first.done === true ? undefined : first.value.frame;
  const isExpected = frame?.case === "open" && stateOf(() => state) !== "closed";
  if (!isExpected || !sessions.tunnels.opened(cluster, frame.value.tunnelId, frames))
    return frames.cancel("no tunnel with this id was asked for");
  state = "open";
}

/** For the compiler, which does not see that a callback changes the variable. */
function stateOf<T>(read: () => T): T {
  return read();
}
