import { X509Certificate } from "node:crypto";
import { describe, expect, onTestFinished, test } from "vitest";
import { createLogger, expectOk, FakeClock, MetricsRegistry, noTracing, seededRandom } from "#base";
import { WEBHOOK_INVENTORY } from "#bundle";
import { latticeKinds } from "#crds";
import { startEmbeddedCluster, type EmbeddedCluster } from "#embedded-cluster";
import { configMaps, secrets, type ConfigMap, type KubeObject } from "#kube";
import { SettlingClock } from "../../../test/builders/settling-clock.ts";
import { startOperator } from "../operator.ts";
import { bundlesOf, CLIENT_RESOURCES, secretText } from "./webhook-objects.ts";
import { pass, WEBHOOK_AUTHORITY_SECRET } from "./webhook-renewal-service.ts";
import { CLIENTS, deliveredWebhooks, HOME, SECRET } from "./webhook-world.test-support.ts";

const DAY = 86_400_000;
const blocksOf = (bundle: string) => bundle.match(/-----BEGIN[^-]+-----[^-]+-----END[^-]+-----/g) ?? [];

/** Whether a client with this bundle accepts the certificate at `now`. */
function accepts(bundle: string, certificate: string, now: number): boolean {
  const leaf = new X509Certificate(certificate);
  const valid = (one: X509Certificate) => one.validFromDate.getTime() <= now && now < one.validToDate.getTime();
  const authorities = blocksOf(bundle).map((block) => new X509Certificate(block));
  return valid(leaf) && authorities.some((one) => valid(one) && leaf.checkIssued(one) && leaf.verify(one.publicKey));
}

async function observe({ client }: EmbeddedCluster) {
  const secret = expectOk(await client.get<KubeObject>(secrets, SECRET));
  const bundles: string[] = [];
  for (const { kind, name } of CLIENTS)
    bundles.push(...bundlesOf({ ...expectOk(await client.get<KubeObject>(CLIENT_RESOURCES[kind], { name })), kind }));
  return { served: secretText(secret, "tls.crt") ?? "", bundles };
}

async function startWorld(ageDays = 0) {
  const clock = new FakeClock(Date.UTC(2030, 0, 1));
  const cluster = await startEmbeddedCluster({ controllers: false, objects: deliveredWebhooks(clock.now() - ageDays * DAY) });
  onTestFinished(() => cluster.close());
  const map = expectOk(await cluster.client.get<ConfigMap>(configMaps, { namespace: HOME, name: WEBHOOK_INVENTORY }));
  let trustedSince = new Map<string, number>();
  const signal = new AbortController().signal;
  const once = () => pass({ client: cluster.client, clock, home: HOME, signal }, map, trustedSince);
  return { cluster, clock, once, restart: () => (trustedSince = new Map()) };
}

describe("certificates of webhooks", () => {
  test("are renewed for 25 years, and every client accepts each certificate, also those that see a change an hour late", async () => {
    const { cluster, clock, once, restart } = await startWorld();
    const end = clock.now() + 25 * 365 * DAY;
    let earlier: Awaited<ReturnType<typeof observe>>[] = [await observe(cluster)];
    const [certificates, authorities] = [new Set<string>(), new Set<string>()];
    for (let round = 0; clock.now() < end; round += 1) {
      const { changed, pending, problems } = await once();
      expect(problems).toEqual([]);
      const seen = await observe(cluster);
      // a process may serve, and an API server may trust, what was there an hour ago
      const recent = [...earlier, seen];
      for (const served of new Set(recent.map((one) => one.served)))
        for (const bundle of new Set(recent.flatMap(({ bundles }) => bundles)))
          expect([clock.now(), accepts(bundle, served, clock.now())]).toEqual([clock.now(), true]);
      certificates.add(seen.served);
      for (const bundle of seen.bundles) for (const block of blocksOf(bundle)) authorities.add(block);
      expect(seen.bundles.every((bundle) => blocksOf(bundle).length <= 3)).toBe(true);
      const busy = pending || changed.length > 0;
      earlier = busy ? recent.slice(-12) : [seen];
      if (round % 17 === 3) restart();
      await clock.advance(busy ? 300_000 : 5 * DAY);
    }
    // one at 8 of 12 months, and with each new authority
    expect(certificates.size).toBeGreaterThanOrEqual(36);
    expect(certificates.size).toBeLessThanOrEqual(45);
    // the delivered one, and a successor every eight years
    expect(authorities.size).toBe(5);
  }, 120_000);

  test("of the manifests stay as they are for eight months, so that the manifests can be applied again", async () => {
    const { cluster, clock, once } = await startWorld();
    const before = await observe(cluster);
    await clock.advance(240 * DAY);
    expect(await once()).toEqual({ changed: [], pending: false, problems: [] });
    expect(await observe(cluster)).toEqual(before);
    expect((await cluster.client.get(secrets, { namespace: HOME, name: WEBHOOK_AUTHORITY_SECRET })).ok).toBe(false);
    await clock.advance(4 * DAY);
    expect((await once()).changed).toHaveLength(3);
  });

  test("are left to cert-manager where it has taken over", async () => {
    const { cluster, clock, once } = await startWorld();
    const annotations = { "cert-manager.io/certificate-name": "capi-serving-cert" };
    expectOk(await cluster.client.patch(secrets, SECRET, { type: "merge", patch: { metadata: { annotations } } }));
    const before = await observe(cluster);
    await clock.advance(300 * DAY);
    expect(await once()).toEqual({ changed: [], pending: false, problems: [] });
    expect(await observe(cluster)).toEqual(before);
  });

  test("of a Secret that is gone are reported, and of a definition that is gone are not needed", async () => {
    const { cluster, once } = await startWorld(300);
    expectOk(await cluster.client.delete(CLIENT_RESOURCES.CustomResourceDefinition, { name: "clusters.cluster.x-k8s.io" }));
    expect((await once()).changed).toHaveLength(2);
    expectOk(await cluster.client.delete(secrets, SECRET));
    expect((await once()).problems).toEqual([expect.stringContaining("Secret capi-system/capi-webhook-service-cert: ")]);
  });

  test("are not renewed with an authority that cannot be read, which is never replaced", async () => {
    const { cluster, once } = await startWorld();
    const metadata = { name: WEBHOOK_AUTHORITY_SECRET, namespace: HOME };
    const data = { cell: "bGF0dGljZS13ZWJob29rcw==", "current.crt": "eA==" };
    await cluster.add({ apiVersion: "v1", kind: "Secret", metadata, data });
    expect((await once()).problems).toEqual(["Secret lattice-webhook-ca, current.key: is missing"]);
  });
});

test("the operator takes the delivered certificates over, first trust and then certificate, and logs what it changed", async () => {
  const clock = new SettlingClock();
  const objects = [...latticeKinds.map(({ crd }) => crd()), ...deliveredWebhooks(clock.now() - 300 * DAY)];
  const cluster = await startEmbeddedCluster({ clock, objects });
  const lines: string[] = [];
  const logger = createLogger((_level, message, fields) => void lines.push(`${message} ${JSON.stringify(fields)}`));
  const stop = new AbortController();
  const config = { namespace: HOME, identity: "one", leaderElection: false, health: { host: "127.0.0.1", port: 0 } };
  const { client } = cluster;
  const dependencies = { client, clock, random: seededRandom(3), logger, metrics: new MetricsRegistry(), tracer: noTracing };
  const operator = expectOk(await startOperator(config, dependencies, stop.signal));
  const running = operator.run(stop.signal);
  const wait = async (seconds: number) => {
    for (let second = 0; second < seconds; second += 30) await clock.advance(30_000);
  };
  onTestFinished(async () => {
    stop.abort();
    await wait(35);
    await running;
    await cluster.close();
  });
  const before = await observe(cluster);
  await wait(120);
  const trusted = await observe(cluster);
  expect(trusted.served).toBe(before.served);
  expect(trusted.bundles.map((bundle) => blocksOf(bundle).length)).toEqual([2, 2, 2, 2, 2]);
  await wait(4_000);
  expect((await observe(cluster)).served).not.toBe(before.served);
  const logged = lines.filter((line) => line.startsWith("certificates of webhooks were renewed"));
  expect(logged).toHaveLength(2);
  expect(logged.join()).not.toContain("PRIVATE");
}, 60_000);
