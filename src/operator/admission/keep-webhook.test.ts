import { X509Certificate } from "node:crypto";
import { describe, expect, onTestFinished, test } from "vitest";
import { expectOk, FakeClock } from "#base";
import { startEmbeddedCluster, type EmbeddedCluster } from "#embedded-cluster";
import type { WorkloadTarget } from "#workload-patch";
import { field, fieldAt, mutatingWebhookConfigurations, secrets, type KubeObject } from "#kube";
import { createCellAuthorities, issueWebhookCertificate } from "#pki";
import { bundlesOf, secretText } from "../webhooks/webhook-objects.ts";
import { keepWebhook, type WebhookPassInput } from "./keep-webhook.ts";
import { ADMISSION_AUTHORITY_SECRET, ADMISSION_CERTIFICATE_SECRET, servingSecret } from "./serving-secret.ts";

const HOME = "lattice-system";
const NAME = "lattice-workload-patches";
const DAY = 86_400_000;
const TARGETS: readonly WorkloadTarget[] = [{ namespace: "shop", name: "api" }];

async function startWorld() {
  const clock = new FakeClock(Date.UTC(2030, 0, 1));
  const home = { apiVersion: "v1", kind: "Namespace", metadata: { name: HOME } };
  const cluster = await startEmbeddedCluster({ controllers: false, objects: [home], logActions: false });
  onTestFinished(() => cluster.close());
  const leaderOf = (host: string, port = 9_443): WebhookPassInput => ({
    client: cluster.client,
    clock,
    signal: new AbortController().signal,
    home: HOME,
    settings: { kind: "url", host, port },
    targets: TARGETS,
    address: { kind: "url", host, port },
    trustedSince: new Map(),
  });
  return { cluster, clock, leaderOf };
}

type Seen = { readonly served: string; readonly bundle: string };

async function observe({ client }: EmbeddedCluster): Promise<Seen> {
  const secret = expectOk(await client.get<KubeObject>(secrets, { namespace: HOME, name: ADMISSION_CERTIFICATE_SECRET }));
  const configuration = expectOk(await client.get<KubeObject>(mutatingWebhookConfigurations, { name: NAME }));
  return { served: secretText(secret, "tls.crt") ?? "", bundle: bundlesOf(configuration)[0] ?? "" };
}

const blocksOf = (bundle: string) => bundle.match(/-----BEGIN[^-]+-----[^-]+-----END[^-]+-----/g) ?? [];

function accepts(bundle: string, certificate: string, now: number): boolean {
  const leaf = new X509Certificate(certificate);
  const valid = (one: X509Certificate) => one.validFromDate.getTime() <= now && now < one.validToDate.getTime();
  const authorities = blocksOf(bundle).map((block) => new X509Certificate(block));
  return valid(leaf) && authorities.some((one) => valid(one) && leaf.checkIssued(one) && leaf.verify(one.publicKey));
}

describe("the certificate of the admission webhook", () => {
  test("is renewed for 25 years by leaders in turn, and API servers accept it, also those that see a change an hour late", async () => {
    const { cluster, clock, leaderOf } = await startWorld();
    const end = clock.now() + 25 * 365 * DAY;
    let leader = leaderOf("127.0.0.1");
    let earlier: Seen[] = [];
    const [certificates, authorities] = [new Set<string>(), new Set<string>()];
    for (let round = 0; clock.now() < end; round += 1) {
      const { changed, next } = expectOk(await keepWebhook(leader));
      const seen = await observe(cluster);
      const recent = [...earlier, seen];
      for (const served of new Set(recent.map((one) => one.served)))
        for (const bundle of new Set(recent.map((one) => one.bundle)))
          expect([clock.now(), accepts(bundle, served, clock.now())]).toEqual([clock.now(), true]);
      certificates.add(seen.served);
      for (const block of blocksOf(seen.bundle)) authorities.add(block);
      const busy = next !== "none" || changed.length > 0;
      earlier = busy ? recent.slice(-12) : [seen];
      if (round % 17 === 3) leader = leaderOf("127.0.0.1");
      await clock.advance(busy ? 300_000 : 30 * DAY);
    }
    // one after eight months, which is noticed a month later at most, and with each new authority
    expect(certificates.size).toBeGreaterThanOrEqual(33);
    expect(certificates.size).toBeLessThanOrEqual(46);
    // the first, and a successor every eight years
    expect(authorities.size).toBe(4);
  }, 120_000);

  test("is for the addresses of the leader, and another one is issued at once when the next leader has another address", async () => {
    const { cluster, leaderOf } = await startWorld();
    expectOk(await keepWebhook(leaderOf("127.0.0.1")));
    const first = new X509Certificate((await observe(cluster)).served);
    expect([first.checkIP("127.0.0.1"), first.checkHost("lattice-webhook.lattice-system.svc")]).toEqual([
      "127.0.0.1",
      "lattice-webhook.lattice-system.svc",
    ]);
    expect(expectOk(await keepWebhook(leaderOf("operator.example.com", 444))).changed).toEqual([
      `Secret ${ADMISSION_CERTIFICATE_SECRET}`,
      `MutatingWebhookConfiguration ${NAME}`,
    ]);
    expect(new X509Certificate((await observe(cluster)).served).checkHost("operator.example.com")).toBe("operator.example.com");
    const configuration = expectOk(await cluster.client.get<KubeObject>(mutatingWebhookConfigurations, { name: NAME }));
    expect(JSON.stringify(configuration)).toContain('"https://operator.example.com:444/mutate/deployments"');
  });

  test("of an authority that is lost is used until it is due, and its authority stays trusted", async () => {
    const { cluster, clock, leaderOf } = await startWorld();
    const leader = leaderOf("::1");
    expectOk(await keepWebhook(leader));
    const before = await observe(cluster);
    expectOk(await cluster.client.delete(secrets, { namespace: HOME, name: ADMISSION_AUTHORITY_SECRET }));
    expectOk(await keepWebhook(leader));
    const after = await observe(cluster);
    expect(after.served).toBe(before.served);
    expect(blocksOf(after.bundle)).toHaveLength(2);
    expect(accepts(after.bundle, after.served, clock.now())).toBe(true);
    expect(JSON.stringify(await cluster.client.get(mutatingWebhookConfigurations, { name: NAME }))).toContain("https://[::1]:9443/");
  });

  test.each([
    { name: "beside the trusted ones", trust: undefined },
    { name: "alone", trust: "" },
  ])("of an authority that API servers do not trust is replaced at once: $name", async ({ trust }) => {
    const { cluster, clock, leaderOf } = await startWorld();
    const leader = leaderOf("127.0.0.1");
    expectOk(await keepWebhook(leader));
    const foreign = expectOk(createCellAuthorities("lattice-admission", clock.now()));
    const names = { dnsNames: ["lattice-webhook.lattice-system.svc"], ipAddresses: ["127.0.0.1"] };
    const issued = expectOk(issueWebhookCertificate(foreign, names, clock.now()));
    const { "ca.crt": stored = "", ...pair } = field(servingSecret(HOME, issued, trust ?? ""), "data") as Record<string, string>;
    const data = trust === undefined ? pair : { ...pair, "ca.crt": stored };
    const key = { namespace: HOME, name: ADMISSION_CERTIFICATE_SECRET };
    expectOk(await cluster.client.patch(secrets, key, { type: "merge", patch: { data } }));
    expect(accepts((await observe(cluster)).bundle, issued.certificate, clock.now())).toBe(false);
    expect(expectOk(await keepWebhook(leader)).changed).toEqual([`Secret ${ADMISSION_CERTIFICATE_SECRET}`]);
    const { bundle, served } = await observe(cluster);
    expect(accepts(bundle, served, clock.now())).toBe(true);
  });

  test("is issued before the configuration exists, and the configuration waits for an address", async () => {
    const { cluster, leaderOf } = await startWorld();
    const leader = { ...leaderOf("127.0.0.1"), address: undefined };
    expect(expectOk(await keepWebhook(leader)).changed).toEqual([`Secret ${ADMISSION_CERTIFICATE_SECRET}`]);
    expect((await cluster.client.get(mutatingWebhookConfigurations, { name: NAME })).ok).toBe(false);
    expect(expectOk(await keepWebhook(leader))).toEqual({ changed: [], next: "none" });
  });

  test("is not issued by an authority that cannot be read, which is never replaced", async () => {
    const { cluster, leaderOf } = await startWorld();
    const metadata = { name: ADMISSION_AUTHORITY_SECRET, namespace: HOME };
    await cluster.add({ apiVersion: "v1", kind: "Secret", metadata, data: { cell: "bGF0dGljZS1hZG1pc3Npb24=", "current.crt": "eA==" } });
    expect(await keepWebhook(leaderOf("127.0.0.1"))).toEqual({ ok: false, error: "Secret lattice-admission-ca, current.key: is missing" });
  });

  test("contains no key but in Secrets", async () => {
    const { cluster, leaderOf } = await startWorld();
    expectOk(await keepWebhook(leaderOf("127.0.0.1")));
    const configuration = expectOk(await cluster.client.get<KubeObject>(mutatingWebhookConfigurations, { name: NAME }));
    expect(bundlesOf(configuration).join()).not.toContain("PRIVATE");
    expect(fieldAt(configuration, "metadata", "labels", "app.kubernetes.io/managed-by")).toBe("lattice");
  });
});
