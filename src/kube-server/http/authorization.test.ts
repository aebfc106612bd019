/** How often, and when, a request over HTTP is authorized. */
import { connect } from "node:net";
import { afterEach, expect, test } from "vitest";
import { expectOk, seededRandom, silentLogger, systemClock } from "#base";
import { builtinKinds } from "../kinds.ts";
import { createApiServer } from "../rest/api-server.ts";
import { createMemoryStore } from "../store/index.ts";
import { serveHttp } from "./index.ts";
import type { Access } from "../protocol/auth-port.ts";

const closing: (() => Promise<void> | void)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const MAPS = "/api/v1/namespaces/default/configmaps";

/** `checks`: the verbs that were authorized. */
async function serve(allowed = true) {
  const checks: string[] = [];
  const store = createMemoryStore();
  const authorize = (_user: unknown, access: Access) => {
    checks.push(access.verb);
    return { allowed, reason: "" };
  };
  const server = createApiServer({ store, types: builtinKinds(store), clock: systemClock, random: seededRandom(1), authorize });
  const user = { name: "a", uid: "", groups: [] };
  const exchange = { server, authenticate: () => user, anonymous: user, logger: silentLogger, clock: systemClock };
  const { port, close } = expectOk(await serveHttp({ host: "127.0.0.1", port: 0 }, exchange));
  closing.push(close, () => server.close());
  return { checks, port };
}

test("every write over HTTP is authorized once", async () => {
  const { checks, port } = await serve();
  const object = (value: string) => JSON.stringify({ metadata: { name: "a" }, data: { value } });
  const send = async (method: string, path: string, body?: string, type = "application/json") => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: { "content-type": type },
      ...(body === undefined ? {} : { body }),
    });
    return `${response.status} ${checks.splice(0).join(" ")}`;
  };
  expect(await send("POST", MAPS, object("1"))).toBe("201 create");
  expect(await send("PUT", `${MAPS}/a`, object("2"))).toBe("200 update");
  expect(await send("PATCH", `${MAPS}/a`, '{"data":{"value":"3"}}', "application/merge-patch+json")).toBe("200 patch");
  expect(await send("PATCH", `${MAPS}/a`, object("3"), "application/merge-patch+json")).toBe("200 patch");
  expect(await send("DELETE", `${MAPS}/a`)).toBe("200 delete");
  expect(await send("GET", MAPS)).toBe("200 list");
});

test("a forbidden write is authorized once, before its body has arrived", async () => {
  const { checks, port } = await serve(false);
  const socket = connect(port, "127.0.0.1");
  socket.write(`POST ${MAPS} HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\n`);
  const response = await new Promise<string>((resolve) => socket.once("data", (chunk: Buffer) => resolve(chunk.toString())));
  socket.destroy();
  expect(response).toMatch(/^HTTP\/1\.1 403 /);
  expect(checks).toEqual(["create"]);
});
