import type { ClientRequest, IncomingMessage } from "node:http";
import { connect as connectHttp2 } from "node:http2";
import { Agent, request as httpsRequest } from "node:https";
import { text as textOf } from "node:stream/consumers";
import { afterEach, expect, test } from "vitest";
import { expectOk, FakeClock, reveal, seededRandom, silentLogger, systemClock, type Clock } from "#base";
import { issueCertificate } from "#pki";
import { ANONYMOUS, rbacOf } from "../auth/index.ts";
import { builtinKinds } from "../kinds.ts";
import { createApiServer } from "../rest/api-server.ts";
import { createMemoryStore } from "../store/index.ts";
import { certificateFor, serveHttp } from "./index.ts";

const HOUR_MS = 3_600_000;
const closing: (() => Promise<void> | void)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

type Subject = { readonly name: string; readonly groups: readonly string[] };

/** `issue`: a client certificate of the server's authority, in the form that Node's clients take. */
async function start(clock: Clock = systemClock) {
  const { server: certificate, authority, ca } = expectOk(certificateFor("127.0.0.1", systemClock));
  const store = createMemoryStore();
  const { authorize } = rbacOf(store);
  const server = createApiServer({ store, types: builtinKinds(store), clock, random: seededRandom(1), authorize });
  const exchange = { server, authenticate: () => undefined, anonymous: ANONYMOUS, logger: silentLogger, clock };
  const listener = expectOk(await serveHttp({ host: "127.0.0.1", port: 0, certificate, clientAuthority: authority }, exchange));
  closing.push(listener.close, () => server.close());
  const issue = ({ name, groups }: Subject) => {
    const now = Date.now();
    const period = { notBefore: new Date(now - HOUR_MS), notAfter: new Date(now + HOUR_MS) };
    const issued = expectOk(issueCertificate(ca, { commonName: name, organizations: groups, usages: ["client"], ...period }));
    return { cert: issued.certificate, key: reveal(issued.key) };
  };
  return { url: `https://127.0.0.1:${listener.port}`, ca: authority, issue };
}

async function responseTo(sent: ClientRequest): Promise<unknown> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => sent.on("response", resolve).on("error", reject));
  return JSON.parse(await textOf(response));
}

test("a client certificate of the server's authority identifies the user, on both versions of HTTP", async () => {
  const { url, ca, issue } = await start();
  const identity = { ca, ...issue({ name: "carol", groups: ["qa", "devs"] }) };
  const reviews = new URL("/apis/authentication.k8s.io/v1/selfsubjectreviews", url);
  const want = {
    username: "carol",
    groups: ["qa", "devs", "system:authenticated"],
    extra: { "authentication.kubernetes.io/credential-id": [expect.stringMatching(/^X509SHA256=[0-9a-f]{64}$/)] },
  };
  const headers = { "content-type": "application/json" };
  // a certificate is used before a token, even an invalid one
  const sent = httpsRequest(reviews, { method: "POST", headers: { ...headers, authorization: "Bearer bad" }, ...identity }).end("{}");
  expect(await responseTo(sent)).toMatchObject({ status: { userInfo: want } });
  const session = connectHttp2(url, identity);
  for (let twice = 0; twice < 2; twice += 1) {
    const stream = session.request({ ...headers, ":method": "POST", ":path": reviews.pathname });
    stream.end("{}");
    expect(JSON.parse(await textOf(stream))).toMatchObject({ status: { userInfo: want } });
  }
  session.close();
  const admin = issue({ name: "root", groups: ["system:masters"] });
  const asAdmin = httpsRequest(new URL("/api/v1/nodes", url), { ca, ...admin }).end();
  expect(await responseTo(asAdmin)).toMatchObject({ kind: "NodeList" });
});

test("a certificate of another authority is a 401, and a certificate is optional", async () => {
  const [{ url, ca }, other] = [await start(), await start()];
  const get = (identity: object) => httpsRequest(new URL("/version", url), { ca, ...identity }).end();
  expect(await responseTo(get(other.issue({ name: "carol", groups: [] })))).toMatchObject({ code: 401 });
  expect(await responseTo(get({}))).toMatchObject({ major: "1" });
});

test("a certificate that expires while its connection is open is a 401 from then on", async () => {
  const clock = new FakeClock(Date.now());
  const { url, ca, issue } = await start(clock);
  const agent = new Agent({ keepAlive: true, maxSockets: 1, ca, ...issue({ name: "carol", groups: [] }) });
  const version = () => responseTo(httpsRequest(new URL("/version", url), { agent }).end());
  expect(await version()).toMatchObject({ major: "1" });
  await clock.advance(2 * HOUR_MS);
  expect(await version()).toMatchObject({ code: 401 });
  agent.destroy();
});
