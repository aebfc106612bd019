/** The operator's credential for requests of the parent, from a kubeconfig to an API server that identifies its clients. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { err, expectOk, FakeClock, reveal, sensitive } from "#base";
import { startEmbeddedCluster, type EmbeddedCluster } from "#embedded-cluster";
import { fieldAt, formatYaml } from "#kube";
import {
  parseKubeconfig,
  resolveContext,
  staticCredentials,
  type ClientCertificate,
  type ClusterConfig,
  type Credential,
  type ServerUrl,
} from "#kube-client";
import { issueCertificate, loadCertificateAuthority } from "#pki";
import { closeTunnels, readAnswer, tunnelTo } from "../../test/builders/tunnels.ts";
import { tunnelTarget } from "./tunnel-target.ts";

const live = new AbortController().signal;
const HOUR_MS = 3_600_000;
const folder = mkdtempSync(join(tmpdir(), "lattice-tunnel-target-"));
let cluster: EmbeddedCluster;

beforeAll(async () => void (cluster = await startEmbeddedCluster({ dataDir: folder })));
afterEach(closeTunnels);
afterAll(async () => {
  await cluster.close();
  rmSync(folder, { recursive: true, force: true });
});

/** As kubeadm's admin.conf has one, signed by the authority of the server. */
async function certificateOf(commonName: string): Promise<ClientCertificate> {
  await cluster.listen();
  const read = (name: string) => readFileSync(join(folder, name), "utf8");
  const authority = expectOk(loadCertificateAuthority({ certificate: read("ca.crt"), key: sensitive(read("ca.key")) }));
  const now = Date.now();
  const period = { notBefore: new Date(now - HOUR_MS), notAfter: new Date(now + HOUR_MS) };
  return expectOk(issueCertificate(authority, { commonName, organizations: ["qa"], usages: ["client"], ...period }));
}

async function configOf(user: object): Promise<ClusterConfig> {
  const { url, certificateAuthority = "" } = await cluster.listen();
  const text = formatYaml({
    clusters: [{ name: "c", cluster: { server: url, "certificate-authority-data": btoa(certificateAuthority) } }],
    users: [{ name: "u", user: user as never }],
    contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
    "current-context": "x",
  });
  return expectOk(await resolveContext(expectOk(parseKubeconfig(text, "kubeconfig")), { clock: new FakeClock(), env: {} }));
}

async function userSeen(config: ClusterConfig): Promise<unknown> {
  const target = expectOk(await tunnelTarget(config, live));
  const tunnel = tunnelTo(Number(new URL(target.url).port), target);
  const body = (async function* () {
    yield await Promise.resolve(Buffer.from("{}"));
  })();
  const path = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
  const answer = await readAnswer(await tunnel.call({ method: "POST", path, headers: [["content-type", "application/json"]], body }));
  return fieldAt(JSON.parse(answer.body.toString()), "status", "userInfo", "username");
}

test("a client certificate of the kubeconfig identifies the requests of the parent", async () => {
  const { certificate, key } = await certificateOf("carol");
  const config = await configOf({ "client-certificate-data": btoa(certificate), "client-key-data": btoa(reveal(key)) });
  expect(await userSeen(config)).toBe("carol");
});

test("a token of the kubeconfig identifies them too", async () => {
  const token = /token: "?([^"\s]+)/.exec(await cluster.kubeconfig())?.[1] ?? "";
  expect(await userSeen(await configOf({ token }))).toBe("admin");
});

describe("what a tunnel cannot do is an error with a remedy", () => {
  const server = "https://127.0.0.1:6443" as ServerUrl;
  const token = staticCredentials({ token: sensitive("secret") });
  test.each<{ name: string; config: ClusterConfig; want: RegExp }>([
    {
      name: "another name of the server",
      config: { server, credentials: token, serverName: "api.test" },
      want: /tls-server-name .*use an address/,
    },
    {
      name: "impersonation",
      config: { server, credentials: token, impersonate: { user: "carol", groups: [], extra: new Map() } },
      want: /impersonation .*use the credential of the user/,
    },
    { name: "no credential", config: { server, credentials: staticCredentials({}) }, want: /neither a token nor a client certificate/ },
  ])("$name", async ({ config, want }) => {
    const target = await tunnelTarget(config, live);
    expect(target.ok ? "accepted" : target.error).toMatch(want);
  });

  test("a plugin that returns another certificate, or none at all: requests are refused, and never sent without a credential", async () => {
    const answers: Credential[] = [{ certificate: await certificateOf("carol") }, { certificate: await certificateOf("dave") }];
    let asked = 0;
    const credentials = { ...token, get: () => Promise.resolve({ ok: true as const, value: answers[Math.min(asked++, 1)] ?? {} }) };
    const changed = expectOk(await tunnelTarget({ server, credentials }, live));
    await expect(changed.authorization()).rejects.toThrow("another client certificate now; restart the operator");
    const failing = { ...token, get: () => Promise.resolve(err({ kind: "unauthorized", message: "the plugin failed" } as const)) };
    const failed = expectOk(await tunnelTarget({ server, credentials: failing }, live));
    await expect(failed.authorization()).rejects.toThrow("the plugin failed");
  });
});
