/** Cells and agents that break the protocol: the other end refuses, and nothing that was not asked for leaves it. */
import { create } from "@bufbuild/protobuf";
import { afterEach, describe, expect, test } from "vitest";
import { createLogger, FakeClock, systemClock } from "#base";
import { authority, http1Server, stopAll, until } from "../../../test/builders/loopback-servers.ts";
import { tunnelPair } from "../../../test/builders/tunnel-frames.ts";
import { TunnelFrameSchema, type TunnelFrame } from "../protocol/generated/agent_pb.ts";
import { requestThroughTunnel, serveTunnel, type TunnelTarget } from "./index.ts";

afterEach(stopAll);

const logger = createLogger(() => {});
type Content = Exclude<TunnelFrame["frame"], { case: undefined }>;
type Header = { readonly name: string; readonly value: string };

const frame = (content: unknown): TunnelFrame => create(TunnelFrameSchema, { frame: content as Content });
const requestHead = (more: { method?: string; path?: string; headers?: readonly Header[] } = {}) =>
  frame({ case: "requestHead", value: { method: "POST", path: "/", headers: [], ...more } });
const responseHead = (status: number, headers: readonly Header[] = []) => frame({ case: "responseHead", value: { status, headers } });
const data = (size: number) => frame({ case: "data", value: Buffer.alloc(size, "x") });
const end = () => frame({ case: "end", value: {} });

/** What the agent sends in response to these frames, and the requests that were complete at the API server. */
async function fromCell(frames: readonly TunnelFrame[], target: Partial<TunnelTarget> = {}) {
  const complete: (string | undefined)[] = [];
  const server = await http1Server((request, response) => {
    request.resume().on("error", () => {});
    request.on("end", () => {
      complete.push(request.url);
      response.end("ok");
    });
  });
  const pair = tunnelPair(16);
  const all: TunnelTarget = {
    url: `https://127.0.0.1:${server.port}`,
    ca: authority.certificate,
    authorization: async () => undefined,
    ...target,
  };
  const serving = serveTunnel(pair.agent, all, { clock: systemClock, logger });
  for (const one of frames) await pair.cell.write(one);
  const received: TunnelFrame["frame"][] = [];
  for await (const one of pair.cell.read) {
    received.push(one.frame);
    if (one.frame.case === "failure" || one.frame.case === "end") break;
  }
  pair.cell.end();
  await serving;
  const last = received.at(-1);
  return { complete, failure: last?.case === "failure" ? last.value.message : undefined };
}

describe("a cell", () => {
  test("that keeps to the protocol is served", async () => {
    expect(await fromCell([requestHead(), data(5), end()])).toEqual({ complete: ["/"], failure: undefined });
  });

  const length = (value: string) => [{ name: "content-length", value }];
  test.each([
    { name: "no head", frames: [data(1)], failure: "the first frame of a cell must be the head of a request" },
    { name: "an empty frame", frames: [create(TunnelFrameSchema)], failure: "the first frame" },
    { name: "a path that leaves the root", frames: [requestHead({ path: "/../x" })], failure: "the path has a segment" },
    { name: "an absolute address", frames: [requestHead({ path: "http://169.254.169.254/" })], failure: "must begin with /" },
    { name: "a line break in the method", frames: [requestHead({ method: "GET /\r\n" })], failure: "the method" },
    {
      name: "a line break in a header",
      frames: [requestHead({ headers: [{ name: "x", value: "a\r\nb: c" }] })],
      failure: "invalid character",
    },
    {
      name: "a body longer than declared",
      frames: [requestHead({ headers: length("5") }), data(6)],
      failure: "longer than its declared length",
    },
    {
      name: "a body shorter than declared",
      frames: [requestHead({ headers: length("5") }), data(4), end()],
      failure: "shorter than its declared length",
    },
    {
      name: "a body where none was declared",
      frames: [requestHead({ headers: length("0") }), data(1)],
      failure: "longer than its declared length",
    },
    { name: "a second head", frames: [requestHead({ headers: length("5") }), requestHead()], failure: "unexpected frame" },
    { name: "a frame that is too large", frames: [requestHead({ headers: length("99999") }), data(65_537)], failure: "too large" },
    {
      name: "bytes before an Upgrade is accepted",
      frames: [requestHead({ method: "GET", headers: [{ name: "upgrade", value: "websocket" }] }), data(1)],
      failure: "unexpected frame",
    },
  ])("with $name is refused, and no request is complete", async ({ frames, failure }) => {
    const outcome = await fromCell(frames);
    expect(outcome.failure).toContain(failure);
    expect(outcome.complete.length === 0 || frames.length === 2).toBe(true);
  });

  test("with frames after the end is refused", async () => {
    const held = await http1Server(() => {});
    const outcome = fromCell([requestHead({ method: "GET" }), end(), data(1)], { url: `https://127.0.0.1:${held.port}` });
    expect((await outcome).failure).toBe("The cell sent a frame after the end of its request.");
  });

  test("that sends no head is refused after ten seconds", async () => {
    const clock = new FakeClock();
    const pair = tunnelPair();
    const target: TunnelTarget = { url: "https://127.0.0.1:1", ca: "", authorization: async () => undefined };
    const serving = serveTunnel(pair.agent, target, { clock, logger });
    await clock.advance(10_000);
    await serving;
    const { value } = (await pair.cell.read[Symbol.asyncIterator]().next()) as { value: TunnelFrame };
    expect(value.frame).toMatchObject({ case: "failure" });
    await clock.advance(0);
    expect(clock.pending).toBe(0);
  });

  test("that does not complete the call is cancelled after ten seconds", async () => {
    const clock = new FakeClock();
    const server = await http1Server((_request, response) => void response.end("ok"));
    const pair = tunnelPair(16);
    const target: TunnelTarget = {
      url: `https://127.0.0.1:${server.port}`,
      ca: authority.certificate,
      authorization: async () => undefined,
    };
    const serving = serveTunnel(pair.agent, target, { clock, logger });
    await pair.cell.write(requestHead());
    await pair.cell.write(end());
    let last: string | undefined;
    for await (const one of pair.cell.read) {
      last = one.frame.case;
      if (last === "end") break;
    }
    await until(() => clock.pending > 0);
    await clock.advance(10_000);
    await serving;
    expect(pair.cancelled).toEqual(["the cell has not completed the call"]);
  });

  test("that cancels a watch is not waited for, although writes to a cancelled call of gRPC never settle", async () => {
    const server = await http1Server((_request, response) => void response.write("event"));
    const pair = tunnelPair(16);
    const write = (one: TunnelFrame) => (pair.cancelled.length > 0 ? new Promise<void>(() => {}) : pair.agent.write(one));
    const target: TunnelTarget = {
      url: `https://127.0.0.1:${server.port}`,
      ca: authority.certificate,
      authorization: async () => undefined,
    };
    const serving = serveTunnel({ ...pair.agent, write }, target, { clock: new FakeClock(), logger });
    await pair.cell.write(requestHead({ method: "GET" }));
    await pair.cell.write(end());
    for await (const one of pair.cell.read) if (one.frame.case === "data") break;
    pair.cell.cancel("gone");
    await serving;
    await until(() => server.sockets.size === 0);
  });

  test("that cancels before the body is known ends the tunnel", async () => {
    const pair = tunnelPair(16);
    const target: TunnelTarget = { url: "https://127.0.0.1:1", ca: "", authorization: async () => undefined };
    const serving = serveTunnel(pair.agent, target, { clock: systemClock, logger });
    await pair.cell.write(requestHead());
    await new Promise((resolve) => setImmediate(resolve));
    pair.cell.cancel("gone");
    await serving;
  });
});

/** The response that the cell takes from these frames. */
async function fromAgent(frames: readonly TunnelFrame[], method = "GET", upgrade = false) {
  const pair = tunnelPair(16);
  const headers = upgrade ? [["upgrade", "websocket"] as const] : [];
  const asked = requestThroughTunnel(pair.cell, { method, path: "/", headers, upgrade }, new AbortController().signal);
  for (const one of frames) await pair.agent.write(one);
  pair.agent.end();
  const answer = await asked;
  if (!answer.ok) return { error: answer.error.message, bytes: 0, pair };
  let bytes = 0;
  for await (const piece of answer.value.body) {
    if (!piece.ok) return { error: piece.error, bytes, pair };
    bytes += piece.value.byteLength;
  }
  return { error: undefined, bytes, pair };
}

describe("an agent", () => {
  test("that keeps to the protocol is read to its end", async () => {
    const { pair, ...outcome } = await fromAgent([responseHead(200), data(3), data(4), end()]);
    expect(outcome).toEqual({ error: undefined, bytes: 7 });
    expect(pair.cancelled).toEqual([]);
  });

  const length = (value: string) => [{ name: "content-length", value }];
  test.each([
    { name: "nothing", frames: [], error: "The agent closed the tunnel before the end of the response." },
    { name: "a failure", frames: [frame({ case: "failure", value: { message: "No\r\nway." } })], error: "No way." },
    {
      name: "a failure without a reason",
      frames: [frame({ case: "failure", value: { message: "" } })],
      error: "The request failed without a reason.",
    },
    { name: "data first", frames: [data(1)], error: "The agent sent an unexpected frame." },
    { name: "a status of 99", frames: [responseHead(99)], error: "its status is invalid" },
    { name: "a status of 600", frames: [responseHead(600)], error: "its status is invalid" },
    { name: "an interim status", frames: [responseHead(100)], error: "its status is invalid" },
    { name: "an Upgrade that was not asked for", frames: [responseHead(101)], error: "changes the protocol" },
    {
      name: "a header with a line break",
      frames: [responseHead(200, [{ name: "x", value: "a\r\nset-cookie: b" }])],
      error: "invalid character",
    },
    { name: "two lengths", frames: [responseHead(200, [...length("1"), ...length("2")])], error: "content-length is invalid" },
    { name: "no end", frames: [responseHead(200), data(1)], error: "before the end of the response" },
    {
      name: "a failure within the body",
      frames: [responseHead(200), data(1), frame({ case: "failure", value: { message: "Broken." } })],
      error: "Broken.",
    },
    {
      name: "more bytes than declared",
      frames: [responseHead(200, length("2")), data(3), end()],
      error: "longer than its declared length",
    },
    {
      name: "fewer bytes than declared",
      frames: [responseHead(200, length("2")), data(1), end()],
      error: "shorter than its declared length",
    },
    { name: "a body of a 204", frames: [responseHead(204), data(1), end()], error: "longer than its declared length" },
    { name: "a frame that is too large", frames: [responseHead(200), data(65_537)], error: "too large" },
    { name: "a second head", frames: [responseHead(200), responseHead(200)], error: "unexpected frame" },
  ])("with $name is an error", async ({ frames, error }) => {
    const outcome = await fromAgent(frames);
    expect(outcome.error).toContain(error);
    expect(outcome.pair.cancelled).toHaveLength(1);
  });

  test("with a body for HEAD is an error", async () => {
    expect((await fromAgent([responseHead(200, length("1")), data(1), end()], "HEAD")).error).toContain("longer than");
    expect((await fromAgent([responseHead(200, length("1")), end()], "HEAD")).error).toBeUndefined();
  });

  test("that accepts another protocol is an error", async () => {
    expect((await fromAgent([responseHead(101, [{ name: "upgrade", value: "SPDY/3.1" }])], "GET", true)).error).toContain(
      "changes the protocol",
    );
    expect((await fromAgent([responseHead(101, [{ name: "upgrade", value: "WebSocket" }]), end()], "GET", true)).error).toBeUndefined();
  });

  test("whose call breaks while a body is sent ends the request", async () => {
    const pair = tunnelPair(1);
    const endless = async function* () {
      for (;;) yield Buffer.alloc(10);
    };
    const asked = requestThroughTunnel(
      pair.cell,
      { method: "POST", path: "/", headers: [], body: endless() },
      new AbortController().signal,
    );
    await pair.agent.read[Symbol.asyncIterator]().next();
    pair.agent.cancel("agent lost");
    expect(await asked).toMatchObject({ ok: false, error: { kind: "failed" } });
  });
});
