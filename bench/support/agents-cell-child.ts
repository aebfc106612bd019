/** The process of the cell in the bench `agents`: the link, and a health check on HTTP. All agents have one address, so the limits per address are raised. */
import { X509Certificate } from "node:crypto";
import { createServer } from "node:http";
import { err, expectOk, MetricsRegistry, ok, reveal, silentLogger, systemClock } from "#base";
import { startCellLink, type CellLink } from "#link";
import { createCertificateAuthority, issueCertificate } from "#pki";
import type { CellReply, CellRequest } from "./agents-messages.ts";

const DAY_MS = 86_400_000;
const dates = { notBefore: new Date(Date.now() - DAY_MS), notAfter: new Date(Date.now() + DAY_MS) };
const authority = expectOk(createCertificateAuthority({ commonName: "bench", ...dates, notAfter: new Date(Date.now() + 2 * DAY_MS) }));
const serving = expectOk(
  issueCertificate(authority, {
    commonName: "cell",
    usages: ["server"],
    dnsNames: ["c.cell.lattice"],
    ipAddresses: ["127.0.0.1"],
    ...dates,
  }),
);
const running = { link: undefined as CellLink | undefined, changes: 0, agents: 0 };

function reply(message: CellReply): void {
  process.send?.(message);
}

async function start(port: number): Promise<CellLink> {
  const { agents } = running;
  const link = expectOk(
    await startCellLink({
      host: "127.0.0.1",
      port,
      tls: { ...serving, trustBundle: authority.certificate },
      cell: "c",
      identify(der) {
        const certificate = new X509Certificate(der);
        return ok({ cell: "c", cluster: certificate.subject.replace("CN=", ""), serial: certificate.serialNumber });
      },
      authenticate: () => ok(undefined),
      renew: () => Promise.resolve(err("not in this bench")),
      limits: { connections: 2 * agents, burstPerAddress: 4 * agents, ratePerAddress: agents, handshakesPerAddress: 512 },
      clock: systemClock,
      random: Math.random,
      logger: silentLogger,
      metrics: new MetricsRegistry(),
      version: "bench",
    }),
  );
  link.subscribe(() => (running.changes += 1));
  return link;
}

const health = createServer((_request, response) => response.end("ok"));

process.on("message", (request: CellRequest) => void handle(request));

async function handle(request: CellRequest): Promise<void> {
  if (request.kind === "start") {
    running.agents = request.agents;
    running.link = await start(0);
    await new Promise<void>((resolve) => health.listen(0, "127.0.0.1", resolve));
    const address = health.address();
    const healthPort = typeof address === "object" && address !== null ? address.port : 0;
    const { certificate, key } = authority;
    reply({ kind: "listening", port: running.link.port, healthPort, authority: certificate, authorityKey: reveal(key) });
    return;
  }
  const port = running.link?.port ?? 0;
  await running.link?.close();
  running.link = await start(port);
}

setInterval(() => {
  const views = [...(running.link?.agents().values() ?? [])];
  const connected = views.filter((view) => view.connected).length;
  const heartbeats = views.reduce((newest, { lastHeartbeat = 0 }) => Math.max(newest, lastHeartbeat), 0);
  reply({ kind: "state", connected, changes: running.changes, heartbeats });
}, 250);
process.on("disconnect", () => process.exit(0));
