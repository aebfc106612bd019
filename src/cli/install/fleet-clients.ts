/** Clients of the clusters of a fleet: one for each, as long as its API server has the same address. */
import { err, ok, PROGRAM_VERSION, type Result } from "#base";
import type { ClusterView, Fleet } from "#fleet";
import { createKubeClient, httpTransport, loadKubeconfig, type KubeClient } from "#kube-client";
import type { CliIo } from "../io.ts";

export class FleetClients {
  readonly #io: CliIo;
  readonly #fleet: Pick<Fleet, "clusters">;
  readonly #open = new Map<string, { readonly url: string | undefined; readonly client: KubeClient }>();
  /** Of clusters that had another address before. */
  readonly #replaced: KubeClient[] = [];

  constructor(io: CliIo, fleet: Pick<Fleet, "clusters">) {
    this.#io = io;
    this.#fleet = fleet;
  }

  /** Undefined: there is no such cluster. An error: it does not run. */
  async find(name: string): Promise<Result<KubeClient | undefined, string>> {
    const cluster = this.#fleet.clusters().find((one) => one.name === name);
    if (cluster === undefined) return ok(undefined);
    if (cluster.state !== "Running") return err(describeState(cluster));
    const known = this.#open.get(name);
    if (known !== undefined && known.url === cluster.url) return ok(known.client);
    const { clock, random, home } = this.#io;
    const config = await loadKubeconfig({ path: cluster.kubeconfig, env: {}, home, clock });
    if (!config.ok) return err(config.error.message);
    const transport = httpTransport(config.value, { clock, userAgent: `lattice/${PROGRAM_VERSION}` });
    const client = createKubeClient({ transport, clock, random });
    if (known !== undefined) this.#replaced.push(known.client);
    this.#open.set(name, { url: cluster.url, client });
    return ok(client);
  }

  async close(): Promise<void> {
    const all = [...this.#replaced, ...[...this.#open.values()].map(({ client }) => client)];
    this.#open.clear();
    this.#replaced.length = 0;
    await Promise.all(all.map((client) => client.close()));
  }
}

export function describeState({ name, state, message }: ClusterView): string {
  if (message !== undefined) return message;
  if (state === "Stopped" || state === "Stopping") return `it is stopped; lattice start ${name} starts it`;
  return state === "Restarting" ? "its API server ended and is started again" : "its API server starts";
}
