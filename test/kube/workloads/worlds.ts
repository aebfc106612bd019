/**
 * The same workloads in two worlds: on a real plane with the real controller manager and simulated nodes, and on the embedded server with
 * Lattice's controllers and simulated nodes. Any difference in the final state is a bug in Lattice.
 */
import { expectOk, seededRandom, silentLogger, systemClock } from "#base";
import { createKubeClient, httpTransport, loadKubeconfig, type KubeClient } from "#kube-client";
import { createSimulation, kubeControllers, startKubeControllers, type KubeController, type Simulation } from "#kube-controllers";
import { builtinKinds, createApiServer, createMemoryStore, inProcessClient } from "#kube-server";

export type World = {
  readonly name: "real" | "embedded";
  readonly client: KubeClient;
  readonly simulation: Simulation;
  readonly close: () => Promise<void>;
};

/** Two nodes that stop quickly. Otherwise the defaults. */
const simulate = () => createSimulation({ nodes: 2, speeds: { runMs: 30 } });

async function run(client: KubeClient, controllers: readonly KubeController[], simulation: Simulation): Promise<() => Promise<void>> {
  const options = { client, clock: systemClock, random: seededRandom(7), logger: silentLogger };
  const running = expectOk(await startKubeControllers({ ...options, controllers, simulation: simulation.controllers }));
  return () => running.close();
}

export async function realWorld(kubeconfigPath: string): Promise<World> {
  const config = await loadKubeconfig({ path: kubeconfigPath, env: {}, home: "/", clock: systemClock });
  const connect = () =>
    createKubeClient({ transport: httpTransport(expectOk(config), { clock: systemClock }), clock: systemClock, random: seededRandom(5) });
  const [client, own] = [connect(), connect()];
  const simulation = simulate();
  const stop = await run(own, [], simulation);
  const close = async () => {
    await stop();
    await Promise.all([client.close(), own.close()]);
  };
  return { name: "real", client, simulation, close };
}

export async function embeddedWorld(): Promise<World> {
  const store = createMemoryStore();
  const server = createApiServer({ store, types: builtinKinds(store), clock: systemClock, random: seededRandom(3) });
  const connect = () => inProcessClient(server, { clock: systemClock, random: seededRandom(5), logger: silentLogger });
  const [client, own] = [connect(), connect()];
  const simulation = simulate();
  const stop = await run(own, kubeControllers({ podMetrics: simulation.usage }), simulation);
  const close = async () => {
    await stop();
    server.close();
    await Promise.all([client.close(), own.close()]);
  };
  return { name: "embedded", client, simulation, close };
}
