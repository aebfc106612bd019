/** A webhook over HTTPS that misbehaves in every way: each path has its own. It keeps nothing of what it hears. */
import { createServer } from "node:https";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { describeThrown, expectOk, reveal, systemClock } from "#base";
import { fieldAt, type Json, type JsonObject } from "#kube";
import { createCertificateAuthority, issueCertificate } from "#pki";

export type FuzzWebhook = { readonly url: string; /** Base64 of PEM. */ readonly caBundle: string; readonly close: () => Promise<void> };

export type HookPath = "allow" | "deny" | "patch" | "evil-patch" | "bad-patch" | "garbage" | "wrong-uid" | "cut" | "hang" | "fails";

/** "cut" and "hang" are told apart from texts that are said. */
type Says = JsonObject | string;

const patch = (...operations: readonly JsonObject[]): JsonObject => ({
  allowed: true,
  patchType: "JSONPatch",
  patch: Buffer.from(JSON.stringify(operations)).toString("base64"),
});

const SAYS: ReadonlyMap<string, (uid: Json) => Says> = new Map<HookPath, (uid: Json) => Says>([
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
  ["wrong-uid", () => ({ uid: "somebody-else", allowed: true })],
  ["cut", () => "cut"],
  ["hang", () => "hang"],
  ["fails", () => ({ kind: "nothing" })],
]);

export async function startFuzzWebhook(): Promise<FuzzWebhook> {
  const now = systemClock.now();
  // the world's clock runs faster than ours, but OpenSSL reads the system's
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
    reply(response, SAYS.get((request.url ?? "").replace(/^\/|\?.*$/g, ""))?.(fieldAt(review, "request", "uid") ?? ""));
  } catch (thrown) {
    if (!request.destroyed) response.writeHead(500).end(describeThrown(thrown)); // the caller may have given up, and that is all there is to it
  }
}

function reply(response: ServerResponse, says: Says | undefined): void {
  if (says === "hang") return;
  if (says === "cut") return void response.socket?.destroy();
  response.writeHead(says === undefined ? 404 : 200, { "content-type": "application/json" });
  if (typeof says === "string") return void response.end(says);
  response.end(JSON.stringify({ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", response: says ?? {} }));
}
