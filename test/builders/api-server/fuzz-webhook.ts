/** A webhook over HTTPS with one kind of misbehaviour per path. It stores no requests. */
import { createServer } from "node:https";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { describeThrown, expectOk, reveal, systemClock } from "#base";
import { fieldAt, type Json, type JsonObject } from "#kube";
import { createCertificateAuthority, issueCertificate } from "#pki";

export type FuzzWebhook = { readonly url: string; /** Base64 of PEM. */ readonly caBundle: string; readonly close: () => Promise<void> };

export type HookPath = "allow" | "deny" | "patch" | "evil-patch" | "bad-patch" | "garbage" | "wrong-uid" | "cut" | "hang" | "fails";

/** An AdmissionResponse, or a text: "cut" and "hang" are behaviours, any other text is sent as it is. */
type HookResponse = JsonObject | string;

const patch = (...operations: readonly JsonObject[]): JsonObject => ({
  allowed: true,
  patchType: "JSONPatch",
  patch: Buffer.from(JSON.stringify(operations)).toString("base64"),
});

const RESPONSES: ReadonlyMap<string, (uid: Json) => HookResponse> = new Map<HookPath, (uid: Json) => HookResponse>([
  ["allow", (uid) => ({ uid, allowed: true, warnings: ["careful", "x\u0000\n".repeat(50)] })],
  ["deny", (uid) => ({ uid, allowed: false, status: { code: 418, message: "no" } })],
  ["patch", (uid) => ({ uid, ...patch({ op: "add", path: "/metadata/annotations", value: { patched: "yes" } }) })],
  [
    "evil-patch",
    (uid) => ({
      uid,
      ...patch(
        { op: "add", path: "/__proto__/polluted", value: true },
        { op: "add", path: "/constructor/prototype/polluted", value: true },
      ),
    }),
  ],
  ["bad-patch", (uid) => ({ uid, allowed: true, patchType: "JSONPatch", patch: "bm90IGpzb24=" })],
  ["garbage", () => "\u0000{]"],
  ["wrong-uid", () => ({ uid: "another-uid", allowed: true })],
  ["cut", () => "cut"],
  ["hang", () => "hang"],
  ["fails", () => ({ kind: "nothing" })],
]);

export async function startFuzzWebhook(): Promise<FuzzWebhook> {
  const now = systemClock.now();
  // OpenSSL reads the system's clock, not the faster clock of the world
  const valid = { notBefore: new Date(now - 3_600_000), notAfter: new Date(now + 86_400_000) };
  const authority = expectOk(createCertificateAuthority({ commonName: "fuzz-webhook", ...valid }));
  const serving = expectOk(
    issueCertificate(authority, { commonName: "webhook", ipAddresses: ["127.0.0.1"], usages: ["server"], ...valid }),
  );
  const server = createServer(
    { key: reveal(serving.key), cert: serving.certificate },
    (request, response) => void answer(request, response),
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `https://127.0.0.1:${port}`,
    caBundle: Buffer.from(authority.certificate).toString("base64"),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    const review = (await json(request)) as Json;
    reply(response, RESPONSES.get((request.url ?? "").replace(/^\/|\?.*$/g, ""))?.(fieldAt(review, "request", "uid") ?? ""));
  } catch (thrown) {
    if (!request.destroyed) response.writeHead(500).end(describeThrown(thrown)); // the caller may have disconnected
  }
}

function reply(response: ServerResponse, hookResponse: HookResponse | undefined): void {
  if (hookResponse === "hang") return;
  if (hookResponse === "cut") return void response.socket?.destroy();
  response.writeHead(hookResponse === undefined ? 404 : 200, { "content-type": "application/json" });
  if (typeof hookResponse === "string") return void response.end(hookResponse);
  response.end(JSON.stringify({ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", response: hookResponse ?? {} }));
}
