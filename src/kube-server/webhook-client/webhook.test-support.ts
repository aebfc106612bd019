/** A webhook in this process, over HTTPS, with responses that a test sets. Only for tests. */
import { createServer, type Server } from "node:https";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expectOk, reveal, systemClock } from "#base";
import type { Json, JsonObject } from "#kube";
import { createCertificateAuthority, issueCertificate } from "#pki";

export type ReceivedRequest = { readonly path: string; readonly headers: IncomingMessage["headers"]; readonly text: string };
export type Reply = {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | JsonObject;
  /** No response until the caller gives up. */
  readonly silent?: true;
  /** The connection is cut: at once, or in the middle of the response. */
  readonly cut?: "at once" | "in the middle";
};

export type TestWebhook = {
  readonly url: string;
  readonly port: number;
  /** As a configuration has it: base64 of PEM. */
  readonly caBundle: string;
  readonly received: ReceivedRequest[];
  answer: (received: ReceivedRequest) => Reply;
  readonly close: () => Promise<void>;
};

export type Names = { readonly dnsNames?: readonly string[]; readonly ipAddresses?: readonly string[] };

export async function startWebhook(
  answer: TestWebhook["answer"],
  { dnsNames = [], ipAddresses = ["127.0.0.1"] }: Names = {},
): Promise<TestWebhook> {
  const now = systemClock.now();
  const valid = { notBefore: new Date(now - 60_000), notAfter: new Date(now + 3_600_000) };
  const authority = expectOk(createCertificateAuthority({ commonName: "webhook-ca", ...valid }));
  const serving = expectOk(issueCertificate(authority, { commonName: "webhook", dnsNames, ipAddresses, usages: ["server"], ...valid }));
  const server = createServer({ key: reveal(serving.key), cert: serving.certificate });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const webhook: TestWebhook = {
    url: `https://127.0.0.1:${port}`,
    port,
    caBundle: Buffer.from(authority.certificate).toString("base64"),
    received: [],
    answer,
    close: () => stop(server),
  };
  server.on("request", (request: IncomingMessage, response: ServerResponse) => listen(webhook, request, response));
  return webhook;
}

function stop(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

function listen(webhook: TestWebhook, request: IncomingMessage, response: ServerResponse): void {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    const received = { path: request.url ?? "", headers: request.headers, text: Buffer.concat(chunks).toString("utf8") };
    webhook.received.push(received);
    send(webhook.answer(received), response);
  });
}

function send({ status = 200, headers = {}, body = "", silent, cut }: Reply, response: ServerResponse): void {
  if (silent === true) return;
  if (cut === "at once") return void response.socket?.destroy();
  response.writeHead(status, { "content-type": "application/json", ...headers });
  if (cut === "in the middle") return void response.write('{"half', () => response.socket?.destroy());
  response.end(typeof body === "string" ? body : JSON.stringify(body));
}

/** The `request` of the review that was sent. */
export function requestOf(received: ReceivedRequest | undefined): { readonly [field: string]: Json } & { readonly uid: string } {
  return (JSON.parse(received?.text ?? "{}") as { request: { readonly [field: string]: Json } & { readonly uid: string } }).request;
}
