/** How requests through a tunnel end before their time: watches, cancelled requests, failures of the API server. */
import type { RequestListener } from "node:http";
import { createServer } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import { afterEach, describe, expect, test } from "vitest";
import { expectOk, FakeClock, type Result } from "#base";
import { http1Server, newAuthority, until } from "../../../test/builders/loopback-servers.ts";
import { closeTunnels, readAnswer, tunnelTo, tunnelToServer } from "../../../test/builders/tunnels.ts";

const closing: (() => void)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) close();
  await closeTunnels();
});

const echo: RequestListener = (request, response) => void request.pipe(response);
const failed = (message: string) => ({ ok: false, error: { kind: "failed", message: expect.stringContaining(message) as string } });

describe("a watch", () => {
  test("passes each event at once, and its cancellation ends the request at the API server", async () => {
    let emit = (_text: string) => {};
    let isOpen = false;
    const tunnel = await tunnelToServer((_request, response) => {
      isOpen = true;
      response.once("close", () => (isOpen = false));
      response.flushHeaders();
      emit = (text) => void response.write(text);
    });
    const client = new AbortController();
    const answer = expectOk(await tunnel.call({ path: "/?watch=true" }, client.signal));
    const events = answer.body[Symbol.asyncIterator]();
    for (const text of ["first", "second"]) {
      emit(text);
      const { value } = await events.next();
      expect(Buffer.from(expectOk(value as Result<Uint8Array, string>)).toString()).toBe(text);
    }
    client.abort();
    await until(() => !isOpen && tunnel.open.size === 0);
    expect(tunnel.pairs[0]?.cancelled[0]).toBe("the client has gone");
  });

  test("that the reader leaves ends too", async () => {
    let isOpen = false;
    const tunnel = await tunnelToServer((_request, response) => {
      isOpen = true;
      response.once("close", () => (isOpen = false)).write("x");
    });
    for await (const piece of expectOk(await tunnel.call({})).body) if (piece.ok) break;
    await until(() => !isOpen && tunnel.open.size === 0);
  });

  test("that the API server breaks off is an error, not an end", async () => {
    const tunnel = await tunnelToServer((_request, response) => {
      response.write("part");
      setImmediate(() => response.destroy());
    });
    expect(await readAnswer(await tunnel.call({}))).toEqual({
      status: 200,
      body: Buffer.from("part"),
      error: "The API server closed the connection before the end of its response.",
    });
  });
});

describe("cancelled", () => {
  test("before the request is sent: the API server sees nothing", async () => {
    const server = await http1Server(echo);
    const tunnel = tunnelTo(server.port);
    expect(await tunnel.call({}, AbortSignal.abort())).toMatchObject({ ok: false, error: { kind: "failed" } });
    await until(() => tunnel.open.size === 0);
    expect(server.connections).toBe(0);
  });

  test("while the API server works on the request: it is disconnected", async () => {
    let isOpen = false;
    const tunnel = await tunnelToServer((_request, response) => {
      isOpen = true;
      response.once("close", () => (isOpen = false));
    });
    const client = new AbortController();
    const answer = tunnel.call({}, client.signal);
    await until(() => isOpen);
    client.abort();
    expect(await answer).toMatchObject(failed("The agent closed the tunnel"));
    await until(() => !isOpen && tunnel.open.size === 0);
  });

  test("when the body of the client breaks off: the API server does not see a complete request", async () => {
    let isComplete: boolean | undefined;
    const tunnel = await tunnelToServer((request, response) => {
      request.on("error", () => {}).resume();
      response.once("close", () => (isComplete = request.complete));
    });
    const broken = async function* () {
      yield Buffer.from("{");
      await turn();
      throw new Error("reset");
    };
    expect(await tunnel.call({ method: "POST", body: broken() })).toMatchObject({ ok: false });
    await until(() => tunnel.open.size === 0);
    expect(isComplete).not.toBe(true);
  });
});

describe("a failure is one sentence", () => {
  test.each([
    { name: "no API server", target: { url: "https://127.0.0.1:1" }, message: "The API server cannot be reached (ECONNREFUSED)." },
    {
      name: "another authority",
      target: { ca: newAuthority("other").certificate },
      message: "The certificate of the API server is not trusted",
    },
    {
      name: "no credential",
      target: { authorization: () => Promise.reject(new Error("file")) },
      message: "The agent has no credential for the API server.",
    },
    { name: "plain HTTP", target: { url: "http://127.0.0.1:1" }, message: "The agent is not configured correctly" },
    { name: "an address with a path", target: { url: "https://127.0.0.1:1/other" }, message: "The agent is not configured correctly" },
  ])("$name", async ({ target, message }) => {
    const server = await http1Server(echo);
    const tunnel = tunnelTo(server.port, target);
    expect(await tunnel.call({})).toMatchObject(failed(message));
    await until(() => tunnel.open.size === 0);
  });

  test("a 401 of the API server is the agent's, not the client's", async () => {
    const tunnel = await tunnelToServer((_request, response) => void response.writeHead(401).end("no"));
    expect(await tunnel.call({})).toMatchObject(failed("The API server does not accept the credential of the agent."));
  });

  test("an API server that closes the connection without a response", async () => {
    const tunnel = await tunnelToServer((request) => void request.socket.end());
    expect(await tunnel.call({ method: "POST" })).toMatchObject(failed("The API server cannot be reached (ECONNRESET)."));
  });

  test("an API server that does not complete the handshake", async () => {
    const clock = new FakeClock();
    const silent = createServer(() => {});
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    closing.push(() => silent.close());
    const address = silent.address();
    const tunnel = tunnelTo(typeof address === "object" ? (address?.port ?? 0) : 0, {}, { clock });
    const answer = tunnel.call({});
    await until(() => clock.pending > 0);
    for (let wait = 0; wait < 20; wait += 1) await turn();
    await clock.advance(10_000);
    expect(await answer).toMatchObject(failed("The API server cannot be reached (ETIMEDOUT)."));
    await until(() => tunnel.open.size === 0);
    expect(clock.pending).toBe(0);
  });

  test("an invalid request is not sent", async () => {
    const server = await http1Server(echo);
    const tunnel = tunnelTo(server.port);
    expect(await tunnel.call({ path: "/../x" })).toEqual({
      ok: false,
      error: { kind: "invalid", message: "the path has a segment . or .." },
    });
    await until(() => tunnel.open.size === 0);
    expect(server.connections).toBe(0);
  });
});
