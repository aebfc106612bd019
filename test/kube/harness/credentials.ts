/**
 * Keys, certificates and tokens of one plane, new for every plane. One authority signs everything: the serving certificate,
 * client certificates, and certificates for CertificateSigningRequests.
 *
 * The service-account key is RSA and not from #pki, because it signs JSON web tokens, not certificates.
 */
import { generateKeyPairSync, randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { expectOk, reveal, sensitive } from "#base";
import { formatYaml } from "#kube";
import { createCertificateAuthority, issueCertificate, loadCertificateAuthority } from "#pki";
import { filesIn } from "./components.ts";

type Server = { readonly url: string; readonly caPem: string };

const HOUR_MS = 3_600_000;
/** A plane runs for minutes, or longer when it is used by hand. */
const LIFE_MS = 7 * 24 * HOUR_MS;

/** Writes the files of the components. Returns the data that a client needs. */
export function writeCredentials(folder: string, url: string): { readonly caPem: string; readonly adminToken: string } {
  const files = filesIn(folder);
  const authority = expectOk(
    createCertificateAuthority({ commonName: "lattice-test-kube", notBefore: anHourAgo(), notAfter: new Date(Date.now() + LIFE_MS) }),
  );
  const serving = expectOk(
    issueCertificate(authority, {
      commonName: "kube-apiserver",
      usages: ["server"],
      ipAddresses: ["127.0.0.1", "10.0.0.1"],
      dnsNames: ["localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local"],
      notBefore: anHourAgo(),
      notAfter: authority.notAfter,
    }),
  );
  const caPem = authority.certificate;
  const [adminToken, managerToken] = [newToken(), newToken()];
  write(files.ca, caPem);
  write(files.caKey, reveal(authority.key));
  write(files.serving, serving.certificate);
  write(files.servingKey, reveal(serving.key));
  writeServiceAccountKeys(folder);
  // the controller manager's role is bound to this user name from the first start of any API server
  const manager = "system:kube-controller-manager";
  write(files.tokens, `${adminToken},admin,admin,"system:masters"\n${managerToken},${manager},${manager},""\n`);
  write(files.kubeconfig, kubeconfig({ url, caPem }, { token: adminToken }));
  write(files.managerKubeconfig, kubeconfig({ url, caPem }, { token: managerToken }));
  return { caPem, adminToken };
}

function writeServiceAccountKeys(folder: string): void {
  const { publicKey, privateKey } = generateKeyPairSync("rsa", {
    modulusLength: 2048,
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
  });
  const files = filesIn(folder);
  write(files.serviceAccounts, publicKey);
  write(files.serviceAccountsKey, privateKey);
}

/** A kubeconfig with a client certificate: the common name is the user, the organizations are the groups. */
export function kubeconfigFor(plane: Server & { readonly folder: string }, user: string, groups: readonly string[]): string {
  const files = filesIn(plane.folder);
  const authority = expectOk(loadCertificateAuthority({ certificate: plane.caPem, key: sensitive(readFileSync(files.caKey, "utf8")) }));
  const issued = expectOk(
    issueCertificate(authority, {
      commonName: user,
      organizations: groups,
      usages: ["client"],
      notBefore: anHourAgo(),
      notAfter: authority.notAfter,
    }),
  );
  return kubeconfig(plane, {
    "client-certificate-data": base64(issued.certificate),
    "client-key-data": base64(reveal(issued.key)),
  });
}

function kubeconfig({ url, caPem }: Server, user: Readonly<Record<string, string>>): string {
  return formatYaml({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "test", cluster: { server: url, "certificate-authority-data": base64(caPem) } }],
    users: [{ name: "user", user }],
    contexts: [{ name: "test", context: { cluster: "test", user: "user" } }],
    "current-context": "test",
  });
}

/** Certificates stay valid if the clock is set back while the plane starts. */
function anHourAgo(): Date {
  return new Date(Date.now() - HOUR_MS);
}

function newToken(): string {
  return randomBytes(32).toString("hex");
}

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}

function write(file: string, content: string): void {
  writeFileSync(file, content, { mode: 0o600 });
}
