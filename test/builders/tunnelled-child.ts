/** An embedded cluster that is reached through tunnels in memory, as a cell reaches a child. A test connects and disconnects its agent. */
import { createLogger, err, expectOk, ok, systemClock } from "#base";
import type { EmbeddedCluster } from "#embedded-cluster";
import { openTunnelConnections, serveTunnel, type OpenTunnel, type TunnelTarget } from "#link";
import { tunnelPair, type TunnelPair } from "./tunnel-frames.ts";

export type TunnelledChild = {
  readonly openTunnel: OpenTunnel;
  readonly pairs: TunnelPair[];
  /** Tunnels whose agent has not finished. */
  readonly open: Set<Promise<void>>;
  /** False: no tunnel can be opened, and those that are open break off. */
  setConnected(connected: boolean): void;
  close(): void;
};

/** How an agent reaches the API server of its cluster. */
export async function targetOf(cluster: EmbeddedCluster): Promise<TunnelTarget> {
  const { url, certificateAuthority: ca = "" } = await cluster.listen();
  const token = /token: (\S+)/.exec(await cluster.kubeconfig())?.[1]?.replaceAll('"', "") ?? "";
  return { url, ca, authorization: () => Promise.resolve(`Bearer ${token}`) };
}

export async function tunnelledChild(cluster: EmbeddedCluster): Promise<TunnelledChild> {
  const target = await targetOf(cluster);
  const connections = expectOk(openTunnelConnections(target));
  const logger = createLogger(() => {});
  const pairs: TunnelPair[] = [];
  const open = new Set<Promise<void>>();
  let isConnected = true;
  return {
    pairs,
    open,
    openTunnel: (name, signal) => {
      if (signal.aborted) return Promise.resolve(err({ kind: "refused", message: "the request was aborted" }));
      if (!isConnected) return Promise.resolve(err({ kind: "not-connected", message: `${name} is not connected` }));
      const pair = tunnelPair();
      pairs.push(pair);
      const serving = serveTunnel(pair.agent, target, { clock: systemClock, logger, connections }).finally(() => open.delete(serving));
      open.add(serving);
      return Promise.resolve(ok(pair.cell));
    },
    setConnected(connected) {
      isConnected = connected;
      if (!connected) for (const { agent } of pairs) agent.cancel("the agent has gone");
    },
    close: () => connections.close(),
  };
}
