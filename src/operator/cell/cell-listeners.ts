/** The three listeners of a cell: agents, bootstrap of children, API proxy. All of them, or none. */
import { ok, PROGRAM_VERSION, type Clock, type Logger, type Metrics, type Result } from "#base";
import { startApiProxy, startBootstrapServer, type Registrations } from "#http";
import { startCellLink, type CellLink } from "#link";
import { agentAdmission } from "./agent-admission.ts";
import type { CellCertificates } from "./cell-certificates.ts";

export type CellListenersOptions = {
  readonly cell: string;
  /** The address to bind. */
  readonly bind: string;
  readonly ports: { readonly grpc: number; readonly bootstrap: number; readonly proxy: number };
  readonly certificates: CellCertificates;
  readonly registrations: Registrations;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
  readonly metrics: Metrics;
};

export type CellListeners = {
  readonly link: CellLink;
  readonly bootstrapPort: number;
  /** New connections use the certificates of now. */
  readonly reload: () => Result<void, string>;
  readonly close: () => Promise<void>;
};

type Closing = { close(): Promise<void> };

export async function startCellListeners(options: CellListenersOptions): Promise<Result<CellListeners, string>> {
  const { bind, ports, certificates, registrations } = options;
  const started: Closing[] = [];
  const close = async () => {
    for (const one of started.splice(0).toReversed()) await one.close();
  };
  const link = await startLink(options);
  if (!link.ok) return link;
  started.push(link.value);
  const common = { ...options, host: bind, tls: certificates.tls };
  const bootstrap = await startBootstrapServer({ ...common, port: ports.bootstrap });
  if (!bootstrap.ok) return (await close(), bootstrap);
  started.push(bootstrap.value);
  const proxy = await startApiProxy({
    ...common,
    port: ports.proxy,
    authenticate: (token, cluster) => registrations.authenticateProxy(cluster, token),
    openTunnel: link.value.openTunnel,
  });
  if (!proxy.ok) return (await close(), proxy);
  started.push(proxy.value);
  const reload = () => {
    const { tls, trustBundle } = certificates;
    const results = [link.value.reloadTls({ ...tls, trustBundle }), bootstrap.value.reloadTls(tls), proxy.value.reloadTls(tls)];
    return results.find((result) => !result.ok) ?? ok(undefined);
  };
  return ok({ link: link.value, bootstrapPort: bootstrap.value.port, reload, close });
}

function startLink(options: CellListenersOptions): Promise<Result<CellLink, string>> {
  const { bind, ports, certificates } = options;
  return startCellLink({
    ...options,
    ...agentAdmission(options),
    host: bind,
    port: ports.grpc,
    tls: { ...certificates.tls, trustBundle: certificates.trustBundle },
    version: PROGRAM_VERSION,
  });
}
