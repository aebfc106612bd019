/** An HTTPS server that returns the request body: the baseline of Node, where there is no Kubernetes to compare with. */
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { expectOk, reveal } from "#base";
import { createCertificateAuthority, issueCertificate } from "#pki";
import type { Target } from "./api-load.ts";

export async function startEcho(): Promise<{ readonly target: Target; readonly stop: () => Promise<void> }> {
  const period = { notBefore: new Date(Date.now() - 3_600_000), notAfter: new Date(Date.now() + 3_600_000) };
  const authority = expectOk(createCertificateAuthority({ commonName: "bench", ...period }));
  const issued = expectOk(
    issueCertificate(authority, { commonName: "echo", usages: ["server"], ipAddresses: ["127.0.0.1"], dnsNames: [], ...period }),
  );
  const server = createServer({ cert: issued.certificate, key: reveal(issued.key) }, (request, response) => request.pipe(response));
  await new Promise<void>((resolve) => server.listen({ host: "127.0.0.1", port: 0 }, resolve));
  const { port } = server.address() as AddressInfo;
  const stop = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { target: { url: `https://127.0.0.1:${port}`, caPem: authority.certificate, token: "any" }, stop };
}
