/** Certificates of agents over months and years, on a clock that a test advances. */
import { afterEach, describe, expect, test } from "vitest";
import { expectOk, sensitive } from "#base";
import type { CacheReader } from "#controller-runtime";
import { adoptionSecretOf, NEW_CERTIFICATE_ANNOTATION } from "#controllers";
import { latticeClusters } from "#crds";
import { failWith } from "#embedded-cluster";
import { fieldAt, secrets, secretsByMetadata, type KubeObject, type Resource } from "#kube";
import { certificateSummary } from "#pki";
import { followAdoptions } from "./cell/adoptions.ts";
import { DAY, HOUR, RenewalWorld, type RenewalWorldOptions } from "./renewal-world.test-support.ts";
import { homeOf } from "./world-agent.test-support.ts";

const worlds: RenewalWorld[] = [];
afterEach(async () => {
  for (const world of worlds.splice(0)) await world.close();
});

async function openWorld(options: RenewalWorldOptions = {}): Promise<RenewalWorld> {
  const world = await RenewalWorld.open(options);
  worlds.push(world);
  return world;
}

async function secretText(world: RenewalWorld, namespace: string, name: string, key: string): Promise<string> {
  const secret = expectOk(await world.cluster.client.get<KubeObject>(secrets, { namespace, name }));
  const value = fieldAt(secret, "data", key);
  return typeof value === "string" ? Buffer.from(value, "base64").toString() : "";
}

const certificateOf = (world: RenewalWorld, cluster: string) => secretText(world, homeOf(cluster), "lattice-agent-certificate", "tls.crt");
const serialOf = async (world: RenewalWorld, cluster: string) => expectOk(certificateSummary(await certificateOf(world, cluster))).serial;
const renewedBy = (world: RenewalWorld, kind: string) => world.posts.filter((one) => one.startsWith(kind)).length;
const warnings = (world: RenewalWorld) => world.lines.filter(({ level }) => level === "warn" || level === "error");

/** What `lattice reparent` does with a child of the cell: it asks for an offer in place of the certificate of now, and copies it into the cluster. */
async function takeOffer(world: RenewalWorld, cluster: string): Promise<void> {
  const { client } = world.cluster;
  const offer = { namespace: "lattice-system", name: adoptionSecretOf(cluster) };
  const found = () => world.cluster.peek<KubeObject>(secrets, offer);
  const child = { metadata: { name: cluster, annotations: { [NEW_CERTIFICATE_ANNOTATION]: await serialOf(world, cluster) } } };
  const get = (resource: Resource) => (resource === secretsByMetadata ? found() : resource === latticeClusters ? child : undefined);
  const list = (resource: Resource) => [get(resource)].filter((object) => object !== undefined);
  const cache = { get, list } as unknown as CacheReader;
  const stop = new AbortController();
  const endpoints = { host: "127.0.0.1", grpcPort: 1, bootstrapPort: 1, proxyPort: 1, service: { type: "ClusterIP" as const } };
  const { clock, logger, registrations } = world;
  const cell = { cell: "mgmt", endpoints, trustBundle: () => world.certificates.trustBundle };
  const following = followAdoptions({ cache, client, clock, logger, home: "lattice-system", registrations, ...cell }, stop.signal);
  await world.until(() => found() !== undefined);
  const data = fieldAt(found(), "data");
  const key = { namespace: homeOf(cluster), name: "lattice-parent-config" };
  const config = expectOk(await client.get<KubeObject>(secrets, key));
  const written = expectOk(await client.update<KubeObject>(secrets, Object.assign({}, config, { data })));
  world.agents.get(cluster)?.configured(written.metadata.resourceVersion ?? "");
  await world.until(() => found() === undefined);
  stop.abort();
  await following;
}

describe("a year", () => {
  test("every certificate is replaced before it expires, no check finds the agent disconnected, and the record stays small", async () => {
    const world = await openWorld();
    const { uplink } = await world.add("prod");
    await world.until(() => world.isConnected("prod"));
    const serials = new Set<string>();
    const ends = new Set<string | undefined>();
    world.sessions.subscribe(() => {
      const view = world.sessions.agents().get("prod");
      if (view?.connected === false) ends.add(view.lastCloseReason);
    });
    let [days, longest] = [0, 0];
    for (let day = 0; day < 365; day += 1) {
      await world.pass(DAY, () => {
        expect(world.isConnected("prod")).toBe(true);
        expect(uplink.current).toMatchObject({ connected: true });
        expect(uplink.current?.certificateNotAfter).toBeGreaterThan(world.clock.now() + 9 * DAY);
      });
      serials.add(await serialOf(world, "prod"));
      days += 1;
      longest = Math.max(longest, (await secretText(world, "lattice-system", "lattice-access-prod", "record")).length);
    }
    expect(days).toBe(365);
    expect(serials.size).toBeGreaterThanOrEqual(365 / 21);
    expect(renewedBy(world, "renew")).toBe(0);
    // 30 days of life, and 90 in which it can be renewed: every 20 days one more
    expect(world.registrations.accessOf("prod")?.certificates.length).toBeLessThanOrEqual(8);
    expect(longest).toBeLessThan(4_096);
    expect([...ends]).toEqual(["the certificate was renewed"]);
    expect(warnings(world)).toEqual([]);
  });
});

describe("the authority is replaced", () => {
  const SUCCESSOR = 0.8 * 3_652 * DAY;

  test("with 100 agents none is lost, also those that were offline while it happened", { timeout: 60_000 }, async () => {
    const world = await openWorld({ factor: 4_320, authorityAgeMs: SUCCESSOR - 10 * DAY });
    const names = Array.from({ length: 100 }, (_, at) => `child-${at}`);
    for (const name of names) await world.add(name, { pollMs: 30_000 });
    const connected = () => names.filter((name) => world.isConnected(name)).length;
    await world.until(() => connected() === 100);
    const first = world.certificates.authorities.current.certificate;
    const offline = new Set<string>();
    world.network = { ...world.network, isReachable: (cluster) => !offline.has(cluster) };
    const cut = (...clusters: readonly string[]) => {
      for (const cluster of clusters) {
        offline.add(cluster);
        world.sessions.disconnect(cluster, "network");
      }
    };

    // child-0 is offline from before there is a successor until long after the promotion; child-1 only at the promotion
    cut("child-0");
    await world.pass(20 * DAY);
    expect(world.certificates.authorities.successor).toBeDefined();
    await world.pass(15 * DAY);
    cut("child-1");
    await world.pass(15 * DAY);
    expect(world.certificates.authorities.current.certificate).not.toBe(first);
    offline.delete("child-1");
    await world.until(() => connected() === 99);
    await world.pass(22 * DAY);
    expect(connected()).toBe(99);
    // its certificate has expired, and of the authorities it has only the old one
    expect(await secretText(world, homeOf("child-0"), "lattice-agent-certificate", "ca.crt")).toBe(first);
    offline.delete("child-0");
    await world.until(() => connected() === 100);
    expect(world.posts.filter((one) => one.startsWith("renew"))).toContain("renew child-0");

    // a few are enough until the old authority is no longer trusted
    const kept = names.slice(0, 5);
    for (const name of names.slice(5)) await world.agents.get(name)?.close();
    await world.pass(140 * DAY);
    expect(world.certificates.authorities.previous).toBeUndefined();
    await world.until(() => connected() === kept.length);
    const bundles = await Promise.all(kept.map((name) => secretText(world, homeOf(name), "lattice-agent-certificate", "ca.crt")));
    expect(new Set(bundles)).toEqual(new Set([world.certificates.trustBundle]));
    expect(world.certificates.trustBundle).not.toContain(first);
  });
});

describe("wrong clocks", () => {
  const rows = [
    { name: "the agent is an hour fast", skewMs: HOUR, cellSkewMs: 0 },
    { name: "the agent is an hour slow", skewMs: -HOUR, cellSkewMs: 0 },
    { name: "the cell is an hour fast", skewMs: 0, cellSkewMs: HOUR },
    { name: "the cell is an hour slow", skewMs: 0, cellSkewMs: -HOUR },
    { name: "the agent is half an hour fast, the cell half an hour slow", skewMs: HOUR / 2, cellSkewMs: -HOUR / 2 },
  ];

  test.each(rows)("$name: it registers, connects, renews in time and after expiry", async ({ skewMs, cellSkewMs }) => {
    const world = await openWorld({ cellSkewMs });
    const agent = await world.add("prod", { skewMs });
    await world.until(() => world.isConnected("prod"));
    const first = await serialOf(world, "prod");
    await world.pass(25 * DAY, () => expect(world.isConnected("prod")).toBe(true));
    const second = await serialOf(world, "prod");
    expect([second === first, renewedBy(world, "renew")]).toEqual([false, 0]);
    let isReachable = false;
    world.network = { ...world.network, isReachable: () => isReachable };
    world.sessions.disconnect("prod", "network");
    await world.pass(31 * DAY);
    expect(world.isConnected("prod")).toBe(false);
    isReachable = true;
    await world.until(() => world.isConnected("prod"));
    expect(await serialOf(world, "prod")).not.toBe(second);
    expect(agent.errors).toEqual([]);
  });
});

describe("a parent that was gone", () => {
  test("for more than 90 days after expiry: the agent gets a clear reason, and returns with an offer of its own cell", async () => {
    const world = await openWorld({ factor: 2_160 });
    const agent = await world.add("prod");
    await world.until(() => world.isConnected("prod"));
    let isReachable = false;
    world.network = { ...world.network, isReachable: () => isReachable };
    world.sessions.disconnect("prod", "network");
    await world.pass(125 * DAY);
    isReachable = true;
    const tooOld =
      /^the certificate of the agent expired at \S+Z, more than 90 days ago, and can no longer be renewed; for a new one, run: lattice reparent prod --kubeconfig <kubeconfig of prod> --to <kubeconfig of mgmt>$/;
    await world.until(() => tooOld.test(agent.uplink.current?.lastCloseReason ?? ""));
    const asked = renewedBy(world, "renew");
    await world.pass(2 * DAY);
    expect(world.isConnected("prod")).toBe(false);
    // the wall clock of this world is faster than its monotonic clock
    expect((world.clock.monotonic() - (agent.uplink.awaySince ?? Number.NaN)) * 2_160).toBeGreaterThan(126 * DAY);
    expect(renewedBy(world, "renew") - asked).toBeLessThan(10);
    const before = world.registrations.accessOf("prod");
    await takeOffer(world, "prod");
    await world.until(() => world.isConnected("prod"));
    await world.until(() => agent.uplink.current?.connected === true);
    // Cluster API keeps its credential, and the former certificate is of no use
    expect(world.registrations.accessOf("prod")).toMatchObject({
      closed: true,
      proxyHash: before?.proxyHash,
      certificates: [{ connected: true }],
    });
    const [serial, former] = [await serialOf(world, "prod"), before?.certificates.at(-1)?.serial ?? ""];
    expect([serial, former].map((one) => world.registrations.isAccepted("prod", one))).toEqual([true, false]);
    expect(agent.uplink.awaySince).toBeUndefined();
  });

  test("an agent that was revoked meanwhile stays out, with a reason, until it is bootstrapped again", async () => {
    const world = await openWorld();
    const agent = await world.add("prod");
    await world.until(() => world.isConnected("prod"));
    expectOk(await world.registrations.revoke("prod"));
    world.sessions.disconnect("prod", "revoked");
    await world.pass(32 * DAY);
    expect(world.isConnected("prod")).toBe(false);
    expect(agent.uplink.current?.lastCloseReason).toContain("mgmt does not renew it: it was revoked, or the cluster was deleted there");
    await world.register("prod", await world.newToken("prod", true));
    await world.until(() => world.isConnected("prod"));
  });

  test("and whose records are from an older backup: the agent connects and renews, although its certificate is not on record", async () => {
    const world = await openWorld();
    await world.add("prod");
    await world.until(() => world.isConnected("prod"));
    const key = { namespace: "lattice-system", name: "lattice-access-prod" };
    const backup = expectOk(await world.cluster.client.get<KubeObject>(secrets, key));
    await world.pass(45 * DAY);
    const live = expectOk(await world.cluster.client.get<KubeObject>(secrets, key));
    const { resourceVersion } = live.metadata;
    expectOk(await world.cluster.client.update(secrets, { ...backup, metadata: { ...backup.metadata, resourceVersion } } as KubeObject));
    await world.restartCell();
    const serial = await serialOf(world, "prod");
    expect(world.registrations.accessOf("prod")?.certificates.map((one) => one.serial)).not.toContain(serial);
    await world.until(() => world.isConnected("prod"));
    expect(await serialOf(world, "prod")).toBe(serial);
    let isReachable = false;
    world.network = { ...world.network, isReachable: () => isReachable };
    world.sessions.disconnect("prod", "network");
    await world.pass(40 * DAY);
    isReachable = true;
    await world.until(() => world.isConnected("prod"));
    expect(renewedBy(world, "renew")).toBeGreaterThan(0);
  });
});

describe("lost on the wire", () => {
  /** Loses so many answers. */
  function lose(world: RenewalWorld, action: string, count: number) {
    let lost = 0;
    const loses = (one: string) => one === action && lost < count && (lost += 1) > 0;
    world.network = { ...world.network, losesAnswer: (_cluster, one) => loses(one) };
    return () => lost;
  }

  test("the answer to register: the token is not spent, and the same answer comes again", async () => {
    const world = await openWorld();
    const token = await world.newToken("prod");
    const lost = expectOk(await world.registrations.register("prod", sensitive(token)));
    expect(world.registrations.accessOf("prod")?.spent).toBe(false);
    expect(expectOk(await world.registrations.register("prod", sensitive(token)))).toBe(lost);
    await world.register("prod", token);
    world.start("prod");
    await world.until(() => world.isConnected("prod"));
  });

  test("the answer to csr, until the token has expired: the agent repeats its stored key and gets its certificate", async () => {
    const world = await openWorld();
    const lost = lose(world, "csr", Number.POSITIVE_INFINITY);
    const first = await world.add("prod");
    await world.until(() => first.errors.length >= 2);
    const key = await secretText(world, homeOf("prod"), "lattice-agent-certificate", "next.key");
    await first.close();
    expect(world.registrations.accessOf("prod")).toMatchObject({ spent: true, closed: false });
    world.clock.jump(2 * DAY);
    lose(world, "csr", 0);
    world.start("prod");
    await world.until(() => world.isConnected("prod"));
    expect(await secretText(world, homeOf("prod"), "lattice-agent-certificate", "tls.key")).toBe(key);
    expect(await secretText(world, homeOf("prod"), "lattice-agent-certificate", "next.key")).toBe("");
    expect(lost()).toBeGreaterThan(0);
  });

  test("the key cannot be stored: no request is sent, and the token is not spent", async () => {
    const world = await openWorld();
    const name = "lattice-agent-certificate";
    {
      using _ = world.cluster.intercept({ resource: "secrets", name }, failWith("network"));
      const agent = await world.add("prod");
      await world.until(() => agent.errors.length >= 2);
      expect(world.posts).toEqual([]);
      expect(world.registrations.accessOf("prod")?.spent).toBe(false);
    }
    await world.until(() => world.isConnected("prod"));
  });

  test("the certificate cannot be stored: the agent does not connect with it, asks again, and then connects", async () => {
    const world = await openWorld();
    let agent;
    {
      let writes = 0;
      using _ = world.cluster.intercept({ resource: "secrets", name: "lattice-agent-certificate" }, (action, next, context) => {
        writes += Number(action.verb !== "get");
        return writes > 1 && action.verb !== "get" ? failWith("network")(action, next, context) : next();
      });
      agent = await world.add("prod");
      await world.until(() => renewedBy(world, "csr") >= 2);
      expect(world.isConnected("prod")).toBe(false);
      expect(world.registrations.accessOf("prod")?.closed).toBe(false);
    }
    await world.until(() => world.isConnected("prod"));
    expect(agent.errors.join()).toContain("Secret lattice-agent-certificate cannot be written");
  });

  test("the first AgentReady: the agent connects again, and the tokens stay closed", async () => {
    const world = await openWorld();
    let lost = 0;
    world.network = { ...world.network, passes: (_cluster, kind) => kind !== "ready" || (lost += 1) > 2 };
    await world.add("prod");
    await world.until(() => world.isConnected("prod"));
    expect(lost).toBe(3);
    expect(renewedBy(world, "csr")).toBe(1);
    expect(world.registrations.accessOf("prod")).toMatchObject({ spent: true, closed: true });
  });

  test("the request for a renewal over the stream: the next one is sent in time", async () => {
    const world = await openWorld();
    let lost = 0;
    world.network = { ...world.network, passes: (_cluster, kind) => kind !== "renewalRequest" || (lost += 1) > 2 };
    await world.add("prod");
    await world.until(() => world.isConnected("prod"));
    const first = await serialOf(world, "prod");
    await world.pass(29 * DAY);
    expect(lost).toBeGreaterThan(2);
    expect(await serialOf(world, "prod")).not.toBe(first);
    expect(renewedBy(world, "renew")).toBe(0);
  });

  test("the answer to renew: the agent asks again with the same key, and the lost certificates are of no use", async () => {
    const world = await openWorld();
    const agent = await world.add("prod");
    await world.until(() => world.isConnected("prod"));
    await agent.close();
    world.clock.jump(35 * DAY);
    await world.refresh();
    const lost = lose(world, "renew", 3);
    world.start("prod");
    await world.until(() => world.isConnected("prod"));
    expect(lost()).toBe(3);
    expect(renewedBy(world, "renew")).toBe(4);
    const access = world.registrations.accessOf("prod");
    expect(new Set(access?.certificates.map((one) => one.keyHash)).size).toBe(2);
    expect(await secretText(world, homeOf("prod"), "lattice-agent-certificate", "next.key")).toBe("");
  });

  test("a renewed certificate cannot be stored: the agent keeps the old one, stays connected, and tries again", async () => {
    const world = await openWorld();
    await world.add("prod");
    await world.until(() => world.isConnected("prod"));
    const first = await serialOf(world, "prod");
    {
      using _ = world.cluster.intercept({ resource: "secrets", name: "lattice-agent-certificate" }, failWith("network"));
      await world.pass(22 * DAY);
    }
    expect(warnings(world)[0]?.message).toBe("the certificate was not renewed; the agent tries again");
    expect(world.isConnected("prod")).toBe(true);
    await world.pass(5 * DAY);
    expect(await serialOf(world, "prod")).not.toBe(first);
  });
});
