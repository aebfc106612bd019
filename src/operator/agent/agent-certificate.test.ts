import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { expectOk, FakeClock, reveal, sensitive } from "#base";
import { startEmbeddedCluster, type EmbeddedCluster } from "#embedded-cluster";
import { fieldAt, secrets, type KubeObject } from "#kube";
import { createCellAuthorities, readAgentIdentity, trustBundle, type CellAuthorities } from "#pki";
import { issueServing } from "../cell/serving-certificate.ts";
import { cellSigner } from "../cell/cell-signer.ts";
import { AgentCertificate } from "./agent-certificate.ts";
import { parseParentConfig, type ParentConfig } from "./parent-config.ts";

const DAY_MS = 86_400_000;
const HOME = "lattice-system";

/** The bootstrap port of a parent, which signs everything that its signer accepts. */
class Parent {
  readonly clock = new FakeClock(Date.now());
  readonly authorities: CellAuthorities;
  readonly asked: string[] = [];
  answer: { readonly status: number; readonly text: string } | undefined;
  #server: Server | undefined;

  constructor() {
    this.authorities = expectOk(createCellAuthorities("mgmt", Date.now()));
  }

  async listen(): Promise<number> {
    const signer = cellSigner({ authorities: () => this.authorities, clock: this.clock });
    const { certificate: cert, key } = expectOk(issueServing(this.authorities, "127.0.0.1", Date.now()));
    const server = createServer({ cert, key: reveal(key) }, (request, response) => {
      let body = "";
      request.setEncoding("utf8").on("data", (chunk: string) => (body += chunk));
      request.on("end", () => {
        this.asked.push(`${request.url ?? ""} ${request.headers.authorization ?? "-"}`);
        const renewal = request.url?.endsWith("/renew") === true ? signer.verifyRenewal("prod", body) : undefined;
        const csr = renewal === undefined ? body : renewal.ok ? renewal.value.csr : "";
        const signed = signer.sign("prod", csr);
        const own = signed.ok
          ? { status: 200, text: JSON.stringify(signed.value) }
          : { status: 401, text: '{"error":"authentication failed"}' };
        const { status, text } = this.answer ?? own;
        response.writeHead(status).end(text);
      });
    });
    this.#server = server;
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return (server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    await new Promise((resolve) => this.#server?.close(resolve));
  }
}

let cluster: EmbeddedCluster;
let parent: Parent;
let config: ParentConfig;

beforeEach(async () => {
  cluster = await startEmbeddedCluster({ objects: [{ apiVersion: "v1", kind: "Namespace", metadata: { name: HOME } }] });
  parent = new Parent();
  const port = await parent.listen();
  const bundle = trustBundle(parent.authorities);
  config = {
    cell: "mgmt",
    endpoint: "127.0.0.1:1",
    bootstrap: `https://127.0.0.1:${port}`,
    trustBundle: bundle,
    csrToken: sensitive("once"),
  };
});

afterEach(async () => {
  await parent.close();
  await cluster.close();
});

const open = (change: Partial<ParentConfig> = {}, name = "prod") =>
  AgentCertificate.open({
    client: cluster.client,
    home: HOME,
    cluster: name,
    parent: { ...config, ...change },
    clock: parent.clock,
    signal: new AbortController().signal,
  });

describe("the certificate of an agent", () => {
  test("is requested once with the token of the registration, and kept in a Secret", async () => {
    const first = expectOk(await open());
    expect(parent.asked).toEqual(["/api/clusters/prod/csr Bearer once"]);
    expect(expectOk(readAgentIdentity(first.credentials.certificate))).toMatchObject({ cell: "mgmt", cluster: "prod" });
    const second = expectOk(await open());
    expect(second.credentials.certificate).toBe(first.credentials.certificate);
    expect(reveal(second.credentials.key)).toBe(reveal(first.credentials.key));
    expect(parent.asked).toHaveLength(1);
    expect([first.isDue(parent.clock.now()), first.isExpired(parent.clock.now())]).toEqual([false, false]);
  });

  test("of another parent or cluster is replaced", async () => {
    expectOk(await open());
    expectOk(await open({}, "other"));
    expect(parent.asked).toHaveLength(2);
  });

  test("is renewed after its expiry with the old key, and stored", async () => {
    const certificate = expectOk(await open());
    const before = certificate.credentials.certificate;
    await parent.clock.advance(40 * DAY_MS);
    expect([certificate.isDue(parent.clock.now()), certificate.isExpired(parent.clock.now())]).toEqual([true, true]);
    expectOk(await certificate.renewExpired());
    expect(certificate.isExpired(parent.clock.now())).toBe(false);
    const stored = expectOk(await cluster.client.get<KubeObject>(secrets, { namespace: HOME, name: "lattice-agent-certificate" }));
    const kept = fieldAt(stored, "data", "tls.crt");
    expect(kept).toBe(Buffer.from(certificate.credentials.certificate).toString("base64"));
    expect(certificate.credentials.certificate).not.toBe(before);
  });

  test.each([
    { name: "a refusal", answer: { status: 401, text: '{"error":"authentication failed"}' }, want: "answered 401: authentication failed" },
    { name: "no JSON", answer: { status: 200, text: "<html>" }, want: "has no certificate" },
    { name: "no certificate", answer: { status: 200, text: '{"certificate":"x","trustBundle":"y"}' }, want: "certificate" },
    { name: "a huge answer", answer: { status: 200, text: "x".repeat(300 * 1024) }, want: "the answer is too large" },
  ])("fails with a sentence after $name", async ({ answer, want }) => {
    parent.answer = answer;
    expect(await open()).toMatchObject({ ok: false, error: expect.stringContaining(want) as string });
  });

  test("is not requested from a parent with another authority", async () => {
    const other = trustBundle(expectOk(createCellAuthorities("mgmt", Date.now())));
    expect(await open({ trustBundle: other })).toMatchObject({ ok: false, error: expect.stringContaining("cannot be reached") as string });
    expect(parent.asked).toEqual([]);
  });
});

describe("Secret lattice-parent-config", () => {
  const secret = (change: Readonly<Record<string, string>>) => {
    const texts = {
      cell: "mgmt",
      endpoint: "10.0.0.1:50051",
      bootstrap: "https://10.0.0.1:8443",
      "ca.crt": "PEM",
      "csr-token": "t",
      ...change,
    };
    const data = Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, Buffer.from(text).toString("base64")]));
    return { apiVersion: "v1", kind: "Secret", metadata: { name: "lattice-parent-config" }, data };
  };

  test("is read field by field", () => {
    expect(expectOk(parseParentConfig(secret({})))).toMatchObject({
      cell: "mgmt",
      endpoint: "10.0.0.1:50051",
      bootstrap: "https://10.0.0.1:8443",
    });
  });

  test.each([
    { name: "without a token", change: { "csr-token": "" }, want: "csr-token is missing" },
    { name: "with plain HTTP", change: { bootstrap: "http://10.0.0.1" }, want: "bootstrap must be https://host:port" },
    { name: "without a port", change: { endpoint: "10.0.0.1" }, want: "endpoint must be host:port" },
  ])("$name is refused", ({ change, want }) => {
    expect(parseParentConfig(secret(change))).toMatchObject({ ok: false, error: expect.stringContaining(want) as string });
  });
});
