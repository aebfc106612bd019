import { create } from "@bufbuild/protobuf";
import { afterEach, describe, expect, it } from "vitest";
import { createLogger, expectOk, ok, sensitive, systemClock } from "#base";
import { TunnelFrameSchema, type TunnelFrame } from "../protocol/generated/agent_pb.ts";
import type { TunnelFrames } from "../tunnel/tunnel-types.ts";
import type { AgentCredentials, AgentLinkOptions } from "./agent-types.ts";
import { clientCertificate, newAuthority, serving, SocketLink } from "./socket-link.test-support.ts";

const links: SocketLink[] = [];
const never = new AbortController().signal;

function newLink(): SocketLink {
  const link = new SocketLink();
  links.push(link);
  return link;
}

afterEach(async () => {
  for (const link of links.splice(0)) await link.close();
});

function data(bytes: Uint8Array): TunnelFrame {
  return create(TunnelFrameSchema, { frame: { case: "data", value: bytes } });
}

async function read(frames: TunnelFrames, onBytes: (bytes: number) => void = () => {}): Promise<number> {
  let total = 0;
  for await (const { frame } of frames.read) {
    if (frame.case !== "data") continue;
    total += frame.value.byteLength;
    onBytes(total);
  }
  return total;
}

describe("cell and agent on sockets", () => {
  it("connect with TLS 1.3 and certificates, and carry commands", async () => {
    const link = newLink();
    await link.startCell();
    const agent = link.startAgent("a");
    await link.connected("a");
    expect(await link.cell.send("a", { kind: "reconcile" }, never)).toEqual(ok({ effects: ["reconciled"] }));
    expect(await link.cell.send("a", { kind: "bootstrap", manifests: new Uint8Array(3_000_000) }, never)).toEqual(ok({ effects: [] }));
    expect(link.cell.agents().get("a")).toMatchObject({ connected: true, bootstrapComplete: true });
    expect(agent.status()).toMatchObject({ connected: true, protocol: 1 });
    await agent.close();
    await link.until(() => link.cell.agents().get("a")?.connected === false);
    expect(link.cell.agents().get("a")?.lastCloseReason).toMatch(/^the agent (disconnected|ended the stream)$/);
  });

  it("find each other again after the cell was stopped and started on the same port", async () => {
    const link = newLink();
    const { port } = await link.startCell();
    const agent = link.startAgent("a", { random: () => 0 });
    await link.connected("a");
    await link.cell.close();
    await link.startCell({ port });
    await link.connected("a");
    expectOk(await link.cell.send("a", { kind: "reconcile" }, never));
    expect(agent.status().connected).toBe(true);
  });

  it("replace certificates and authorities without an end of streams", async () => {
    const link = newLink();
    await link.startCell();
    const successor = newAuthority("cell c, second");
    const both = link.authority.certificate + successor.certificate;
    const bundle = new Promise<string>((resolve) => {
      link.startAgent("a", {
        onTrustBundle(trustBundle) {
          resolve(trustBundle);
          return Promise.resolve(ok(undefined));
        },
      });
    });
    await link.connected("a");
    const since = link.cell.agents().get("a")?.connectedSince;
    expect(link.cell.reloadTls({ ...serving(successor), trustBundle: both })).toEqual(ok(undefined));
    expect(await bundle).toBe(both);
    const credentials = { ...clientCertificate(successor, "c/b"), trustBundle: both };
    link.startAgent("b", { credentials: () => credentials });
    await link.connected("b");
    expect(await link.cell.send("a", { kind: "reconcile" }, never)).toEqual(ok({ effects: ["reconciled"] }));
    expect(link.cell.agents().get("a")?.connectedSince).toBe(since);
    expect(link.cell.reloadTls({ ...serving(successor), certificate: "nonsense", trustBundle: both })).toMatchObject({ ok: false });
  });

  it("renew a certificate: the agent connects with the new one, and a tunnel of the old connection goes on", async () => {
    const link = newLink();
    const fresh = clientCertificate(link.authority, "c/a");
    await link.startCell({ renew: () => Promise.resolve(ok({ certificate: fresh.certificate, trustBundle: link.authority.certificate })) });
    let credentials: AgentCredentials = link.credentials("c/a");
    let isDue = false;
    let served: TunnelFrames | undefined;
    link.startAgent("a", {
      // a second heartbeat soon after the first, so that the renewal starts
      clock: { ...systemClock, after: (ms, callback) => systemClock.after(ms > 25_000 ? 20 : ms, callback) },
      credentials: () => credentials,
      renewal: { due: () => isDue, request: () => ok({ csr: "CSR", key: fresh.key }) },
      onRenewed(next) {
        isDue = false;
        credentials = next;
        return Promise.resolve(ok(undefined));
      },
      async serveTunnel(frames) {
        served = frames;
        for await (const frame of frames.read) await frames.write(frame);
      },
    });
    await link.connected("a");
    const tunnel = expectOk(await link.cell.openTunnel("a", never));
    const since = link.cell.agents().get("a")?.connectedSince ?? 0;
    isDue = true;
    await link.until(() => (link.cell.agents().get("a")?.connectedSince ?? 0) > since);
    expect(credentials.certificate).toBe(fresh.certificate);
    await tunnel.write(data(Uint8Array.of(1, 2, 3)));
    const first = await tunnel.read[Symbol.asyncIterator]().next();
    expect(first.value?.frame.value).toEqual(Uint8Array.of(1, 2, 3));
    expect(served).toBeDefined();
    tunnel.end();
  });

  it("disconnect an agent with its tunnels", async () => {
    const link = newLink();
    await link.startCell();
    link.startAgent("a", { serveTunnel: async (frames) => void (await read(frames)) });
    await link.connected("a");
    const tunnel = expectOk(await link.cell.openTunnel("a", never));
    link.revoked.add("a");
    link.cell.disconnect("a", "the certificate was revoked");
    expect(link.cell.agents().get("a")).toMatchObject({ connected: false, lastCloseReason: "the certificate was revoked" });
    expect(await read(tunnel)).toBe(0); // ends when the connection is destroyed
    link.cell.forget("a", "the cluster was deleted");
    expect(link.cell.agents().size).toBe(0);
  });
});

describe("an agent does not connect", () => {
  /** The reason of the first warning. */
  function firstWarning(link: SocketLink, options: Partial<AgentLinkOptions>): Promise<unknown> {
    return new Promise((resolve) => {
      const logger = createLogger((level, _message, fields) => level === "warn" && resolve(fields["reason"]));
      link.startAgent("a", { logger, ...options });
    });
  }

  it("to a server with the name of another cell", async () => {
    const link = newLink();
    await link.startCell({ tls: { ...serving(link.authority, ["d.cell.lattice"]), trustBundle: link.authority.certificate } });
    expect(await firstWarning(link, {})).toContain("c.cell.lattice");
    expect(link.cell.agents().size).toBe(0);
  });

  it("to a server without the host of the endpoint", async () => {
    const link = newLink();
    const { port } = await link.startCell();
    expect(await firstWarning(link, { endpoint: `localhost:${port}` })).toContain("localhost");
  });

  it("to a server of another authority", async () => {
    const link = newLink();
    await link.startCell();
    const credentials = { ...link.credentials("c/a"), trustBundle: newAuthority().certificate };
    expect(await firstWarning(link, { credentials: () => credentials })).toMatch(/certificate/);
  });

  it("with credentials that cannot be read, and logs no part of them", async () => {
    const link = newLink();
    await link.startCell();
    const credentials = { ...link.credentials("c/a"), key: sensitive("-----BEGIN PRIVATE KEY-----\nsecret") };
    const want = "the certificate, key or trust bundle of the agent is not readable PEM, or they do not belong together";
    expect(await firstWarning(link, { credentials: () => credentials })).toBe(want);
  });
});

describe("a cell does not start", () => {
  it("on a port that is in use, or with a certificate that cannot be read", async () => {
    const link = newLink();
    const { port } = await link.startCell();
    await expect(link.startCell({ port })).rejects.toThrow(`the cell cannot listen on 127.0.0.1:${port}: listen EADDRINUSE`);
    const tls = { ...serving(link.authority), certificate: "nonsense", trustBundle: "" };
    await expect(link.startCell({ tls })).rejects.toThrow("is not readable PEM");
  });
});

describe("tunnels on sockets", () => {
  const CHUNK = new Uint8Array(64 * 1024).fill(1);
  const CHUNKS = 1_024;

  it("carry 64 MiB in both directions, while heartbeats and commands pass", async () => {
    const link = newLink();
    await link.startCell();
    link.startAgent("a", {
      clock: { ...systemClock, after: (ms, callback) => systemClock.after(ms > 25_000 ? 50 : ms, callback) },
      async serveTunnel(frames) {
        for await (const frame of frames.read) await frames.write(frame);
        frames.end();
      },
    });
    await link.connected("a");
    const tunnel = expectOk(await link.cell.openTunnel("a", never));
    const beats = new Set<number | undefined>();
    let slowest = 0;
    let isDone = false;
    const commands = (async () => {
      while (!isDone) {
        const start = performance.now();
        expectOk(await link.cell.send("a", { kind: "status" }, never));
        slowest = Math.max(slowest, performance.now() - start);
        beats.add(link.cell.agents().get("a")?.lastHeartbeat);
      }
    })();
    let received = 0;
    const reading = (async () => {
      for await (const { frame } of tunnel.read) {
        received += frame.case === "data" ? frame.value.byteLength : 0;
        if (received === CHUNKS * CHUNK.byteLength) break;
      }
    })();
    for (let sent = 0; sent < CHUNKS; sent += 1) await tunnel.write(data(CHUNK));
    await reading;
    isDone = true;
    await commands;
    expect(received).toBe(64 * 1024 * 1024);
    expect(beats.size).toBeGreaterThan(3);
    expect(slowest).toBeLessThan(2_000);
  });

  it("stop a sender whose peer does not read, without effect on the control stream", async () => {
    const link = newLink();
    await link.startCell();
    let sent = 0;
    const stopped = new Promise<void>((resolve) => {
      link.startAgent("a", {
        async serveTunnel(frames) {
          for (; sent < 4 * CHUNKS; sent += 1) await frames.write(data(CHUNK));
          resolve();
        },
      });
    });
    await link.connected("a");
    const tunnel = expectOk(await link.cell.openTunnel("a", never));
    for (let round = 0; round < 50; round += 1) expectOk(await link.cell.send("a", { kind: "reconcile" }, never));
    expect(sent).toBeLessThan(CHUNKS);
    tunnel.cancel("enough");
    await stopped; // writes of an ended tunnel return at once
    expect(await read(tunnel)).toBeLessThanOrEqual(16 * CHUNK.byteLength);
    expectOk(await link.cell.send("a", { kind: "reconcile" }, never));
  });

  it("end for the cell when the agent's half fails, and are counted no longer", async () => {
    const link = newLink();
    await link.startCell();
    link.startAgent("a", { serveTunnel: () => Promise.reject(new Error("no API server")) });
    await link.connected("a");
    for (let round = 0; round < 300; round += 1) {
      const tunnel = expectOk(await link.cell.openTunnel("a", never));
      expect(await read(tunnel)).toBe(0);
    }
    expect(link.logs.some(({ message }) => message === "a tunnel failed")).toBe(true);
  });
});
