/** Calls over real sockets: the request that is sent, the response that is accepted, and the messages of failures. */
import { createServer as createPlainServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { err, expectOk, FakeClock, ok, systemClock, type Clock, type Result } from "#base";
import { readClientConfig } from "./client-config.ts";
import { startWebhook, type Reply, type TestWebhook } from "./webhook.test-support.ts";
import { WebhookClients } from "./webhook-client.ts";
import type { ResolveService } from "../protocol/resolve-service.ts";

let webhook: TestWebhook;
let closing: AbortController;

beforeEach(async () => {
  closing = new AbortController();
  webhook = await startWebhook(() => ({ body: { fine: true } }));
});

afterEach(async () => {
  closing.abort();
  await webhook.close();
});

function clients(clock: Clock = systemClock, resolveService: ResolveService = () => err("no services here")): WebhookClients {
  return new WebhookClients({ clock, closing: closing.signal, resolveService });
}

function post(
  config: object,
  more: { readonly clients?: WebhookClients; readonly seconds?: number } = {},
): Promise<Result<Buffer, string>> {
  return (more.clients ?? clients()).post(readClientConfig({ caBundle: webhook.caBundle, ...config }), '{"asked":1}\n', more.seconds ?? 5);
}

describe("a call", () => {
  test("sends its timeout, its content types and its user agent", async () => {
    expect(expectOk(await post({ url: `${webhook.url}/a//b/` })).toString()).toBe('{"fine":true}');
    expect(webhook.received).toMatchObject([
      {
        path: "/a/b?timeout=5s",
        text: '{"asked":1}\n',
        headers: {
          accept: "application/json, */*",
          "content-type": "application/json",
          "user-agent": "kube-apiserver-admission",
          host: `127.0.0.1:${webhook.port}`,
        },
      },
    ]);
  });

  test("reuses the connection of the previous call, and opens another when that was closed", async () => {
    const shared = clients();
    // a connection is free again only after its response was read to the end
    const settled = () => new Promise(setImmediate);
    await post({ url: webhook.url }, { clients: shared });
    await settled();
    webhook.answer = () => (webhook.received.length === 2 ? { cut: "at once" } : { body: { fine: true } });
    expect((await post({ url: webhook.url }, { clients: shared })).ok).toBe(true);
    await settled();
    webhook.answer = () => ({ cut: "at once" });
    expect((await post({ url: webhook.url }, { clients: shared })).ok).toBe(false);
    expect(webhook.received).toHaveLength(5);
  });

  test("reaches a service at its address and verifies its name in the certificate", async () => {
    const service = await startWebhook(() => ({ body: { fine: true } }), { dnsNames: ["hook.default.svc"], ipAddresses: [] });
    const resolved = clients(systemClock, () => ok({ host: "127.0.0.1", port: service.port }));
    const config = { caBundle: service.caBundle, service: { namespace: "default", name: "hook", path: "/x" } };
    expect((await post(config, { clients: resolved })).ok).toBe(true);
    expect(service.received).toMatchObject([{ path: "/x?timeout=5s", headers: { host: "hook.default.svc:443" } }]);
    await service.close();
  });
});

describe("a response with Retry-After", () => {
  test("repeats the call after the pause", async () => {
    const clock = new FakeClock();
    webhook.answer = () => (webhook.received.length === 1 ? { status: 503, headers: { "retry-after": "2" } } : { body: { fine: true } });
    const posted = post({ url: webhook.url }, { clients: clients(clock) });
    while (webhook.received.length < 2) await clock.advance(100);
    expect((await posted).ok).toBe(true);
    expect(clock.pending).toBe(0);
  });

  test.each([
    { name: "does not extend the deadline", headers: { "retry-after": "60" }, want: "context deadline exceeded" },
    {
      name: "that is no number is ignored",
      headers: { "retry-after": "soon" },
      want: "the server is currently unable to handle the request",
    },
  ])("$name", async ({ headers, want }) => {
    const clock = new FakeClock();
    webhook.answer = () => ({ status: 503, headers });
    let done = false;
    const posted = post({ url: webhook.url }, { clients: clients(clock) }).finally(() => (done = true));
    while (!done) await clock.advance(500);
    expect(await posted).toMatchObject({ ok: false, error: expect.stringContaining(want) });
  });
});

describe("a call fails when", () => {
  const refused = (problem: string, path = "/x") => ({ ok: false, error: `Post "${webhook.url}${path}?timeout=5s": ${problem}` });

  test("no server listens", async () => {
    await expect(post({ url: "https://127.0.0.1:1/x" })).resolves.toEqual(
      err('Post "https://127.0.0.1:1/x?timeout=5s": dial tcp 127.0.0.1:1: connect: connection refused'),
    );
  });
  test("the certificate is of another authority", async () => {
    expect(await post({ url: `${webhook.url}/x`, caBundle: "" })).toEqual(
      refused("tls: failed to verify certificate: x509: certificate signed by unknown authority"),
    );
  });
  test("the certificate is for another name", async () => {
    const named = await startWebhook(() => ({}), { dnsNames: ["a.example", "b.example"], ipAddresses: [] });
    const at = (host: string) => post({ url: `https://${host}:${named.port}/`, caBundle: named.caBundle });
    expect(await at("127.0.0.1")).toMatchObject({ error: expect.stringContaining("because it doesn't contain any IP SANs") });
    expect(await at("localhost")).toMatchObject({
      error: expect.stringContaining("x509: certificate is valid for a.example, b.example, not localhost"),
    });
    await named.close();
  });
  test("the server does not use HTTPS", async () => {
    const plain = createPlainServer();
    await new Promise<void>((resolve) => plain.listen(0, "127.0.0.1", resolve));
    const { port } = plain.address() as AddressInfo;
    expect(await post({ url: `https://127.0.0.1:${port}/` })).toMatchObject({
      error: expect.stringContaining("http: server gave HTTP response to HTTPS client"),
    });
    await new Promise((resolve) => plain.close(resolve));
  });
  test("a service cannot be found, or no URL is given", async () => {
    const config = { service: { namespace: "default", name: "hook" } };
    expect(await post(config)).toEqual(err('Post "https://hook.default.svc:443/?timeout=5s": no services here'));
    expect(await post({})).toMatchObject({ ok: false });
  });
  test("the connection is cut", async () => {
    webhook.answer = () => ({ cut: "at once" });
    expect(await post({ url: `${webhook.url}/x` })).toEqual(refused("EOF"));
    webhook.answer = () => ({ cut: "in the middle" });
    expect(await post({ url: `${webhook.url}/x` })).toEqual(
      err("unexpected error when reading response body. Please retry. Original error: unexpected EOF"),
    );
  });
  test("it takes too long", async () => {
    const clock = new FakeClock();
    webhook.answer = () => ({ silent: true });
    const posted = post({ url: `${webhook.url}/x` }, { clients: clients(clock) });
    while (webhook.received.length === 0) await clock.advance(0);
    await clock.advance(5_000);
    expect(await posted).toEqual(refused("context deadline exceeded"));
    expect(clock.pending).toBe(0);
  });
  test("the server closes", async () => {
    webhook.answer = () => ({ silent: true });
    const shared = clients(new FakeClock());
    const posted = post({ url: `${webhook.url}/x` }, { clients: shared });
    while (webhook.received.length === 0) await new Promise(setImmediate);
    closing.abort();
    expect(await posted).toEqual(refused("context canceled"));
    expect(await post({ url: `${webhook.url}/x` }, { clients: shared })).toEqual(refused("context canceled"));
  });
});

describe("a response", () => {
  const rows: readonly { readonly name: string; readonly given: Reply; readonly want: string | undefined }[] = [
    { name: "of any success is read", given: { status: 206, body: "x" }, want: undefined },
    { name: "without a content type is read", given: { headers: { "content-type": "" }, body: "x" }, want: undefined },
    {
      name: "that is empty is an error",
      given: { status: 204 },
      want: "0-length response with status code: 204 and content type: application/json",
    },
    {
      name: "that redirects is not followed",
      given: { status: 307, headers: { location: "https://127.0.0.1:1/" } },
      want: "the server responded with the status code 307 but did not return more information",
    },
    {
      name: "with a malformed content type is not read",
      given: { headers: { "content-type": ";" }, body: "x" },
      want: "Internal error occurred: mime: no media type",
    },
    {
      name: "of 404 has the message for its status",
      given: { status: 404, body: "gone" },
      want: "the server could not find the requested resource",
    },
    {
      name: "of 403 has its text as message",
      given: { status: 403, headers: { "content-type": "text/plain" }, body: " no \n" },
      want: "no",
    },
    {
      name: "of 500 quotes its text",
      given: { status: 500, headers: { "content-type": "text/plain" }, body: 'a "b"' },
      want: 'an error on the server ("a \\"b\\"") has prevented the request from succeeding',
    },
    {
      name: "of 500 in JSON is not quoted",
      given: { status: 500, body: { a: 1 } },
      want: 'an error on the server ("unknown") has prevented the request from succeeding',
    },
    {
      name: "that is a Status has its message",
      given: { status: 500, body: { kind: "Status", apiVersion: "v1", status: "Failure", message: "boom" } },
      want: "boom",
    },
  ];
  test.each(rows)("$name", async ({ given, want }) => {
    webhook.answer = () => given;
    const posted = await post({ url: webhook.url });
    expect(posted.ok ? undefined : posted.error).toBe(want);
  });
});

test("the number of kept connections is limited", async () => {
  const shared = clients();
  await post({ url: webhook.url }, { clients: shared });
  for (let place = 0; place < 201; place += 1) await post({ url: `https://127.0.0.1:1/`, caBundle: btoa(`${place}`) }, { clients: shared });
  expect((await post({ url: webhook.url }, { clients: shared })).ok).toBe(true);
});
