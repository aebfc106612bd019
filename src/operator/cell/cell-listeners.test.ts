import { randomBytes } from "node:crypto";
import { createServer, type AddressInfo } from "node:net";
import { connect } from "node:tls";
import { expect, onTestFinished, test } from "vitest";
import { err, expectOk, FakeClock, MetricsRegistry, ok, silentLogger, systemClock } from "#base";
import { startEmbeddedCluster } from "#embedded-cluster";
import { Registrations } from "#http";
import { CellCertificates } from "./cell-certificates.ts";
import { startCellListeners, type CellListenersOptions } from "./cell-listeners.ts";

const DAY_MS = 86_400_000;
const HOME = "lattice-system";

async function setUp(): Promise<CellListenersOptions & { readonly ahead: FakeClock }> {
  const cluster = await startEmbeddedCluster({ objects: [{ apiVersion: "v1", kind: "Namespace", metadata: { name: HOME } }] });
  const ahead = new FakeClock(Date.now());
  const { signal } = new AbortController();
  const certificates = expectOk(
    await CellCertificates.open({ client: cluster.client, home: HOME, cell: "mgmt", host: "127.0.0.1", clock: ahead, signal }),
  );
  const refused = () => err({ kind: "refused" as const, message: "not in this test" });
  const runtime = { clock: systemClock, random: Math.random, logger: silentLogger, metrics: new MetricsRegistry() };
  const registrations = new Registrations({
    ...runtime,
    client: cluster.client,
    namespace: HOME,
    randomBytes: (count) => randomBytes(count),
    signer: { keyHashOf: refused, sign: refused, verifyRenewal: refused },
    manifests: () => Promise.resolve(ok("")),
  });
  await registrations.open(signal);
  onTestFinished(async () => {
    await registrations.close();
    await cluster.close();
  });
  return { ...runtime, cell: "mgmt", bind: "127.0.0.1", ports: { grpc: 0, bootstrap: 0, proxy: 0 }, certificates, registrations, ahead };
}

/** The fingerprint of the certificate that a port serves. */
function served(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: "127.0.0.1", rejectUnauthorized: false }, () => {
      resolve(socket.getPeerCertificate().fingerprint256);
      socket.destroy();
    });
    socket.on("error", reject);
  });
}

test("new connections get a renewed certificate without a restart", async () => {
  const options = await setUp();
  const listeners = expectOk(await startCellListeners(options));
  onTestFinished(() => listeners.close());
  const before = await served(listeners.link.port);
  await options.ahead.advance(21 * DAY_MS);
  expect(expectOk(await options.certificates.refresh())).toBe(true);
  expect(await served(listeners.link.port)).toBe(before);
  expectOk(listeners.reload());
  expect(await served(listeners.link.port)).not.toBe(before);
});

test.each(["bootstrap", "proxy"] as const)("when the port for %s is in use none of the others stays open", async (name) => {
  const options = await setUp();
  const busy = createServer();
  await new Promise<void>((resolve) => busy.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void busy.close());
  const { port } = busy.address() as AddressInfo;
  const started = await startCellListeners({ ...options, ports: { ...options.ports, [name]: port } });
  expect(started).toMatchObject({ ok: false, error: expect.stringContaining(String(port)) as string });
});
