/** A cluster with a data folder keeps its certificate authority, tokens and port: kubeconfigs of earlier starts stay valid. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { execFileSync } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { createServer, type AddressInfo, type Server } from "node:net";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { expectOk, reveal, sensitive } from "#base";
import { describeMove, resources, startEmbeddedCluster, type ClusterOptions } from "#embedded-cluster";
import { createCertificateAuthority, createSigningKey, issueCertificate, loadCertificateAuthority } from "#pki";
import { clientOf } from "../../test/builders/kubeconfig-client.ts";

const FILES = ["apiserver.crt", "apiserver.key", "ca.crt", "ca.key", "port", "tokens.json"];
const DAY_MS = 86_400_000;
const alice = { name: "alice", groups: ["system:masters"] };
let dataDir = "";
let taken: Server | undefined;

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), "lattice-identity-"));
});
afterEach(() => {
  taken?.close();
  taken = undefined;
  rmSync(dataDir, { recursive: true });
});

const start = (options: ClusterOptions = {}) => startEmbeddedCluster({ dataDir, ...options });
const fileOf = (name: string) => join(dataDir, name);
const textOf = (name: string) => readFileSync(fileOf(name), "utf8");
const filesNow = () => Object.fromEntries(FILES.map((name) => [name, existsSync(fileOf(name)) ? textOf(name) : undefined]));
const portNow = () => Number(textOf("port"));

/** Starts, listens, and stops. */
async function kubeconfigOf(user: string, options: ClusterOptions = {}): Promise<string> {
  await using cluster = await start(options);
  return await cluster.kubeconfig({ user });
}

/** Whether a client can list namespaces with this kubeconfig while the cluster runs. */
async function isValid(kubeconfig: string): Promise<boolean> {
  const client = await clientOf(kubeconfig);
  const listed = await client.list(resources.namespaces);
  await client.close();
  return listed.ok;
}

async function takePort(port: number): Promise<number> {
  taken = createServer().listen(port, "127.0.0.1");
  await once(taken, "listening");
  return (taken.address() as AddressInfo).port;
}

describe("a cluster with a data folder", () => {
  test("has the same kubeconfigs after a restart, and they are valid", async () => {
    const options = { users: [alice] };
    const before = { admin: await kubeconfigOf("admin", options), alice: await kubeconfigOf("alice", options) };
    const files = filesNow();
    await using cluster = await start({ users: [alice, { name: "__proto__" }] });
    expect([await cluster.kubeconfig(), await cluster.kubeconfig({ user: "alice" })]).toEqual([before.admin, before.alice]);
    expect([await isValid(before.admin), await isValid(before.alice)]).toEqual([true, true]);
    expect({ ...filesNow(), "tokens.json": "" }).toEqual({ ...files, "tokens.json": "" });
    expect(Object.keys(JSON.parse(textOf("tokens.json")) as object)).toEqual(["admin", "alice", "__proto__"]);
  });

  test("writes files that only its owner can read, and no key or token anywhere else", async () => {
    await kubeconfigOf("admin");
    const modes = FILES.map((name) => (statSync(fileOf(name)).mode & 0o777).toString(8));
    expect(modes).toEqual(FILES.map(() => "600"));
    expect(readdirSync(dataDir).filter((name) => name.startsWith("."))).toEqual([]);
  });

  test("listens outside the range of outgoing connections, which could occupy its port while it is stopped", async () => {
    await kubeconfigOf("admin");
    expect(portNow()).toBeGreaterThanOrEqual(20_000);
    expect(portNow()).toBeLessThan(30_000);
  });

  test("gets the files at the next start if an earlier version has created it", async () => {
    await kubeconfigOf("admin");
    const old = filesNow();
    for (const name of FILES) rmSync(fileOf(name));
    expect(await isValidAfterStart()).toBe(true);
    expect(filesNow()["ca.crt"]).not.toBe(old["ca.crt"]);
  });

  /** The order in which files are written at the first start. */
  const ORDER = ["ca.key", "ca.crt", "tokens.json", "apiserver.key", "apiserver.crt", "port"];
  test.each(ORDER.map((_, count) => ({ count, written: ORDER.slice(0, count).join(", ") || "no file" })))(
    "completes the files of a first start that was killed after $written",
    async ({ count }) => {
      await kubeconfigOf("admin");
      const complete = filesNow();
      for (const name of ORDER.slice(count)) rmSync(fileOf(name));
      mkdirSync(fileOf(".ca.key-AbCdEf"), { mode: 0o700 });
      writeFileSync(join(fileOf(".ca.key-AbCdEf"), "new"), "half a k");
      expect(await isValidAfterStart()).toBe(true);
      for (const name of ORDER.slice(0, count)) expect([name, textOf(name)]).toEqual([name, complete[name]]);
      expect(readdirSync(dataDir).filter((name) => name.startsWith("."))).toEqual([]);
    },
  );

  async function isValidAfterStart(): Promise<boolean> {
    await using cluster = await start();
    return await isValid(await cluster.kubeconfig());
  }

  test("with a new certificate for the key of its authority accepts earlier kubeconfigs", async () => {
    const before = await kubeconfigOf("admin");
    rmSync(fileOf("ca.crt"));
    await using cluster = await start();
    await cluster.listen();
    expect(await isValid(before)).toBe(true);
  });

  test("issues a new certificate for the same key when another address is wanted", async () => {
    const before = await kubeconfigOf("admin");
    const files = filesNow();
    {
      await using cluster = await start();
      await cluster.listen({ host: "127.0.0.2" });
      expect(await isValid(before.replace("127.0.0.1", "127.0.0.2"))).toBe(true);
    }
    const wider = filesNow();
    expect(wider).toEqual({ ...files, "apiserver.crt": expect.any(String) as string });
    expect(wider["apiserver.crt"]).not.toBe(files["apiserver.crt"]);
    await kubeconfigOf("admin");
    expect(filesNow()).toEqual(wider);
  });

  const loadedAuthority = () => expectOk(loadCertificateAuthority({ certificate: textOf("ca.crt"), key: sensitive(textOf("ca.key")) }));
  const aroundNow = (days: number) => ({ notBefore: new Date(Date.now() - DAY_MS), notAfter: new Date(Date.now() + days * DAY_MS) });

  test.each([
    { name: "soon expires", days: 29, renewed: true },
    { name: "is valid for months", days: 31, renewed: false },
  ])("renews its own certificate: one that $name", async ({ days, renewed }) => {
    await kubeconfigOf("admin");
    const request = {
      commonName: "short",
      usages: ["server"],
      dnsNames: ["localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"],
      ipAddresses: ["127.0.0.1", "::1"],
    } as const;
    const short = expectOk(
      issueCertificate(loadedAuthority(), { ...request, ...aroundNow(days), key: sensitive(textOf("apiserver.key")) }),
    );
    writeFileSync(fileOf("apiserver.crt"), short.certificate);
    await kubeconfigOf("admin");
    expect(textOf("apiserver.crt") !== short.certificate).toBe(renewed);
    expect(new X509Certificate(textOf("apiserver.crt")).validToDate.getTime() - Date.now() > 3_000 * DAY_MS).toBe(renewed);
  });

  test("with a new authority issues a new certificate for its server", async () => {
    await kubeconfigOf("admin");
    for (const name of ["ca.crt", "ca.key"]) rmSync(fileOf(name));
    await using cluster = await start();
    expect(await isValid(await cluster.kubeconfig())).toBe(true);
  });

  test("publishes the same authority to Pods and to extension servers after a restart", async () => {
    const published = async () => {
      await using cluster = await start({ controllers: { simulation: false } });
      const { certificateAuthority } = await cluster.listen();
      const map = async (name: string) => expectOk(await cluster.client.get(resources.configmaps, { namespace: "kube-system", name }));
      await cluster.settled();
      const [pods, servers] = [await map("kube-root-ca.crt"), await map("extension-apiserver-authentication")];
      expect([pods["data"], servers["data"]]).toEqual([{ "ca.crt": certificateAuthority }, { "client-ca-file": certificateAuthority }]);
      return [
        certificateAuthority,
        pods.metadata.uid,
        pods.metadata.resourceVersion,
        servers.metadata.uid,
        servers.metadata.resourceVersion,
      ];
    };
    expect(await published()).toEqual(await published());
  });

  test("without a data folder has another token and authority at every start", async () => {
    const inMemory = async () => {
      await using cluster = await startEmbeddedCluster();
      return await cluster.kubeconfig();
    };
    const [one, other] = [await inMemory(), await inMemory()];
    for (const field of [/token: (\S+)/, /certificate-authority-data: (\S+)/])
      expect(field.exec(one)?.[1]).not.toBe(field.exec(other)?.[1]);
  });
});

describe("the port of a data folder", () => {
  test("is given up for the next free one if another process uses it, and the new one is kept", async () => {
    await kubeconfigOf("admin");
    const before = portNow();
    await takePort(before);
    {
      await using cluster = await start();
      const endpoint = await cluster.listen();
      expect(endpoint.movedFrom).toBe(before);
      expect(portNow()).toBeGreaterThan(before);
      expect(endpoint.url).toBe(`https://127.0.0.1:${portNow()}`);
      expect(describeMove(endpoint)).toBe(
        `port ${before}, on which this cluster listened before, is in use by another process; it now listens on port ${portNow()}: use the kubeconfig that is written now instead of earlier ones`,
      );
      expect(await isValid(await cluster.kubeconfig())).toBe(true);
    }
    const moved = portNow();
    taken?.close();
    await using cluster = await start();
    const endpoint = await cluster.listen();
    expect([endpoint.url, endpoint.movedFrom, describeMove(endpoint)]).toEqual([`https://127.0.0.1:${moved}`, undefined, undefined]);
  });

  test("is replaced by an explicit one, and an explicit one that is in use is an error that changes nothing", async () => {
    await kubeconfigOf("admin");
    const before = portNow();
    const used = await takePort(0);
    await using cluster = await start();
    await expect(cluster.listen({ port: used })).rejects.toThrow(`cannot listen on 127.0.0.1:${used}`);
    expect(portNow()).toBe(before);
    const free = used === 65_535 ? used - 1 : used + 1;
    const endpoint = await cluster.listen({ port: free });
    expect([portNow(), endpoint.movedFrom]).toEqual([free, undefined]);
  });

  test("that cannot be stored is an error, and the cluster does not listen", async () => {
    await using cluster = await start();
    mkdirSync(fileOf("port"));
    await expect(cluster.listen()).rejects.toThrow(`${fileOf("port")} is a folder`);
  });
});

describe("a damaged file stops the start, and no file is changed", () => {
  const other = expectOk(createCertificateAuthority({ commonName: "other", ...years(10) }));
  const expired = expectOk(createCertificateAuthority({ commonName: "expired", ...years(-1) }));
  const authority = "restore ca.crt and ca.key from a copy, or delete both to create a new certificate authority";
  const serving = "delete apiserver.crt and apiserver.key, and both are created at the next start; kubeconfigs stay valid";
  const tokens = "restore it from a copy, or delete it to create new tokens";

  function years(count: number) {
    const now = Date.now();
    return { notBefore: new Date(now - 900 * DAY_MS), notAfter: new Date(now + count * 365 * DAY_MS) };
  }

  const rows: { name: string; file: string; text: string; want: string }[] = [
    ...FILES.map((file) => ({ name: "empty", file, text: "", want: "; " })),
    { name: "not PEM", file: "ca.crt", text: "x", want: `ca.crt: the certificate is not readable PEM; ${authority}` },
    { name: "not PEM", file: "ca.key", text: "x", want: `ca.key: the key is not readable PEM; ${authority}` },
    { name: "of another pair", file: "ca.key", text: reveal(other.key), want: "ca.key: the key is not the certificate's in" },
    { name: "not PEM", file: "apiserver.crt", text: "x", want: `apiserver.crt: the certificate is not readable PEM; ${serving}` },
    { name: "of another pair", file: "apiserver.key", text: reveal(createSigningKey().pem), want: "apiserver.key: the key is not the" },
    { name: "not JSON", file: "tokens.json", text: "{", want: `tokens.json: must be a JSON object of user names and tokens; ${tokens}` },
    { name: "a list", file: "tokens.json", text: "[]", want: "tokens.json: must be a JSON object" },
    { name: "with a short token", file: "tokens.json", text: '{"admin":"short"}', want: 'tokens.json: the token of user "admin" must be' },
    { name: "with a space", file: "tokens.json", text: `{"a":"${" ".repeat(20)}"}`, want: 'tokens.json: the token of user "a" must be' },
    {
      name: "with equal tokens",
      file: "tokens.json",
      text: `{"a":"${"t".repeat(20)}","b":"${"t".repeat(20)}"}`,
      want: "tokens.json: two users have the same token",
    },
    { name: "too large", file: "tokens.json", text: " ".repeat(5_000_000), want: "tokens.json has 5000000 bytes" },
    { name: "not a port", file: "port", text: "0", want: "port: must be a port from 1 to 65535; write the port into it, or delete it" },
    { name: "too high", file: "port", text: "65536", want: "port: must be a port from 1 to 65535" },
  ];
  test.each(rows)("$file is $name", async ({ file, text, want }) => {
    await kubeconfigOf("admin");
    writeFileSync(fileOf(file), text);
    const files = filesNow();
    const message = await refusal();
    expect(message).toContain(want);
    expect(message).toContain(fileOf(file));
    expect(message).not.toMatch(/\n|short"|PRIVATE/);
    expect(filesNow()).toEqual(files);
  });

  test("the authority has expired", async () => {
    await kubeconfigOf("admin");
    writeFileSync(fileOf("ca.crt"), expired.certificate);
    writeFileSync(fileOf("ca.key"), reveal(expired.key));
    expect(await refusal()).toContain(`ca.crt: the certificate authority expired on ${years(-1).notAfter.getUTCFullYear()}-`);
  });

  test.each([
    { certificate: "ca.crt", key: "ca.key" },
    { certificate: "apiserver.crt", key: "apiserver.key" },
  ])("$certificate has lost its key", async ({ key }) => {
    await kubeconfigOf("admin");
    rmSync(fileOf(key));
    expect(await refusal()).toContain(`${fileOf(key)} is missing; `);
  });

  test.each(FILES)("others can write %s", async (file) => {
    await kubeconfigOf("admin");
    chmodSync(fileOf(file), 0o622);
    expect(await refusal()).toMatch(/can be (read or )?written by other users \(mode 0622\); .* run: chmod 600 \S+$/);
    expect(statSync(fileOf(file)).mode & 0o777).toBe(0o622);
  });

  test.each(["apiserver.key", "ca.key", "tokens.json"])("others can read %s", async (file) => {
    await kubeconfigOf("admin");
    chmodSync(fileOf(file), 0o640);
    expect(await refusal()).toContain(`${fileOf(file)} can be read or written by other users (mode 0640)`);
  });

  test.each(FILES)("%s is a symbolic link", async (file) => {
    await kubeconfigOf("admin");
    rmSync(fileOf(file));
    symlinkSync("/dev/null", fileOf(file));
    expect(await refusal()).toBe(`${fileOf(file)} is a symbolic link; replace it with a regular file`);
  });

  test.runIf(userInfo().uid === 0).each(FILES)("%s belongs to another user", async (file) => {
    await kubeconfigOf("admin");
    execFileSync("chown", ["12345", fileOf(file)]);
    expect(await refusal()).toContain(`${fileOf(file)} belongs to another user (12345); run as that user, or change its owner`);
  });

  /** The error of a start, or of the first listen. The folder can be used afterwards: its lock is released. */
  async function refusal(): Promise<string> {
    try {
      await kubeconfigOf("admin");
    } catch (thrown) {
      expect(existsSync(fileOf("lock"))).toBe(false);
      return thrown instanceof Error ? thrown.message : String(thrown);
    }
    return "started";
  }
});
