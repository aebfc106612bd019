/**
 * Answers that are lost at each step, on the way to the child and on the way to the API server, and crashes between signing and recording: the child
 * recovers by asking again, and its token is never spent for nothing.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { expectOk } from "#base";
import { failWith, loseAnswer } from "#embedded-cluster";
import { deafRelay, type DeafRelay } from "../../../test/builders/deaf-relay.ts";
import {
  bootstrap,
  csrOf,
  csrTokenIn,
  DAY,
  newChild,
  openWorld,
  post,
  renewalOf,
  serialIn,
  serveWorld,
  type BootstrapWorld,
} from "./bootstrap-world.test-support.ts";
import type { BootstrapServer } from "./server.ts";

let world: BootstrapWorld;
let server: BootstrapServer;
let relay: DeafRelay;
beforeAll(async () => {
  world = await openWorld();
  server = await serveWorld(world);
  relay = await deafRelay(server.port);
});
afterAll(async () => {
  await relay.close();
  await server.close();
  await world.close();
});
afterEach(() => relay.lose(0));

const isAnswered = (endpoint: string, cluster: string) =>
  world.lines.filter(({ fields }) => fields["endpoint"] === endpoint && fields["cluster"] === cluster && fields["outcome"] === "ok").length;

describe("an answer to the child is lost", () => {
  test("to register: the same token gets the same manifests", async () => {
    const child = await newChild(world, "lost-register");
    relay.lose(2);
    for (let lost = 0; lost < 2; lost += 1) {
      expect((await post(relay.port, "/api/clusters/register", { token: child.bootstrap })).status).toBe(0);
    }
    expect(isAnswered("register", child.name)).toBe(2);
    expect(world.registrations.accessOf(child.name)?.spent).toBe(false);
    const answer = await post(relay.port, "/api/clusters/register", { token: child.bootstrap });
    const csr = csrTokenIn(answer.text);
    expect((await post(relay.port, `/api/clusters/${child.name}/csr`, { token: csr, body: csrOf("k") })).status).toBe(200);
  });

  test("to csr: the same key gets a certificate, also after the token expired", async () => {
    const child = await newChild(world, "lost-csr");
    const token = csrTokenIn((await post(server.port, "/api/clusters/register", { token: child.bootstrap })).text);
    const send = () => post(relay.port, `/api/clusters/${child.name}/csr`, { token, body: csrOf("k") });
    relay.lose(2);
    expect([(await send()).status, (await send()).status]).toEqual([0, 0]);
    expect(isAnswered("csr", child.name)).toBe(2);
    world.clock.jump(2 * DAY);
    const answer = await send();
    expect(answer.status).toBe(200);
    expect(world.registrations.isAccepted(child.name, serialIn(answer))).toBe(true);
  });

  test("to csr, and the child lost its key too: another key is signed, and the first certificate is withdrawn", async () => {
    const child = await newChild(world, "lost-key");
    const token = csrTokenIn((await post(server.port, "/api/clusters/register", { token: child.bootstrap })).text);
    relay.lose(1);
    await post(relay.port, `/api/clusters/${child.name}/csr`, { token, body: csrOf("first") });
    const lost = world.signer.signed.at(-1)?.serial ?? "";
    const answer = await post(relay.port, `/api/clusters/${child.name}/csr`, { token, body: csrOf("second") });
    expect([lost, serialIn(answer)].map((serial) => world.registrations.isAccepted(child.name, serial))).toEqual([false, true]);
  });

  test("to renew: the same renewal is answered again", async () => {
    const { name, serial } = await bootstrap(world, server.port, "lost-renew");
    expectOk(await world.registrations.connected(name, serial));
    const send = () => post(relay.port, `/api/clusters/${name}/renew`, { body: renewalOf(name, serial, csrOf("next")) });
    relay.lose(3);
    for (let lost = 0; lost < 3; lost += 1) expect((await send()).status).toBe(0);
    const answer = await send();
    expect(answer.status).toBe(200);
    expectOk(await world.registrations.connected(name, serialIn(answer)));
    expect((await send()).status).toBe(401);
  });
});

describe("the API server fails", () => {
  const registered = async (name: string) => {
    const child = await newChild(world, name);
    const token = csrTokenIn((await post(server.port, "/api/clusters/register", { token: child.bootstrap })).text);
    const send = (key = "k") => post(server.port, `/api/clusters/${name}/csr`, { token, body: csrOf(key) });
    return { ...child, send };
  };
  const register = (token: string) => post(server.port, "/api/clusters/register", { token });

  test("before the certificate is recorded: it is not sent, and the token is not spent", async () => {
    const child = await registered("unrecorded");
    {
      using _ = world.cluster.intercept({ verb: "update", resource: "secrets" }, failWith("network"));
      expect((await child.send()).status).toBe(503);
    }
    const lost = world.signer.signed.at(-1);
    expect(world.registrations.accessOf("unrecorded")).toMatchObject({ spent: false, certificates: [] });
    expect((await register(child.bootstrap)).status).toBe(200);
    const answer = await child.send();
    expect([answer.status, serialIn(answer) === lost?.serial]).toEqual([200, false]);
  });

  test("after the certificate was recorded: the child asks again and gets one", async () => {
    const child = await registered("recorded");
    {
      using _ = world.cluster.intercept({ verb: "update", resource: "secrets" }, loseAnswer());
      expect((await child.send()).status).toBe(503);
    }
    expect((await child.send()).status).toBe(200);
    expect((await register(child.bootstrap)).status).toBe(401);
    expect(world.registrations.accessOf("recorded")?.certificates).toHaveLength(2);
  });

  test("with a conflict: the record is read again, and one certificate is signed", async () => {
    const child = await registered("conflict");
    const before = world.signer.signed.length;
    using _ = world.cluster.intercept({ verb: "update", resource: "secrets", times: 3 }, failWith("conflict"));
    expect((await child.send()).status).toBe(200);
    expect(world.signer.signed.length - before).toBe(1);
  });

  test("with conflicts without end: the client is asked to try again", async () => {
    const child = await registered("conflicts");
    {
      using _ = world.cluster.intercept({ verb: "update", resource: "secrets" }, failWith("conflict"));
      expect((await child.send()).status).toBe(503);
    }
    expect((await child.send()).status).toBe(200);
  });

  test("with a revocation between signing and recording: the certificate is not sent", async () => {
    const child = await registered("overtaken");
    using _ = world.cluster.intercept({ verb: "update", resource: "secrets", times: 1 }, async (action, next) => {
      expectOk(await world.registrations.revoke("overtaken"));
      void action;
      return next();
    });
    expect((await child.send()).status).toBe(401);
    expect(world.registrations.accessOf("overtaken")).toMatchObject({ revoked: true, certificates: [] });
  });
});

describe("the cell crashes", () => {
  const steps = [
    { name: "between signing and recording", fault: failWith("network"), spent: false },
    { name: "between recording and answering", fault: loseAnswer(), spent: true },
  ];

  test.each(steps)("$name: the next process completes the bootstrap", async ({ fault, spent }) => {
    const child = await newChild(world, `crash-${spent ? "after" : "before"}`);
    const token = csrTokenIn((await post(server.port, "/api/clusters/register", { token: child.bootstrap })).text);
    {
      using _ = world.cluster.intercept({ verb: "update", resource: "secrets" }, fault);
      await post(server.port, `/api/clusters/${child.name}/csr`, { token, body: csrOf("k") });
    }
    const next = await world.restart();
    expect(next.accessOf(child.name)?.spent).toBe(spent);
    const second = await serveWorld(world, {}, next);
    expect((await post(second.port, "/api/clusters/register", { token: child.bootstrap })).status).toBe(spent ? 401 : 200);
    const answer = await post(second.port, `/api/clusters/${child.name}/csr`, { token, body: csrOf("k") });
    expect([answer.status, next.isAccepted(child.name, serialIn(answer))]).toEqual([200, true]);
    expectOk(await next.connected(child.name, serialIn(answer)));
    expect((await post(second.port, `/api/clusters/${child.name}/csr`, { token, body: csrOf("k") })).status).toBe(401);
    await second.close();
  });

  test("while it makes tokens: the caller asks for others", async () => {
    {
      using _ = world.cluster.intercept({ verb: "create", resource: "secrets" }, loseAnswer());
      const lost = await world.registrations.createAccess("tokens-lost", { expiresAt: world.clock.now() + DAY });
      expect(lost).toMatchObject({ ok: false, error: { kind: "unavailable" } });
    }
    const expiresAt = world.clock.now() + DAY;
    expect(expectOk(await world.registrations.createAccess("tokens-lost", { expiresAt }))).toEqual({});
    expect(expectOk(await world.registrations.createAccess("tokens-lost", { expiresAt, reissue: true })).bootstrapToken).toBeDefined();
  });
});
