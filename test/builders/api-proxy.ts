/** An API proxy on loopback whose tunnels are in memory: `a` and `b` are clusters with a token each, `absent` has a token and no agent. */
import { createLogger, err, expectOk, MetricsRegistry, ok, systemClock, type LogFields } from "#base";
import { startApiProxy, type ApiProxy, type ApiProxyOptions } from "#http";
import { openTunnelConnections, serveTunnel, type TunnelTarget } from "#link";
import { authority, issue } from "./loopback-servers.ts";
import { tunnelPair, type TunnelPair } from "./tunnel-frames.ts";

export type ProxyWorld = {
  readonly proxy: ApiProxy;
  readonly url: string;
  readonly audit: LogFields[];
  readonly metrics: MetricsRegistry;
  readonly pairs: TunnelPair[];
  /** Tunnels whose agent has not finished. */
  readonly openTunnels: Set<Promise<void>>;
  close(): Promise<void>;
};

export const TOKENS = new Map([
  ["a", "token-of-a"],
  ["b", "token-of-b"],
  ["absent", "token-of-absent"],
]);

export async function startProxy(target: TunnelTarget, options: Partial<ApiProxyOptions> = {}): Promise<ProxyWorld> {
  const audit: LogFields[] = [];
  const pairs: TunnelPair[] = [];
  const openTunnels = new Set<Promise<void>>();
  const metrics = new MetricsRegistry();
  const logger = createLogger((_level, message, fields) => void (message === "api request" && audit.push(fields)));
  const connections = expectOk(openTunnelConnections(target));
  const proxy = expectOk(
    await startApiProxy({
      host: "127.0.0.1",
      port: 0,
      tls: issue(authority, "server", "server"),
      authenticate: (token, cluster) => TOKENS.get(cluster) === token,
      openTunnel: async (cluster) => {
        if (cluster === "absent") return err({ kind: "not-connected", message: "no agent" });
        const pair = tunnelPair();
        pairs.push(pair);
        const serving = serveTunnel(pair.agent, target, { clock: options.clock ?? systemClock, logger, connections }).finally(() =>
          openTunnels.delete(serving),
        );
        openTunnels.add(serving);
        return ok(pair.cell);
      },
      clock: systemClock,
      logger,
      metrics,
      ...options,
    }),
  );
  return {
    proxy,
    url: `https://127.0.0.1:${proxy.port}`,
    audit,
    metrics,
    pairs,
    openTunnels,
    close: async () => {
      await proxy.close();
      connections.close();
    },
  };
}

/** The kubeconfig of a cluster behind the proxy. */
export function proxyKubeconfig({ url }: ProxyWorld, cluster: string, token = TOKENS.get(cluster) ?? ""): string {
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    "current-context": cluster,
    contexts: [{ name: cluster, context: { cluster, user: cluster } }],
    clusters: [
      {
        name: cluster,
        cluster: {
          server: `${url}/clusters/${cluster}`,
          "certificate-authority-data": Buffer.from(authority.certificate).toString("base64"),
        },
      },
    ],
    users: [{ name: cluster, user: { token } }],
  });
}

/** Of a server in loopback-servers.ts. */
export function targetOf(port: number): TunnelTarget {
  return { url: `https://127.0.0.1:${port}`, ca: authority.certificate, authorization: async () => "Bearer agent" };
}
