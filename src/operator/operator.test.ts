import { describe, expect, it } from "vitest";
import { expectOk, FakeClock, MetricsRegistry, noTracing, seededRandom, silentLogger } from "#base";
import { latticeImageRegistries, latticeKinds } from "#crds";
import { field } from "#kube";
import { createKubeClient, type Transport } from "#kube-client";
import { ScriptedApi } from "../../test/builders/scripted-api/index.ts";
import { operatorRbac } from "./controllers.ts";
import { startOperator } from "./operator.ts";

const DISCOVERY = "/apis/lattice.dev/v1alpha1";

function setUp(discovery: { code: number; text: string }) {
  const clock = new FakeClock();
  const api = new ScriptedApi({ clock });
  const bytes = new TextEncoder().encode(discovery.text);
  const transport: Transport = {
    close: () => api.transport.close(),
    async send(request, signal) {
      if (request.path !== DISCOVERY) return api.transport.send(request, signal);
      async function* body() {
        yield await Promise.resolve({ ok: true, value: bytes } as const);
      }
      return { ok: true, value: { code: discovery.code, headers: {}, body: body() } };
    },
  };
  const client = createKubeClient({ transport, clock, random: seededRandom(1) });
  const dependencies = { client, clock, random: seededRandom(2), logger: silentLogger, metrics: new MetricsRegistry(), tracer: noTracing };
  const config = { namespace: "lattice-system", identity: "me", leaderElection: true, health: { host: "127.0.0.1", port: 0 } };
  return { api, clock, config, dependencies, client };
}

const everything = { code: 200, text: JSON.stringify({ resources: latticeKinds.map(({ kind }) => ({ kind })) }) };

describe("startOperator", () => {
  it("leads, says on every resource what is accepted, serves its health, and ends without a trace", async () => {
    const { api, clock, config, dependencies, client } = setUp(everything);
    const stop = new AbortController();
    const operator = expectOk(await startOperator(config, dependencies, stop.signal));
    const running = operator.run(stop.signal);
    api.put(latticeImageRegistries, {
      apiVersion: "lattice.dev/v1alpha1",
      kind: "LatticeImageRegistry",
      metadata: { name: "company" },
      spec: { host: "r.example.com" },
    } as never);
    for (let second = 0; second < 10; second += 1) await clock.advance(1_000);

    expect(field(api.object(latticeImageRegistries, { name: "company" }), "status")).toMatchObject({
      phase: "Pending",
      observedGeneration: 1,
    });
    expect((await fetch(`${operator.healthUrl}/readyz`)).status).toBe(200);
    expect(operator.health().leading).toBe(true);
    expect(await (await fetch(`${operator.healthUrl}/metrics`)).text()).toMatch(
      /lattice_reconcile_total\{controller="accept-lir",result="waiting"\} 1/,
    );

    stop.abort();
    for (let second = 0; second < 5; second += 1) await clock.advance(1_000);
    await running;
    await client.close();
    expect([clock.pending, api.openWatches]).toEqual([0, 0]);
    await expect(fetch(`${operator.healthUrl}/livez`)).rejects.toThrow();
  });

  it.each([
    { name: "no kind is served", discovery: { code: 404, text: "not found" }, want: "does not serve LatticeCluster, LatticeEnvironment" },
    {
      name: "one kind is missing",
      discovery: { code: 200, text: JSON.stringify({ resources: latticeKinds.slice(1).map(({ kind }) => ({ kind })) }) },
      want: "does not serve LatticeCluster; install",
    },
    { name: "discovery is not JSON", discovery: { code: 200, text: "<html>" }, want: "does not serve LatticeCluster" },
    { name: "it may not ask", discovery: { code: 403, text: "no" }, want: "the API server cannot be asked" },
  ])("refuses to start when $name, and says what would help", async ({ discovery, want }) => {
    const { config, dependencies } = setUp(discovery);
    expect(await startOperator(config, dependencies, new AbortController().signal)).toMatchObject({
      ok: false,
      error: expect.stringContaining(want) as string,
    });
  });

  it("says when its address is taken", async () => {
    const { config, dependencies } = setUp(everything);
    const busy = { ...config, health: { host: "256.0.0.1", port: 1 } };
    expect(await startOperator(busy, dependencies, new AbortController().signal)).toMatchObject({
      ok: false,
      error: expect.stringContaining("cannot listen on 256.0.0.1:1") as string,
    });
  });
});

describe("operatorRbac", () => {
  it("begins with the namespace that the rest lies in", () => {
    expect(operatorRbac().map(({ kind }) => kind)).toEqual([
      "Namespace",
      "ServiceAccount",
      "ClusterRole",
      "ClusterRoleBinding",
      "Role",
      "RoleBinding",
    ]);
  });
});
