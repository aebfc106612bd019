/**
 * The child of a story on the real managers: the in-memory API server of the infrastructure for tests, with an agent beside it.
 *
 * The agent registers as the first node of a child does. Its tunnels lead to the in-memory server, which accepts client certificates of the
 * child's own authority. That one has an RSA key, so openssl signs.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { join } from "node:path";
import { expect } from "vitest";
import { expectOk, PROGRAM_VERSION, seededRandom, sensitive, silentLogger, systemClock } from "#base";
import { fieldAt, parseJson, parseYaml, type KubeObject } from "#kube";
import { serveTunnel, startAgentLink, type AgentLink, type TunnelTarget } from "#link";
import { createCsr, createPrivateKeyPem } from "#pki";
import { runProgram, type PlaneAccess } from "../harness/index.ts";

export type InMemoryChild = {
  readonly plane: Pick<PlaneAccess, "kubectl" | "kubectlOk">;
  readonly name: string;
  readonly cell: { readonly name: string; readonly grpcPort: number; readonly bootstrapPort: number };
  /** For keys and certificates. */
  readonly folder: string;
};

export async function connectAgent(child: InMemoryChild): Promise<AgentLink> {
  const { name, cell } = child;
  const ca = /certificate-authority-data: (\S+)/.exec(await secretText(child, `${name}-kubeconfig`, "value"))?.[1] ?? "";
  const trusted = Buffer.from(ca, "base64").toString();
  const token = await secretText(child, `lattice-bootstrap-${name}`, "token");
  const base = `https://127.0.0.1:${cell.bootstrapPort}/api/clusters`;
  const manifests = await post(`${base}/register`, trusted, { token });
  const key = createPrivateKeyPem();
  const csr = expectOk(createCsr(key, { commonName: name }));
  const granted = expectOk(parseJson(await post(`${base}/${name}/csr`, trusted, { token: csrToken(manifests), body: csr })));
  const credentials = {
    certificate: textAt(granted, "certificate"),
    trustBundle: textAt(granted, "trustBundle"),
    key,
  };
  const health = { readyNodes: 0, totalNodes: 0, conditions: [], kubernetesVersion: "", pools: new Map() };
  let target: TunnelTarget | undefined;
  return startAgentLink({
    endpoint: `127.0.0.1:${cell.grpcPort}`,
    cell: cell.name,
    cluster: name,
    credentials: () => credentials,
    renewal: { due: () => false, request: () => ({ ok: false, error: "not renewed" }) },
    onRenewed: () => Promise.resolve({ ok: true, value: undefined }),
    onTrustBundle: () => Promise.resolve({ ok: true, value: undefined }),
    report: () => Promise.resolve({ state: "Provisioning", health }),
    onBootstrap: () => Promise.resolve({ ok: true, value: [] }),
    onReconcile: () => Promise.resolve({ ok: true, value: [] }),
    apiServer: { url: "", ca: "", authorization: () => Promise.resolve(undefined) },
    serveTunnel: async (frames) => {
      target ??= await inMemoryServer(child);
      if (target === undefined) return frames.cancel("the API server of the child does not run yet");
      await serveTunnel(frames, target, { clock: systemClock, logger: silentLogger });
    },
    clock: systemClock,
    random: seededRandom(1),
    logger: silentLogger,
    version: PROGRAM_VERSION,
    generation: () => BigInt(Date.now()),
  });
}

/** The in-memory API server; undefined while it has no address or no authority. */
export async function inMemoryServer(child: Omit<InMemoryChild, "cell">): Promise<TunnelTarget | undefined> {
  const { plane, name, folder } = child;
  const read = async (what: string, path: string) => {
    const ran = await plane.kubectl(["get", what, "-n", `capi-${name}`, "-o", `jsonpath={${path}}`]);
    return ran.code === 0 && ran.stdout !== "" ? ran.stdout : undefined;
  };
  const port = await read(`devcluster/${name}`, ".spec.controlPlaneEndpoint.port");
  const [crt, key] = [await read(`secret/${name}-ca`, ".data.tls\\.crt"), await read(`secret/${name}-ca`, ".data.tls\\.key")];
  if (port === undefined || crt === undefined || key === undefined) return undefined;
  const ca = Buffer.from(crt, "base64").toString();
  const clientCertificate = await signClient(folder, ca, Buffer.from(key, "base64").toString());
  return { url: `https://127.0.0.1:${port}`, ca, authorization: () => Promise.resolve(undefined), clientCertificate };
}

async function signClient(folder: string, ca: string, caKey: string): Promise<NonNullable<TunnelTarget["clientCertificate"]>> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = (name: string) => join(folder, name);
  for (const [name, text] of [
    ["ca.crt", ca],
    ["ca.key", caKey],
    ["extensions", "extendedKeyUsage=clientAuth\n"],
  ] as const)
    writeFileSync(file(name), text, { mode: 0o600 });
  const subject = "/O=system:masters/CN=lattice-agent";
  await openssl(["req", "-newkey", "rsa:2048", "-nodes", "-subj", subject, "-keyout", file("client.key"), "-out", file("client.csr")]);
  const authority = ["-CA", file("ca.crt"), "-CAkey", file("ca.key"), "-CAcreateserial", "-days", "2"];
  await openssl(["x509", "-req", "-in", file("client.csr"), ...authority, "-extfile", file("extensions"), "-out", file("client.crt")]);
  return { certificate: readFileSync(file("client.crt"), "utf8"), key: sensitive(readFileSync(file("client.key"), "utf8")) };
}

async function openssl(args: readonly string[]): Promise<void> {
  const ran = await runProgram("openssl", args);
  if (ran.code !== 0) throw new Error(`openssl ${args[0]}: ${ran.stderr}`);
}

async function secretText({ plane, name }: InMemoryChild, secret: string, key: string): Promise<string> {
  const text = await plane.kubectlOk(["get", "secret", secret, "-n", `capi-${name}`, "-o", `jsonpath={.data.${key}}`]);
  return Buffer.from(text, "base64").toString();
}

function textAt(value: Parameters<typeof fieldAt>[0], ...path: readonly string[]): string {
  const found = fieldAt(value, ...path);
  return typeof found === "string" ? found : expect.fail(`there is no ${path.join(".")}`);
}

/** From the manifests that the child gets: Secret lattice-parent-config. */
function csrToken(manifests: string): string {
  const objects = expectOk(parseYaml(manifests)) as unknown as readonly KubeObject[];
  const parent = objects.find(({ kind, metadata }) => kind === "Secret" && metadata.name === "lattice-parent-config");
  return Buffer.from(textAt(parent, "data", "csr-token"), "base64").toString();
}

function post(url: string, ca: string, { token, body = "" }: { readonly token: string; readonly body?: string }): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, "content-length": Buffer.byteLength(body) };
    const sent = request(url, { method: "POST", ca, agent: false, headers }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
      response.on("end", () => (response.statusCode === 200 ? resolve(text) : reject(new Error(`${url}: ${response.statusCode} ${text}`))));
    });
    sent.on("error", reject);
    sent.end(body);
  });
}
