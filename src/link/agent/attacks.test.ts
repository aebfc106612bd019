/** Attacks on the listener of a cell. In each of them another agent is connected, and stays so: its commands are answered and its heartbeats counted. */
import { Client, credentials as grpcCredentials, type ClientDuplexStream } from "@grpc/grpc-js";
import { once } from "node:events";
import { connect as connectTcp, type Socket } from "node:net";
import { checkServerIdentity, connect as connectTls, createSecureContext, type ConnectionOptions } from "node:tls";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { createLogger, expectOk, ok, reveal, systemClock } from "#base";
import type { KeyPairPem } from "#pki";
import { encodeAgentPayload } from "../protocol/encode-messages.ts";
import type { AgentPayload } from "../protocol/agent-messages.ts";
import { agentMessageCodec, cellCommandCodec, LINK_METHODS, tunnelFrameCodec } from "../protocol/wire.ts";
import { create } from "@bufbuild/protobuf";
import { TunnelFrameSchema } from "../protocol/generated/agent_pb.ts";
import { closeOfStatus } from "../transport/close-codes.ts";
import { clientCertificate, newAuthority, SocketLink } from "./socket-link.test-support.ts";

const link = new SocketLink();
const never = new AbortController().signal;
const closing: (() => void)[] = [];
const HANDSHAKE_MS = 300;

beforeAll(async () => {
  await link.startCell({ limits: { handshakeMs: HANDSHAKE_MS, firstMessageMs: 400, handshakesPerAddress: 16 } });
  // a heartbeat every 50 ms instead of every 30 s
  link.startAgent("other", { clock: { ...systemClock, after: (ms, callback) => systemClock.after(ms > 25_000 ? 50 : ms, callback) } });
  await link.connected("other");
});

afterAll(() => link.close());

/** After each attack: the agent that is connected all the time is still served, on the same stream. */
afterEach(async () => {
  for (const close of closing.splice(0)) close();
  const before = link.cell.agents().get("other");
  expect(await link.cell.send("other", { kind: "status" }, never)).toEqual(ok({ effects: [] }));
  const after = link.cell.agents().get("other");
  expect(after?.connectedSince).toBe(before?.connectedSince);
  expect(after?.lastHeartbeat).toBeGreaterThanOrEqual(before?.lastHeartbeat ?? 0);
  expect([...link.cell.agents().values()].filter(({ connected }) => connected)).toHaveLength(1);
});

function tcp(): Socket {
  const socket = connectTcp(link.cell.port, "127.0.0.1");
  socket.on("error", () => {});
  closing.push(() => socket.destroy());
  return socket;
}

/** The error that ends a TLS connection, or "open" if bytes could be read. */
async function tlsFailure(options: ConnectionOptions): Promise<string> {
  const socket = connectTls({
    host: "127.0.0.1",
    port: link.cell.port,
    servername: "c.cell.lattice",
    ca: link.authority.certificate,
    ALPNProtocols: ["h2"],
    ...options,
  });
  closing.push(() => socket.destroy());
  return new Promise((resolve) => {
    socket.on("error", (error) => resolve(error.message));
    socket.on("data", () => resolve("open")); // the settings of HTTP/2
    socket.on("close", () => resolve("closed"));
  });
}

/** A gRPC call that does what an attacker wants. Resolves with the status that ends it. */
function call(pair: KeyPairPem, attack: (call: ClientDuplexStream<Buffer, Buffer>) => void, method: "connect" | "tunnel" = "connect") {
  const context = createSecureContext({ cert: pair.certificate, key: reveal(pair.key), ca: link.authority.certificate });
  const secure = grpcCredentials.createFromSecureContext(context, {
    checkServerIdentity: (_, one) => checkServerIdentity("c.cell.lattice", one),
  });
  const client = new Client(`127.0.0.1:${link.cell.port}`, secure, {
    "grpc.ssl_target_name_override": "c.cell.lattice",
    "grpc.use_local_subchannel_pool": 1,
    "grpc.max_send_message_length": -1,
  });
  closing.push(() => client.close());
  const { path, requestSerialize, responseDeserialize } = LINK_METHODS[method];
  const stream = client.makeBidiStreamRequest<Buffer, Buffer>(path, requestSerialize, responseDeserialize);
  stream.on("error", () => {});
  stream.on("data", () => {});
  attack(stream);
  return new Promise<ReturnType<typeof closeOfStatus>>((resolve) => stream.on("status", (status) => resolve(closeOfStatus(status))));
}

function message(cluster: string, payload: AgentPayload): Buffer {
  return agentMessageCodec.encode(encodeAgentPayload(cluster, payload, 0));
}

function ready(cluster: string, generation = 1n): Buffer {
  const versions = { agentVersion: "", kubernetesVersion: "", protocolVersions: [1] };
  return message(cluster, { kind: "ready", ...versions, generation, state: "Ready" });
}

function certificate(name: string): KeyPairPem {
  return clientCertificate(link.authority, name);
}

describe("an attack on the listener", () => {
  it("plain text: the connection is closed", async () => {
    const socket = tcp();
    socket.write("GET / HTTP/1.1\r\nHost: cell\r\n\r\n");
    await once(socket, "close");
  });

  it("TLS 1.2: no handshake", async () => {
    const { certificate: cert, key } = certificate("c/a");
    expect(await tlsFailure({ cert, key: reveal(key), maxVersion: "TLSv1.2" })).toMatch(/protocol version/i);
  });

  it("a certificate of another authority: no connection", async () => {
    const { certificate: cert, key } = clientCertificate(newAuthority(), "c/a");
    expect(await tlsFailure({ cert, key: reveal(key) })).not.toBe("open");
  });

  it("no client certificate: no connection", async () => {
    expect(await tlsFailure({})).not.toBe("open");
  });

  it("a curve outside P-256 and P-384: no handshake", async () => {
    const { certificate: cert, key } = certificate("c/a");
    expect(await tlsFailure({ cert, key: reveal(key), ecdhCurve: "P-521" })).not.toBe("open");
  });

  it("handshakes that never end: they are closed in time, and do not keep an agent out", async () => {
    const slow = Array.from({ length: 40 }, () => tcp());
    for (const socket of slow) socket.on("connect", () => socket.write(Buffer.from([0x16, 0x03, 0x01])));
    await Promise.all(slow.map((socket) => new Promise((resolve) => socket.on("close", resolve))));
    const closed = await call(certificate("c/b"), (stream) => {
      stream.write(ready("b"));
      stream.on("data", () => stream.cancel());
    });
    expect(closed.reason).toBe("Cancelled on client");
    await link.until(() => link.cell.agents().get("b")?.connected === false);
    link.cell.forget("b", "end of the test");
  });
});

describe("an attack with a certificate", () => {
  it("A's certificate speaks as B: the stream is closed with the reason", async () => {
    const closed = await call(certificate("c/a"), (stream) => stream.write(ready("b")));
    expect(closed).toEqual({ kind: "invalid", reason: 'cluster_name: is "b", but the certificate is for "a"' });
    expect(link.cell.agents().has("b")).toBe(false);
  });

  it("A's certificate speaks as B after it was welcomed as A: the stream is closed with the reason", async () => {
    const closed = await call(certificate("c/a"), (stream) => {
      stream.write(ready("a"));
      stream.once("data", () => stream.write(message("other", { kind: "heartbeat", state: "Failed" })));
    });
    expect(closed.reason).toContain('cluster_name: is "other"');
    expect(link.cell.agents().get("other")?.state).toBe("Ready");
  });

  it("a revoked certificate: refused with the reason", async () => {
    link.revoked.add("a");
    const closed = await call(certificate("c/a"), (stream) => stream.write(ready("a", 100n)));
    link.revoked.delete("a");
    expect(closed).toEqual({ kind: "refused", reason: "the certificate is revoked" });
  });

  it("a certificate of another cell, signed by the same authority: refused with the reason", async () => {
    const closed = await call(certificate("d/a"), (stream) => stream.write(ready("a")));
    expect(closed).toEqual({ kind: "refused", reason: 'the certificate is of cell "d"; this is cell "c"' });
  });

  it("a certificate that is not an agent's: refused with the reason", async () => {
    const closed = await call(certificate("administrator"), (stream) => stream.write(ready("a")));
    expect(closed.reason).toBe("the certificate is not an agent's: it has no name");
  });

  it("a stale generation: refused with the reason, and the current stream stays", async () => {
    const closed = await call(certificate("c/other"), (stream) => stream.write(ready("other", 1n)));
    expect(closed.kind).toBe("stale");
    expect(closed.reason).toMatch(/^generation 1 is stale: the cell has seen generation \d+ of this cluster$/);
  });

  it("malformed protobuf: the stream is closed with the reason", async () => {
    const closed = await call(certificate("c/a"), (stream) => stream.write(Buffer.from([0xff, 0xff, 0xff, 0xff])));
    expect(closed).toEqual({ kind: "invalid", reason: "the bytes are not a AgentMessage of lattice.agent.v1" });
  });

  it("a message of 100 MB: refused by its length, before it is read", async () => {
    const closed = await call(certificate("c/a"), (stream) => stream.write(Buffer.alloc(100 * 1024 * 1024)));
    expect(closed.kind).toBe("busy");
  });

  it("no first message: closed in time with the reason", async () => {
    const closed = await call(certificate("c/a"), () => {});
    expect(closed).toEqual({ kind: "late", reason: "the agent sent no AgentReady within 0.4 seconds" });
  });

  it("a connection without a stream: closed in time", async () => {
    const { certificate: cert, key } = certificate("c/a");
    const socket = connectTls({
      host: "127.0.0.1",
      port: link.cell.port,
      servername: "c.cell.lattice",
      ca: link.authority.certificate,
      cert,
      key: reveal(key),
      ALPNProtocols: ["h2"],
    });
    closing.push(() => socket.destroy());
    socket.on("error", () => {});
    socket.resume();
    await once(socket, "close");
  });

  it("bytes that are not HTTP/2 after the handshake: the connection is closed", async () => {
    const { certificate: cert, key } = certificate("c/a");
    const names = { host: "127.0.0.1", port: link.cell.port, servername: "c.cell.lattice", ALPNProtocols: ["h2"] };
    const socket = connectTls({ ...names, ca: link.authority.certificate, cert, key: reveal(key) });
    closing.push(() => socket.destroy());
    socket.on("error", () => {});
    socket.resume();
    socket.write(Buffer.alloc(64 * 1024, 0xee));
    await new Promise((resolve) => socket.on("close", resolve));
  });

  it("replayed acknowledgements: no command is settled by them", async () => {
    const acks = Array.from({ length: 100 }, () =>
      message("a", { kind: "command-ack", id: "1-1-1", success: true, error: "", effects: [] }),
    );
    const settled: unknown[] = [];
    const ids: string[] = [];
    const closed = call(certificate("c/a"), (stream) => {
      stream.write(ready("a", 200n));
      stream.on("data", (bytes: Buffer) => {
        const command = expectOk(cellCommandCodec.decode(bytes));
        if (command.command.case === "welcome") for (const ack of acks) stream.write(ack);
        if (command.command.case !== "reconcile") return;
        ids.push(command.commandId);
        const ack = message("a", { kind: "command-ack", id: command.commandId, success: true, error: "", effects: [] });
        for (let copy = 0; copy < 3; copy += 1) stream.write(ack);
      });
    });
    await link.connected("a");
    for (let round = 0; round < 2; round += 1) settled.push(await link.cell.send("a", { kind: "reconcile" }, never));
    expect(settled).toEqual([ok({ effects: [] }), ok({ effects: [] })]);
    expect(new Set(ids).size).toBe(2);
    link.cell.disconnect("a", "end of the test");
    expect((await closed).reason).toBe("end of the test");
  });

  it("a tunnel that nothing asked for, or that another agent was asked for: ended", async () => {
    const open = (tunnelId: string) => tunnelFrameCodec.encode(create(TunnelFrameSchema, { frame: { case: "open", value: { tunnelId } } }));
    for (const first of [open("1-1-1"), Buffer.from([0xff]), tunnelFrameCodec.encode(create(TunnelFrameSchema, {}))]) {
      const closed = await call(certificate("c/a"), (stream) => stream.write(first), "tunnel");
      expect(closed.kind).toBe("gone");
    }
    const late = await call(certificate("c/a"), () => {}, "tunnel");
    expect(late.reason).toBe("the first frame is late");
    link.revoked.add("a");
    expect((await call(certificate("c/a"), () => {}, "tunnel")).reason).toBe("the certificate is revoked");
    link.revoked.delete("a");
  });

  it("more connections than the limit: the next ones get the reason", async () => {
    const small = new SocketLink();
    await small.startCell({ limits: { connections: 2 } });
    for (const name of ["a", "b"]) {
      small.startAgent(name);
      await small.connected(name);
    }
    const reason = await new Promise((resolve) => {
      const logger = createLogger((level, _message, fields) => level === "warn" && resolve(fields["reason"]));
      small.startAgent("c", { logger });
    });
    expect(reason).toBe("the cell has 2 connections, its limit; try again later");
    await small.close();
  });
});
