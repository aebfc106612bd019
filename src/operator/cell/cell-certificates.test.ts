import { X509Certificate } from "node:crypto";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { expectOk, FakeClock, sensitive } from "#base";
import { startEmbeddedCluster, type EmbeddedCluster } from "#embedded-cluster";
import { fieldAt, secrets, type KubeObject } from "#kube";
import { createCsr, createPrivateKeyPem, readAgentIdentity, signRenewal } from "#pki";
import { CellCertificates } from "./cell-certificates.ts";
import { cellSigner } from "./cell-signer.ts";
import { issueServing } from "./serving-certificate.ts";

const DAY_MS = 86_400_000;
const HOME = "lattice-system";
const KEY = { namespace: HOME, name: "lattice-cell-ca" };
let cluster: EmbeddedCluster;
let clock: FakeClock;

beforeEach(async () => {
  cluster = await startEmbeddedCluster({ objects: [{ apiVersion: "v1", kind: "Namespace", metadata: { name: HOME } }] });
  clock = new FakeClock();
  onTestFinished(() => cluster.close());
});

const open = (cell = "mgmt", host = "10.0.0.1") =>
  CellCertificates.open({ client: cluster.client, home: HOME, cell, host, clock, signal: new AbortController().signal });

describe("the certificates of a cell", () => {
  test("are created once, and another leader finds the same authority", async () => {
    const first = expectOk(await open());
    const second = expectOk(await open());
    expect(second.trustBundle).toBe(first.trustBundle);
    const serving = new X509Certificate(first.tls.certificate);
    expect(serving.subjectAltName).toBe("DNS:mgmt.cell.lattice, IP Address:10.0.0.1");
    expect(serving.verify(new X509Certificate(first.trustBundle).publicKey)).toBe(true);
  });

  test("have the name of a host as a name", async () => {
    const { authorities } = expectOk(await open());
    const { certificate } = expectOk(issueServing(authorities, "cell.example.com", clock.now()));
    expect(new X509Certificate(certificate).subjectAltName).toBe("DNS:cell.example.com, DNS:mgmt.cell.lattice");
    const several = expectOk(issueServing(authorities, ["10.0.0.2", "cell.example.com", "10.0.0.1", "10.0.0.2"], clock.now()));
    expect(new X509Certificate(several.certificate).subjectAltName).toBe(
      "DNS:cell.example.com, DNS:mgmt.cell.lattice, IP Address:10.0.0.2, IP Address:10.0.0.1",
    );
    expect(issueServing(authorities, "not a host", clock.now())).toMatchObject({
      ok: false,
      error: expect.stringContaining("not a host") as string,
    });
  });

  test("are renewed at two thirds of their life, and before that nothing changes", async () => {
    const certificates = expectOk(await open());
    const before = certificates.tls.certificate;
    await clock.advance(19 * DAY_MS);
    expect(expectOk(await certificates.refresh())).toBe(false);
    await clock.advance(2 * DAY_MS);
    expect(expectOk(await certificates.refresh())).toBe(true);
    expect(certificates.tls.certificate).not.toBe(before);
  });

  test("have a successor at 80 % of the authority's life, which is stored before it is trusted", async () => {
    const certificates = expectOk(await open());
    await clock.advance(8.1 * 365.25 * DAY_MS);
    expect(expectOk(await certificates.refresh())).toBe(true);
    expect(certificates.trustBundle.match(/BEGIN CERTIFICATE/g)).toHaveLength(2);
    const stored = expectOk(await cluster.client.get<KubeObject>(secrets, KEY));
    expect(fieldAt(stored, "data", "successor.crt")).toBeDefined();
  });

  test("of another cell, or unreadable ones, are refused and stay", async () => {
    expectOk(await open());
    expect(await open("other")).toMatchObject({
      ok: false,
      error: expect.stringContaining("is of cell mgmt, and this cell is other") as string,
    });
    const patch = { data: { "current.crt": Buffer.from("broken").toString("base64") } };
    expectOk(await cluster.client.patch(secrets, KEY, { type: "merge", patch }));
    const refused = await open();
    expect(refused).toMatchObject({ ok: false, error: expect.stringContaining("lattice-cell-ca") as string });
    expect(fieldAt(expectOk(await cluster.client.get<KubeObject>(secrets, KEY)), "data", "current.crt")).toBe(patch.data["current.crt"]);
  });
});

describe("the signer of a cell", () => {
  const request = (key = createPrivateKeyPem(), commonName = "anything") => ({ key, csr: expectOk(createCsr(key, { commonName })) });

  test("takes every name from the cluster, and none from the request", async () => {
    const certificates = expectOk(await open());
    const signer = cellSigner({ authorities: () => certificates.authorities, clock });
    const { csr } = request(undefined, "other");
    const signed = expectOk(signer.sign("prod", csr));
    expect(expectOk(readAgentIdentity(signed.certificate))).toMatchObject({ cell: "mgmt", cluster: "prod", serial: signed.serial });
    expect(signed.trustBundle).toBe(certificates.trustBundle);
    expect(expectOk(signer.keyHashOf(csr))).toBe(signed.keyHash);
    expect(signer.sign("prod", "no request")).toMatchObject({ ok: false, error: { kind: "invalid-csr" } });
  });

  test("accepts a renewal that the old key has signed, and refuses everything else", async () => {
    const certificates = expectOk(await open());
    const signer = cellSigner({ authorities: () => certificates.authorities, clock });
    const { key, csr } = request();
    const { certificate, serial } = expectOk(signer.sign("prod", csr));
    await clock.advance(40 * DAY_MS);
    const next = request().csr;
    const renewal = expectOk(signRenewal({ cluster: "prod", csr: next, now: clock.now() }, key, certificate));
    expect(expectOk(signer.verifyRenewal("prod", JSON.stringify(renewal)))).toMatchObject({ csr: next, serial });
    const refused = [
      signer.verifyRenewal("other", JSON.stringify(renewal)),
      signer.verifyRenewal("prod", "no JSON"),
      signer.verifyRenewal("prod", JSON.stringify({ ...renewal, signature: "AA==" })),
    ];
    for (const result of refused) expect(result).toMatchObject({ ok: false, error: { kind: "refused" } });
    expect(signRenewal({ cluster: "prod", csr: next, now: 0 }, sensitive("no key"), certificate).ok).toBe(false);
  });
});
