/** `lattice certs` on the embedded cluster over HTTP. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { base64OfText, expectOk, reveal, systemClock } from "#base";
import { startEmbeddedCluster, type EmbeddedCluster } from "#embedded-cluster";
import { secrets } from "#kube";
import { authoritiesToSecret, createCellAuthorities } from "#pki";
import { runCli } from "../../test/builders/cli-io.ts";

const DAY_MS = 86_400_000;
const HOME = "lattice-system";
let cluster: EmbeddedCluster;
let cwd: string;

function accessSecret(name: string, days: number | undefined, revoked = false) {
  const certificate = {
    serial: "0A",
    notAfter: Date.now() + (days ?? 0) * DAY_MS,
    keyHash: "a".repeat(64),
    generation: 0,
    connected: true,
  };
  const hash = "b".repeat(64);
  const record = {
    cluster: name,
    bootstrapHash: hash,
    csrHash: hash,
    proxyHash: hash,
    generation: 0,
    spent: true,
    closed: true,
    expiresAt: 1,
    revoked,
    trustedFrom: 0,
    certificates: days === undefined ? [] : [certificate],
  };
  const metadata = { name: `lattice-access-${name}`, namespace: HOME, labels: { "lattice.dev/cluster-access": "true" } };
  return { apiVersion: "v1", kind: "Secret", metadata, data: { record: base64OfText(JSON.stringify(record)) } };
}

beforeAll(async () => {
  cluster = await startEmbeddedCluster();
  cwd = mkdtempSync(join(tmpdir(), "lattice-certs-"));
  writeFileSync(join(cwd, "kubeconfig"), await cluster.kubeconfig({ http: true }));
});

afterAll(async () => {
  await cluster.close();
  rmSync(cwd, { recursive: true });
});

const certs = (...flags: readonly string[]) => runCli(["certs", "--kubeconfig", join(cwd, "kubeconfig"), ...flags], { clock: systemClock });

describe("lattice certs", () => {
  test("explains a cluster that is no cell", async () => {
    expect(await certs()).toMatchObject({ code: 2, stderr: expect.stringContaining("the cluster is no cell") as string });
  });

  test("lists authorities and agents with their expiry, and no key", async () => {
    const authorities = expectOk(createCellAuthorities("mgmt", Date.now()));
    const data = reveal(authoritiesToSecret(authorities));
    await cluster.add({ apiVersion: "v1", kind: "Secret", metadata: { name: "lattice-cell-ca", namespace: HOME }, data });
    await cluster.add(accessSecret("prod", 20), accessSecret("new", undefined));
    const { code, stdout } = await certs();
    expect(code).toBe(0);
    expect(stdout).toMatch(/^KIND +NAME +STATE +EXPIRES +SERIAL$/m);
    expect(stdout).toMatch(/^current authority +mgmt +valid +20\d\d-\d\d-\d\dT\S+Z +[0-9A-F]+$/m);
    expect(stdout).toMatch(/^agent +new +none +- +-$/m);
    expect(stdout).toMatch(/^agent +prod +valid +\S+Z +0A$/m);
    const json = await certs("-o", "json");
    expect(JSON.parse(json.stdout)).toMatchObject({
      items: [{ kind: "authority", role: "current", name: "mgmt" }, { name: "new" }, { name: "prod", state: "valid" }],
    });
    expect(json.stdout).not.toContain("PRIVATE");
  });

  test("fails when a certificate has expired or was revoked", async () => {
    await cluster.add(accessSecret("old", -1), accessSecret("soon", 3), accessSecret("out", 20, true));
    const { code, stdout } = await certs();
    expect(code).toBe(1);
    expect(stdout).toMatch(/^agent +old +expired/m);
    expect(stdout).toMatch(/^agent +soon +expiring/m);
    expect(stdout).toMatch(/^agent +out +revoked/m);
  });

  test("names a record that cannot be read", async () => {
    const broken = accessSecret("broken", 1);
    await cluster.add({ ...broken, data: { record: base64OfText("{") } });
    expect(await certs()).toMatchObject({ code: 2, stderr: expect.stringContaining("lattice-access-broken") as string });
    expectOk(await cluster.client.delete(secrets, { namespace: HOME, name: "lattice-access-broken" }));
  });
});
