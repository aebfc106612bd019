/** Certificates of agents and cells in node's TLS, during a rotation of the authorities. */
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { connect, createServer, type TLSSocket } from "node:tls";
import { expect, test } from "vitest";
import { expectOk, reveal } from "#base";
import { agentNames, certificateValidity, readAgentIdentity } from "./agent-identity.ts";
import { createCellAuthorities, nextRotation, rotateIfDue, servingAuthority, trustBundle } from "./cell-authorities.ts";
import { issueCertificate, type CertificateAuthority } from "./certificate.ts";
import { createCsr, signCsr } from "./csr.ts";
import { createPrivateKeyPem } from "./key-pair.ts";
import { readCsr } from "./read-csr.ts";

const DAY = 86_400_000;
// TLS reads the system's clock: the successor has signed for eight days
const now = Date.now();
const first = expectOk(createCellAuthorities("hq", now - 2_960 * DAY));
const due = nextRotation(first);
const rotated = expectOk(rotateIfDue(expectOk(rotateIfDue(first, due)).authorities, due + 30 * DAY)).authorities;

function signAgent(authority: CertificateAuthority) {
  const key = createPrivateKeyPem();
  const csr = expectOk(readCsr(expectOk(createCsr(key, { commonName: "east" }))));
  const signing = { ...agentNames("hq", "east"), ...certificateValidity(authority, now), usages: ["client" as const] };
  return { key, certificate: expectOk(signCsr(authority, csr, signing)).certificate };
}

test.each([
  { name: "an agent with the old authority only", agent: signAgent(first.current), bundle: trustBundle(first) },
  { name: "an agent that the new authority signed", agent: signAgent(rotated.current), bundle: trustBundle(rotated) },
])("$name and the cell accept each other after a rotation", async ({ agent, bundle }) => {
  expect(rotated.previous?.certificate).toBe(first.current.certificate);
  const dates = certificateValidity(servingAuthority(rotated, now), now);
  const names = { commonName: "hq", dnsNames: ["hq.cell.lattice"], usages: ["server" as const] };
  const serving = expectOk(issueCertificate(servingAuthority(rotated, now), { ...names, ...dates }));
  const listener = createServer({
    ca: trustBundle(rotated),
    cert: serving.certificate,
    key: reveal(serving.key),
    requestCert: true,
    minVersion: "TLSv1.3",
  });
  listener.listen(0, "127.0.0.1");
  await once(listener, "listening");
  const accepted = once(listener, "secureConnection") as Promise<[TLSSocket]>;
  const { port } = listener.address() as AddressInfo;
  const credentials = { ca: bundle, cert: agent.certificate, key: reveal(agent.key) };
  const socket = connect({ host: "127.0.0.1", port, servername: "hq.cell.lattice", ...credentials });
  await once(socket, "secureConnect");
  const [peer] = await accepted;
  const certificate = peer.getPeerX509Certificate();
  expect([socket.authorized, peer.authorized]).toEqual([true, true]);
  expect(certificate === undefined ? undefined : readAgentIdentity(certificate)).toMatchObject({
    ok: true,
    value: { cell: "hq", cluster: "east" },
  });
  socket.destroy();
  peer.destroy();
  listener.close();
  await once(listener, "close");
});
