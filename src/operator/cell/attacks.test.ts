/**
 * Attacks on a cell with its real authority and its records, on real sockets. Another agent is connected before the first of them and stays so to the last:
 * after each its commands are answered on the same stream, and a new child gets its certificate.
 */
import { X509Certificate } from "node:crypto";
import { connect, type TLSSocket } from "node:tls";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { err, expectOk, ok, reveal, sensitive } from "#base";
import { fieldAt, parseJson, secrets, type KubeObject } from "#kube";
import type { AgentCredentials } from "#link";
import { agentNames, createCsr, createPrivateKeyPem, readAgentIdentity, signRenewal } from "#pki";
import {
  AUTHORITY,
  csrPem,
  otherNames,
  P_224,
  requestBytes,
  requestWith,
  RSA_1024,
  type RequestParts,
} from "../../../test/builders/hostile-csr.ts";
import { decoded, post } from "../../../test/builders/two-clusters.ts";
import { SOCKET_CELL, SocketCell } from "../socket-cell.test-support.ts";
import { homeOf } from "../world-agent.test-support.ts";

const DAY = 86_400_000;
const { signal: never } = new AbortController();
let cell: SocketCell;
let since: number | undefined;
let children = 0;

beforeAll(async () => {
  cell = await SocketCell.open({ offsetMs: -40 * DAY });
  await cell.listen(); // for the ports
  await cell.stopListening();
  for (const name of ["expired", "renews"]) await cell.enroll(name);
  await cell.setOffset(0);
  await cell.listen();
  await cell.register("other");
  cell.startAgent("other");
  await cell.until(() => cell.isConnected("other"));
  since = other()?.connectedSince;
});
afterAll(() => cell.close());

afterEach(async () => {
  expect(await cell.listeners.link.send("other", { kind: "status" }, never)).toEqual(ok({ effects: [] }));
  expect(other()).toMatchObject({ connected: true, connectedSince: since });
  const next = await newChild();
  expect((await requestCertificate(next, goodCsr(next.name))).status).toBe(200);
});

const other = () => cell.listeners.link.agents().get("other");
const goodCsr = (name: string) => expectOk(createCsr(createPrivateKeyPem("P-256"), { commonName: name }));

type Child = { readonly name: string; readonly csrToken: string };

async function newChild(): Promise<Child> {
  children += 1;
  const name = `child-${children}`;
  const { bootstrapToken = sensitive("") } = expectOk(await cell.registrations.createAccess(name, { expiresAt: Date.now() + DAY }));
  return { name, csrToken: expectOk(await cell.registrations.register(name, bootstrapToken)) };
}

function send(path: string, token: string, body: string) {
  return post(`https://127.0.0.1:${cell.bootstrapPort}${path}`, cell.certificates.trustBundle, { token, body });
}

function requestCertificate({ name, csrToken }: Child, csr: string) {
  return send(`/api/clusters/${name}/csr`, csrToken, csr);
}

function certificateIn(text: string): X509Certificate {
  const certificate = fieldAt(expectOk(parseJson(text)), "certificate");
  return new X509Certificate(typeof certificate === "string" ? certificate : "");
}

async function credentialsOf(cluster: string): Promise<AgentCredentials> {
  const key = { namespace: homeOf(cluster), name: "lattice-agent-certificate" };
  const secret = expectOk(await cell.cluster.client.get<KubeObject>(secrets, key));
  const text = (name: string) => decoded(fieldAt(secret, "data", name));
  return { certificate: text("tls.crt"), key: sensitive(text("tls.key")), trustBundle: text("ca.crt") };
}

describe("a certificate request", () => {
  const names = otherNames("other.agent.mgmt.lattice", `spiffe://${SOCKET_CELL}.lattice/cluster/other`);
  const rows: { name: string; parts: RequestParts }[] = [
    { name: "a CSR for another name", parts: { commonName: "other" } },
    { name: "a CSR with other SANs", parts: { extensions: [names] } },
    { name: "a CSR with CA:TRUE", parts: { extensions: [AUTHORITY] } },
  ];
  test.each(rows)("$name: the certificate has the names and the use of an agent of its own cluster", async ({ parts }) => {
    const child = await newChild();
    const answer = await requestCertificate(child, requestWith(parts));
    expect(answer.status).toBe(200);
    const certificate = certificateIn(answer.text);
    const { commonName, dnsNames, uriNames } = agentNames(SOCKET_CELL, child.name);
    expect(certificate.subject).toBe(`CN=${commonName}`);
    expect(certificate.subjectAltName).toBe(`DNS:${dnsNames[0]}, URI:${uriNames[0]}`);
    expect([certificate.ca, certificate.keyUsage]).toEqual([false, ["1.3.6.1.5.5.7.3.2"]]);
  });

  const refused: { name: string; csr: () => string; status: number }[] = [
    { name: "a CSR with a key of P-224", csr: () => requestWith({ keyInfo: P_224 }), status: 400 },
    { name: "a CSR with a key of RSA-1024", csr: () => requestWith({ keyInfo: RSA_1024 }), status: 400 },
    { name: "a CSR of 1 MB", csr: () => csrPem(Buffer.alloc(1_000_000)), status: 413 },
    { name: "a CSR with trailing bytes", csr: () => csrPem(Buffer.concat([requestBytes({}), Buffer.of(0)])), status: 400 },
    { name: "a CSR with a second one behind it", csr: () => requestWith({}) + requestWith({}), status: 400 },
  ];
  test.each(refused)("$name: refused, and the token is not spent", async ({ csr, status }) => {
    const child = await newChild();
    expect((await requestCertificate(child, csr())).status).toBe(status);
    expect(cell.registrations.accessOf(child.name)).toMatchObject({ spent: false, certificates: [] });
    expect((await requestCertificate(child, goodCsr(child.name))).status).toBe(200);
  });
});

describe("a certificate that is no longer valid", () => {
  /** How the connection ends; "open": the cell accepted the certificate. */
  function connectionWith({ certificate, key, trustBundle }: AgentCredentials): Promise<string> {
    const names = { host: "127.0.0.1", port: cell.listeners.link.port, servername: `${SOCKET_CELL}.cell.lattice`, ALPNProtocols: ["h2"] };
    const socket: TLSSocket = connect({ ...names, ca: trustBundle, cert: certificate, key: reveal(key) });
    return new Promise<string>((resolve) => {
      socket.on("error", (error) => resolve(error.message));
      socket.on("data", () => resolve("open")); // the settings of HTTP/2
      socket.on("close", () => resolve("closed"));
    }).finally(() => socket.destroy());
  }

  test("an expired certificate: no connection", async () => {
    expect(await connectionWith(await credentialsOf("expired"))).not.toBe("open");
    expect(await connectionWith(await credentialsOf("other"))).toBe("open");
    expect(cell.listeners.link.agents().has("expired")).toBe(false);
  });

  test("a revoked certificate: neither a stream nor a renewal", async () => {
    await cell.enroll("revoked");
    expectOk(await cell.registrations.revoke("revoked"));
    const agent = cell.startAgent("revoked");
    await cell.until(() => agent.uplink.current?.lastCloseReason?.includes("the certificate was revoked") === true);
    expect(cell.listeners.link.agents().has("revoked")).toBe(false);
    expect((await renew("revoked", await credentialsOf("revoked"))).status).toBe(401);
  });

  test("a certificate that is renewed twice with the old key: one new key is accepted, and none after that has connected", async () => {
    const old = await credentialsOf("renews");
    const [first, second] = [await renew("renews", old), await renew("renews", old)];
    expect([first.status, second.status]).toEqual([200, 200]);
    const [one, two] = [first, second].map(({ text }) => expectOk(readAgentIdentity(certificateIn(text).raw)));
    const isAccepted = (identity: typeof one) => cell.registrations.isAccepted("renews", identity?.serial ?? "", identity?.notBefore);
    expect([isAccepted(one), isAccepted(two)]).toEqual([false, true]);
    expectOk(await cell.registrations.connected("renews", two?.serial ?? "", two?.notBefore));
    expect((await renew("renews", old)).status).toBe(401);
  });

  test("a certificate of A: renews no certificate of B", async () => {
    const old = await credentialsOf("renews");
    const csr = goodCsr("other");
    expect(signRenewal({ cluster: "other", csr, now: Date.now() }, old.key, old.certificate)).toEqual(err(expect.anything()));
    const signed = expectOk(signRenewal({ cluster: "renews", csr, now: Date.now() }, old.key, old.certificate));
    expect((await send("/api/clusters/other/renew", "", JSON.stringify(signed))).status).toBe(401);
  });

  function renew(cluster: string, { certificate, key }: AgentCredentials) {
    const signed = expectOk(signRenewal({ cluster, csr: goodCsr(cluster), now: Date.now() }, key, certificate));
    return send(`/api/clusters/${cluster}/renew`, "", JSON.stringify(signed));
  }
});
