/** A minimal webhook over HTTPS: it reads the review and allows it, or adds a label. */
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { expectOk, reveal, systemClock } from "#base";
import { certificateFor } from "#kube-server";

export type BenchWebhook = { readonly url: string; /** Base64 of PEM. */ readonly caBundle: string; readonly close: () => Promise<void> };

const LABEL = Buffer.from(JSON.stringify([{ op: "add", path: "/metadata/labels/touched", value: "yes" }])).toString("base64");

export async function startBenchWebhook(): Promise<BenchWebhook> {
  const certificate = expectOk(certificateFor("127.0.0.1", systemClock));
  const server = createServer({ key: reveal(certificate.server.key), cert: certificate.server.certificate }, (request, response) => {
    const answer = async () => {
      const review = await json(request);
      const { uid } = (review as { readonly request: { readonly uid: string } }).request;
      const change = request.url?.startsWith("/mutating") === true ? { patchType: "JSONPatch", patch: LABEL } : {};
      response.setHeader("content-type", "application/json");
      response.end(
        JSON.stringify({ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", response: { uid, allowed: true, ...change } }),
      );
    };
    void answer();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { url: `https://127.0.0.1:${port}`, caBundle: Buffer.from(certificate.authority).toString("base64"), close };
}
