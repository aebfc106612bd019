/** Whatever happens to the webhook, a write of a Deployment is accepted; and once the webhook works again, writes are patched again. */
import { createServer, type Server } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { base64OfText, expectOk, reveal, systemClock, type Result } from "#base";
import type { WorkloadTarget } from "#workload-patch";
import { deployments, field, fieldAt, mutatingWebhookConfigurations, secrets, type KubeObject } from "#kube";
import { authoritiesFromSecret, authoritiesToSecret, createCellAuthorities, issueWebhookCertificate } from "#pki";
import {
  CONFIGURATION,
  deploymentOf,
  HOME,
  serviceLabel,
  startAdmissionWorld,
  type AdmissionWorld,
} from "./admission-world.test-support.ts";
import { secretText } from "../webhooks/webhook-objects.ts";
import { ADMISSION_AUTHORITY_SECRET, ADMISSION_CERTIFICATE_SECRET, servingSecret } from "./serving-secret.ts";

const TARGET = { namespace: "shop", name: "api" };
const CERTIFICATE = { namespace: HOME, name: ADMISSION_CERTIFICATE_SECRET };
const until = <T>(look: () => T | Promise<T>) => vi.waitFor(look, { timeout: 30_000, interval: 20 });

/** A cluster with a working webhook and one patched Deployment. */
async function startPatched() {
  const world = await startAdmissionWorld();
  const leader = world.startReplica();
  await leader.lead();
  await world.addPatch(TARGET);
  await until(async () => expect(await world.hook()).toBeDefined());
  await patchedAgain(world);
  return { world, leader };
}

/** Creates the Deployment and deletes it again; true: the webhook has patched it. The creation must succeed in any case. */
async function isPatched({ client }: AdmissionWorld): Promise<boolean> {
  const created = expectOk(await client.create(deployments, deploymentOf(TARGET)));
  expectOk(await client.delete(deployments, TARGET));
  return serviceLabel(created) === "api";
}

const patchedAgain = (world: AdmissionWorld) => until(async () => expect(await isPatched(world)).toBe(true));

/** Points the configuration to another port, as if the server there were the webhook. Its operator must not run. */
async function redirect({ client }: AdmissionWorld, port: number): Promise<void> {
  const found = expectOk(await client.get<KubeObject>(mutatingWebhookConfigurations, { name: CONFIGURATION }));
  const [hook] = field(found, "webhooks") as readonly object[];
  const clientConfig = { ...(fieldAt(hook, "clientConfig") as object), url: `https://127.0.0.1:${port}/mutate/deployments` };
  const changed = { ...found, webhooks: [{ ...hook, clientConfig }] } as unknown as KubeObject;
  expectOk(await client.update(mutatingWebhookConfigurations, changed));
}

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => new Promise<void>((resolve) => void server.close(() => resolve())));
  return (server.address() as { readonly port: number }).port;
}

describe("a Deployment is written although the webhook", () => {
  test("is down; after a restart at another port it patches again", async () => {
    const { world, leader } = await startPatched();
    await leader.close();
    expect(await isPatched(world)).toBe(false);
    await world.startReplica().lead();
    await patchedAgain(world);
  });

  test("accepts connections and never answers: after two seconds the write goes on", async () => {
    const { world, leader } = await startPatched();
    await leader.close();
    await redirect(
      world,
      await listening(
        createServer(
          (socket) =>
            void socket
              .on("error", () => {})
              .resume()
              .setTimeout(10_000, () => socket.destroy()),
        ),
      ),
    );
    expect(await isPatched(world)).toBe(false);
    await world.startReplica().lead();
    await patchedAgain(world);
  }, 30_000);

  test("answers with something that is no review", async () => {
    const { world, leader } = await startPatched();
    const stored = expectOk(await world.client.get<KubeObject>(secrets, CERTIFICATE));
    await leader.close();
    const text = (name: string) => secretText(stored, name) ?? "";
    const answer = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 5\r\nconnection: close\r\n\r\n[1,2]";
    const server = createTlsServer({ cert: text("tls.crt"), key: text("tls.key") }, (socket) => {
      socket.on("error", () => {}).once("data", () => socket.end(answer));
    });
    await redirect(world, await listening(server));
    expect(await isPatched(world)).toBe(false);
  });

  test("has a certificate of another authority, or one that has expired; the leader replaces it", async () => {
    const { world } = await startPatched();
    const now = systemClock.now();
    const foreign = expectOk(createCellAuthorities("lattice-admission", now));
    const names = { dnsNames: ["lattice-webhook.lattice-system.svc"], ipAddresses: ["127.0.0.1"] };
    const stored = expectOk(await world.client.get<KubeObject>(secrets, { namespace: HOME, name: ADMISSION_AUTHORITY_SECRET }));
    const own = expectOk(authoritiesFromSecret(fieldAt(stored, "data") as Record<string, string>));
    const year = 366 * 86_400_000;
    for (const certificate of [issueWebhookCertificate(foreign, names, now - year), issueWebhookCertificate(own, names, now - year)]) {
      const secret = servingSecret(HOME, expectOk(certificate), "");
      const data = field(secret, "data");
      expectOk(await world.client.patch(secrets, CERTIFICATE, { type: "merge", patch: { data: data ?? {} } }));
      await isPatched(world);
      await patchedAgain(world);
    }
  }, 60_000);

  test("has a Secret that is damaged or deleted", async () => {
    const { world, leader } = await startPatched();
    const damages: readonly (() => Promise<Result<unknown, unknown>>)[] = [
      () => world.client.patch(secrets, CERTIFICATE, { type: "merge", patch: { data: { "tls.key": base64OfText("no key") } } }),
      () => world.client.patch(secrets, CERTIFICATE, { type: "merge", patch: { data: { "tls.crt": base64OfText("no certificate") } } }),
      () => world.client.delete(secrets, CERTIFICATE),
    ];
    for (const damage of damages) {
      expectOk(await damage());
      await isPatched(world);
      await until(async () => {
        const secret = expectOk(await world.client.get<KubeObject>(secrets, CERTIFICATE));
        expect(secretText(secret, "tls.key")).toContain("PRIVATE KEY");
      });
      await patchedAgain(world);
    }
    expect(JSON.stringify(leader.lines)).not.toContain("PRIVATE");
  }, 60_000);

  test("was installed again, after its namespace was deleted by force and its configuration left behind", async () => {
    const { world, leader } = await startPatched();
    const { namespace } = CERTIFICATE;
    await leader.close();
    for (const name of [ADMISSION_AUTHORITY_SECRET, ADMISSION_CERTIFICATE_SECRET])
      expectOk(await world.client.delete(secrets, { namespace, name }));
    expect(await isPatched(world)).toBe(false);
    await world.startReplica().lead();
    await patchedAgain(world);
  });
});

describe("under load", () => {
  /** Writes Deployments, one per worker, until it is stopped; returns the errors. */
  async function startLoad(world: AdmissionWorld) {
    const loaded = [0, 1, 2].map((worker) => ({ namespace: "bank", name: `load-${worker}` }));
    for (const target of loaded) await world.addPatch(target);
    await until(async () => expect(JSON.stringify(await world.hook())).toContain("bank/load-2"));
    for (const target of loaded) await world.createDeployment(target);
    let stopped = false;
    const errors: unknown[] = [];
    let [writes, patched] = [0, 0];
    const write = async (target: WorkloadTarget) => {
      for (let at = 0; !stopped; at += 1) {
        const patch = { metadata: { labels: { "lattice.dev/service": null, at: `${at}` } } };
        const written = await world.client.patch(deployments, target, { type: "merge", patch });
        writes += 1;
        if (!written.ok) errors.push(written.error.message);
        else if (serviceLabel(written.value) === target.name) patched += 1;
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    };
    const workers = loaded.map(write);
    const stop = async () => {
      const enough = writes + 10;
      await until(() => expect(writes).toBeGreaterThan(enough));
      stopped = true;
      await Promise.all(workers);
      return { errors, writes, patched };
    };
    return stop;
  }

  test("a rotation of the authority loses no review: the new one is trusted before it signs", async () => {
    const { world } = await startPatched();
    const stop = await startLoad(world);
    const key = { namespace: HOME, name: ADMISSION_AUTHORITY_SECRET };
    const stored = expectOk(await world.client.get<KubeObject>(secrets, key));
    const own = expectOk(authoritiesFromSecret(fieldAt(stored, "data") as Record<string, string>));
    const now = systemClock.now();
    const next = expectOk(createCellAuthorities("lattice-admission", now)).current;
    // as rotateIfDue leaves it after the successor was promoted
    const rotated = { cell: own.cell, current: next, previous: { ...own.current, retired: now } };
    const data = reveal(authoritiesToSecret(rotated));
    expectOk(await world.client.patch(secrets, key, { type: "merge", patch: { data } }));
    const trusted = () => world.hook().then((hook) => fieldAt(hook, "clientConfig", "caBundle"));
    const before = await trusted();
    await world.addPatch({ namespace: "shop", name: "another" });
    await until(async () => expect(await trusted()).not.toBe(before));
    const { errors, writes, patched } = await stop();
    expect(errors).toEqual([]);
    expect(patched).toBe(writes);
  }, 60_000);

  test("a certificate is replaced without losing a review", async () => {
    const { world } = await startPatched();
    const stop = await startLoad(world);
    const stored = expectOk(await world.client.get<KubeObject>(secrets, { namespace: HOME, name: ADMISSION_AUTHORITY_SECRET }));
    const own = expectOk(authoritiesFromSecret(fieldAt(stored, "data") as Record<string, string>));
    const names = { dnsNames: ["lattice-webhook.lattice-system.svc"], ipAddresses: ["127.0.0.1"] };
    for (let round = 0; round < 5; round += 1) {
      const issued = expectOk(issueWebhookCertificate(own, names, systemClock.now()));
      const data = field(servingSecret(HOME, issued, own.current.certificate), "data") ?? {};
      expectOk(await world.client.patch(secrets, CERTIFICATE, { type: "merge", patch: { data } }));
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    const { errors, writes, patched } = await stop();
    expect(errors).toEqual([]);
    expect(patched).toBe(writes);
  });

  test("a restart of the webhook refuses no write, and all are patched again after it", async () => {
    const { world, leader } = await startPatched();
    const stop = await startLoad(world);
    await leader.close();
    await new Promise((resolve) => setTimeout(resolve, 200));
    await world.startReplica().lead();
    await patchedAgain(world);
    const { errors } = await stop();
    expect(errors).toEqual([]);
    expect(await isPatched(world)).toBe(true);
  });
});
