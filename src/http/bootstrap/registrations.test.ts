import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { base64OfText, expectOk, reveal, sha256Hex } from "#base";
import { failWith } from "#embedded-cluster";
import { secrets } from "#kube";
import { accessSecretName } from "./cluster-access.ts";
import { csrOf, DAY, NAMESPACE, newChild, openWorld, type BootstrapWorld } from "./bootstrap-world.test-support.ts";

let world: BootstrapWorld;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

const expiresAt = () => world.clock.now() + DAY;
const keyOf = (cluster: string) => ({ namespace: NAMESPACE, name: accessSecretName(cluster) });

/** Resolves when the informer has brought a change that another client made. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await world.clock.advance(10);
}

describe("access", () => {
  test("the Secret has hashes of tokens, and no token", async () => {
    const { bootstrap, proxy } = await newChild(world, "hashed");
    const stored = JSON.stringify(expectOk(await world.cluster.client.get(secrets, keyOf("hashed"))));
    const record = Buffer.from(/"record":"([^"]+)"/.exec(stored)?.[1] ?? "", "base64").toString();
    for (const token of [bootstrap, proxy]) {
      expect(record).toContain(sha256Hex(token));
      expect(record).not.toContain(token.split(".")[1]);
    }
  });

  test("tokens are returned once; with reissue there are others, and the first ones are refused", async () => {
    const first = await newChild(world, "once");
    expect(expectOk(await world.registrations.createAccess("once", { expiresAt: expiresAt() }))).toEqual({});
    const again = expectOk(await world.registrations.createAccess("once", { expiresAt: expiresAt(), reissue: true }));
    expect(world.registrations.authenticateProxy("once", first.proxy)).toBe(false);
    expect(again.proxyToken !== undefined && world.registrations.authenticateProxy("once", reveal(again.proxyToken))).toBe(true);
    expect(again.bootstrapToken !== undefined && world.registrations.authenticateBootstrap(again.bootstrapToken)).toBe("once");
    expect(JSON.stringify(again)).not.toContain("once.");
  });

  test.each(["__proto__", "constructor.x", "", "UPPER", "a/b", ".."])("%j is not a name of a cluster", async (name) => {
    const created = await world.registrations.createAccess(name, { expiresAt: expiresAt() });
    expect(created).toMatchObject({ ok: false, error: { kind: "invalid-request" } });
    expect(world.registrations.authenticateProxy(name, `${name}.token`)).toBe(false);
    expect(world.registrations.isAccepted(name, "1000")).toBe(false);
  });

  test("only the proxy token can be made anew", async () => {
    const { bootstrap, proxy } = await newChild(world, "proxied");
    const token = expectOk(await world.registrations.reissueProxyToken("proxied"));
    const accepts = (one: string) => world.registrations.authenticateProxy("proxied", one);
    expect([accepts(proxy), accepts(reveal(token)), accepts(bootstrap)]).toEqual([false, true, false]);
  });

  test("a proxy token is of one cluster", async () => {
    const { proxy } = await newChild(world, "mine");
    await newChild(world, "other");
    expect(world.registrations.authenticateProxy("other", proxy)).toBe(false);
    expect(world.registrations.authenticateProxy("unknown", proxy)).toBe(false);
  });

  test("a removed cluster is refused everywhere", async () => {
    const { proxy } = await newChild(world, "removed");
    expectOk(await world.registrations.remove("removed"));
    expectOk(await world.registrations.remove("removed"));
    expect([world.registrations.authenticateProxy("removed", proxy), world.registrations.isAccepted("removed", "1000")]).toEqual([
      false,
      false,
    ]);
    expect(world.registrations.clusters()).not.toContain("removed");
    expect(await world.registrations.revoke("removed")).toMatchObject({ ok: false, error: { kind: "not-found" } });
  });

  test("an API server that does not answer is an error, not an exception", async () => {
    await newChild(world, "offline");
    using _ = world.cluster.intercept({ resource: "secrets" }, failWith("unavailable"));
    const unavailable = { ok: false, error: { kind: "unavailable" } };
    expect(await world.registrations.createAccess("new", { expiresAt: expiresAt() })).toMatchObject(unavailable);
    expect(await world.registrations.revoke("offline")).toMatchObject(unavailable);
    expect(await world.registrations.remove("offline")).toMatchObject(unavailable);
  });
});

describe("revocation", () => {
  test("refuses certificates, proxy and renewals at once; fresh tokens lift it for new certificates only", async () => {
    const { proxy } = await newChild(world, "revoked");
    expectOk(await world.registrations.renewConnected("revoked", csrOf("k")));
    const serial = world.signer.signed.at(-1)?.serial ?? "";
    expect(world.registrations.isAccepted("revoked", serial)).toBe(true);
    expectOk(await world.registrations.revoke("revoked"));
    expect([world.registrations.isAccepted("revoked", serial), world.registrations.authenticateProxy("revoked", proxy)]).toEqual([
      false,
      false,
    ]);
    expect(await world.registrations.renewConnected("revoked", csrOf("k"))).toMatchObject({ ok: false, error: { kind: "refused" } });
    expectOk(await world.registrations.createAccess("revoked", { expiresAt: expiresAt(), reissue: true }));
    expect(world.registrations.isAccepted("revoked", serial)).toBe(false);
    expectOk(await world.registrations.renewConnected("revoked", csrOf("k2")));
    expect(world.registrations.isAccepted("revoked", world.signer.signed.at(-1)?.serial ?? "")).toBe(true);
  });

  test("a connection is written once", async () => {
    await newChild(world, "connecting");
    expectOk(await world.registrations.renewConnected("connecting", csrOf("k")));
    const serial = world.signer.signed.at(-1)?.serial ?? "";
    const writes = () => world.cluster.actions.filter({ resource: "secrets", verb: "update" }).length;
    const before = writes();
    for (let times = 0; times < 3; times += 1) expectOk(await world.registrations.connected("connecting", serial));
    expect(writes() - before).toBe(1);
  });
});

describe("certificates that are not on record", () => {
  test("a new cluster does not admit the agent of a deleted one with the same name", async () => {
    await newChild(world, "reused");
    expectOk(await world.registrations.renewConnected("reused", csrOf("k")));
    const serial = world.signer.signed.at(-1)?.serial ?? "";
    const notBefore = world.clock.now();
    expectOk(await world.registrations.remove("reused"));
    world.clock.jump(DAY);
    await newChild(world, "reused");
    expect(world.registrations.isAccepted("reused", serial, notBefore)).toBe(false);
  });

  test("a restored backup that lacks the last renewal admits the agent, if its certificate is younger than the record", async () => {
    await newChild(world, "restored");
    const backup = expectOk(await world.cluster.client.get(secrets, keyOf("restored")));
    world.clock.jump(DAY);
    expectOk(await world.registrations.renewConnected("restored", csrOf("k")));
    const serial = world.signer.signed.at(-1)?.serial ?? "";
    expectOk(await world.registrations.remove("restored"));
    const { resourceVersion: _, uid: __, ...metadata } = backup.metadata;
    expectOk(await world.cluster.client.create(secrets, { ...backup, metadata }));
    await until(() => world.registrations.accessOf("restored") !== undefined);
    const { registrations } = world;
    expect([registrations.isAccepted("restored", serial), registrations.isAccepted("restored", serial, world.clock.now())]).toEqual([
      false,
      true,
    ]);
    expectOk(await registrations.connected("restored", serial, world.clock.now()));
    expect(registrations.accessOf("restored")).toMatchObject({ spent: true, closed: true });
  });
});

describe("records that other clients change", () => {
  test("a deleted record is refused, and an edited one has effect", async () => {
    const { proxy } = await newChild(world, "edited");
    const secret = expectOk(await world.cluster.client.get(secrets, keyOf("edited")));
    const access = { ...world.registrations.accessOf("edited"), revoked: true };
    const edited = Object.assign({}, secret, { data: { record: base64OfText(JSON.stringify(access)) } });
    expectOk(await world.cluster.client.update(secrets, edited));
    await until(() => world.registrations.accessOf("edited")?.revoked === true);
    expect(world.registrations.authenticateProxy("edited", proxy)).toBe(false);
    expectOk(await world.cluster.client.delete(secrets, keyOf("edited")));
    await until(() => world.registrations.accessOf("edited") === undefined);
  });

  test("a record that is not valid authenticates no client, and is reported without its content", async () => {
    const { proxy } = await newChild(world, "corrupt");
    const patch = { data: { record: base64OfText('{"cluster":"corrupt","secret":"hunter2"}') } };
    expectOk(await world.cluster.client.patch(secrets, keyOf("corrupt"), { type: "merge", patch }));
    await until(() => world.registrations.accessOf("corrupt") === undefined);
    expect(world.registrations.authenticateProxy("corrupt", proxy)).toBe(false);
    expect(await world.registrations.extend("corrupt", expiresAt())).toMatchObject({ ok: false, error: { kind: "invalid-record" } });
    const lines = world.lines.filter(({ message }) => message === "record of a cluster is not readable");
    expect(lines.length).toBeGreaterThan(0);
    expect(JSON.stringify(lines)).not.toContain("hunter2");
  });

  test("a new process has all records after its start", async () => {
    const { proxy } = await newChild(world, "survivor");
    const next = await world.restart();
    expect(next.authenticateProxy("survivor", proxy)).toBe(true);
  });
});

describe("two requests of one cluster at once", () => {
  test("with the same CSR: one certificate, one write", async () => {
    await newChild(world, "twice");
    const before = world.signer.signed.length;
    const writes = () => world.cluster.actions.filter({ resource: "secrets", verb: "update" }).length;
    const written = writes();
    const answers = await Promise.all(Array.from({ length: 50 }, () => world.registrations.renewConnected("twice", csrOf("k"))));
    expect(new Set(answers.map((answer) => expectOk(answer).certificate)).size).toBe(1);
    expect([world.signer.signed.length - before, writes() - written]).toEqual([1, 1]);
  });

  test("with many different CSRs: some wait, the rest is asked to try again", async () => {
    await newChild(world, "crowded");
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, at) => world.registrations.renewConnected("crowded", csrOf(`k${at}`))),
    );
    expect(answers.filter(({ ok }) => ok)).toHaveLength(17);
    expect(answers.find(({ ok }) => !ok)).toMatchObject({ error: { kind: "busy" } });
  });
});
