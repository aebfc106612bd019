import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import { expectOk, FakeClock, reveal } from "#base";
import type { Command, RunCommand } from "../credentials/run-command.ts";
import { parseKubeconfig } from "./kubeconfig.ts";
import { loadKubeconfig, readKubeconfig, type LoadKubeconfigOptions } from "./load.ts";

const PEM = "-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n";
const KEY = "-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END PRIVATE KEY-----\n";
const base64 = (text: string) => Buffer.from(text).toString("base64");
const live = new AbortController().signal;

type Entry = Record<string, unknown>;
/** YAML is a superset of JSON, so kubeconfigs are written as values. */
function kubeconfig({
  cluster = {},
  user = {},
  context = {},
  ...rest
}: { cluster?: Entry; user?: Entry; context?: Entry } & Entry): string {
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    "current-context": "ctx",
    clusters: [{ name: "c", cluster: { server: "https://api.test:6443", ...cluster } }],
    users: [{ name: "u", user }],
    contexts: [{ name: "ctx", context: { cluster: "c", user: "u", ...context } }],
    ...rest,
  });
}

function missing(path: string): Error {
  return Object.assign(new Error(`ENOENT: no such file or directory, open '${path}'`), { code: "ENOENT" });
}

type Files = Readonly<Record<string, string | Error>>;
const reading = (files: Files) => (path: string) => {
  const file = Object.hasOwn(files, path) ? files[path] : undefined;
  return typeof file === "string" ? Promise.resolve(file) : Promise.reject(file ?? missing(path));
};

function load(files: Files, options: Partial<LoadKubeconfigOptions> = {}) {
  return loadKubeconfig({ path: "/k/config", env: {}, home: "/home/me", clock: new FakeClock(), readFile: reading(files), ...options });
}

async function messageOf(text: string, options: Partial<LoadKubeconfigOptions> = {}, files: Files = {}): Promise<string> {
  const loaded = await load({ "/k/config": text, ...files }, options);
  return loaded.ok ? "" : `${loaded.error.kind}: ${loaded.error.message}`;
}

describe("which files are read", () => {
  const here = (server: string) => kubeconfig({ cluster: { server } });
  const rows: { name: string; files: Files; given: Partial<LoadKubeconfigOptions>; want: string }[] = [
    {
      name: "the file of --kubeconfig",
      files: { "/a": here("https://a") },
      given: { path: "/a", env: { KUBECONFIG: "/b" } },
      want: "https://a",
    },
    { name: "KUBECONFIG", files: { "/b": here("https://b") }, given: { path: undefined, env: { KUBECONFIG: "/b" } }, want: "https://b" },
    {
      name: "the first file of a list that has the entry",
      files: { "/b": here("https://b"), "/c": here("https://c") },
      given: { path: undefined, env: { KUBECONFIG: "/b:/c" } },
      want: "https://b",
    },
    {
      name: "a list with files that do not exist, and empty places",
      files: { "/c": here("https://c") },
      given: { path: undefined, env: { KUBECONFIG: ":/b:/c:" } },
      want: "https://c",
    },
    { name: "the home folder's", files: { "/home/me/.kube/config": here("https://h") }, given: { path: undefined }, want: "https://h" },
    {
      name: "the home folder's when KUBECONFIG is empty",
      files: { "/home/me/.kube/config": here("https://h") },
      given: { path: undefined, env: { KUBECONFIG: "" } },
      want: "https://h",
    },
  ];
  test.each(rows)("$name", async ({ files, given, want }) => {
    expect(expectOk(await load(files, given)).server).toBe(want);
  });

  test("entries of several files are merged, the first of a name is used", async () => {
    const first = JSON.stringify({
      "current-context": "",
      contexts: [{ name: "x", context: { cluster: "c", user: "u", namespace: "first" } }],
    });
    const second = kubeconfig({
      cluster: { "certificate-authority": "ca.crt" },
      "current-context": "x",
      contexts: [{ name: "x", context: { cluster: "other" } }],
    });
    const files = { "/1/config": first, "/2/config": second, "/2/ca.crt": PEM };
    const config = expectOk(await load(files, { path: undefined, env: { KUBECONFIG: "/1/config:/2/config" } }));
    expect(config).toMatchObject({ namespace: "first", server: "https://api.test:6443", certificateAuthority: PEM });
  });

  test("all contexts can be listed", async () => {
    const all = expectOk(
      await readKubeconfig({ path: "/a", env: {}, home: "/", clock: new FakeClock(), readFile: reading({ "/a": kubeconfig({}) }) }),
    );
    expect([...all.contexts.keys()]).toEqual(["ctx"]);
  });

  const errors: { name: string; files: Files; given: Partial<LoadKubeconfigOptions>; want: string }[] = [
    { name: "a named file that is missing", files: {}, given: { path: "/a" }, want: "/a does not exist" },
    {
      name: "no file anywhere",
      files: {},
      given: { path: undefined },
      want: "no kubeconfig: /home/me/.kube/config does not exist; set KUBECONFIG or pass --kubeconfig",
    },
    {
      name: "a file that may not be read",
      files: { "/b": new Error("EACCES: permission denied") },
      given: { path: undefined, env: { KUBECONFIG: "/b" } },
      want: "/b cannot be read: EACCES: permission denied",
    },
    { name: "a broken file in a list", files: { "/b": "a: [" }, given: { path: undefined, env: { KUBECONFIG: "/b" } }, want: "/b: " },
  ];
  test.each(errors)("$name", async ({ files, given, want }) => {
    const loaded = await load(files, given);
    expect(loaded.ok ? "" : loaded.error.message).toContain(want);
  });
});

describe("the context", () => {
  const two = kubeconfig({
    contexts: [
      { name: "ctx", context: { cluster: "c", user: "u" } },
      { name: "other", context: { cluster: "c", namespace: "elsewhere" } },
    ],
  });
  test("can be chosen, and may have no user", async () => {
    const config = expectOk(await load({ "/k/config": two }, { context: "other" }));
    expect(config.namespace).toBe("elsewhere");
    expect(await config.credentials.get(live)).toEqual({ ok: true, value: {} });
  });

  const rows: { name: string; given: string; options?: Partial<LoadKubeconfigOptions>; want: string }[] = [
    {
      name: "that does not exist",
      given: two,
      options: { context: "x" },
      want: 'unknown-context: there is no context "x"; known: ctx, other',
    },
    {
      name: "that is not set",
      given: kubeconfig({ "current-context": "" }),
      want: "unknown-context: there is no current-context; run `kubectl config use-context NAME` or pass --context",
    },
    {
      name: "of an unknown cluster",
      given: kubeconfig({ context: { cluster: "x" } }),
      want: 'incomplete: /k/config: context "ctx": there is no cluster "x"; known: c',
    },
    {
      name: "of an unknown user",
      given: kubeconfig({ users: [] }),
      want: 'incomplete: /k/config: context "ctx": there is no user "u"; known: none',
    },
    {
      name: "named like a property of every object",
      given: kubeconfig({ "current-context": "__proto__" }),
      want: 'unknown-context: there is no context "__proto__"; known: ctx',
    },
  ];
  test.each(rows)("$name", async ({ given, options, want }) => {
    expect(await messageOf(given, options)).toBe(want);
  });
});

describe("the cluster", () => {
  test("is used unchanged", async () => {
    const cluster = {
      server: "https://[::1]:6443/prefix/",
      "certificate-authority-data": base64(PEM),
      "certificate-authority": "/ignored",
      "tls-server-name": "kubernetes",
      "disable-compression": true,
    };
    expect(expectOk(await load({ "/k/config": kubeconfig({ cluster }) }))).toMatchObject({
      server: "https://[::1]:6443/prefix",
      certificateAuthority: PEM,
      serverName: "kubernetes",
    });
  });

  test.each(["http://localhost:8001", "http://127.0.0.1:8001", "http://[::1]:8001"])(
    "may be plain HTTP on this machine: %s",
    async (server) => {
      expect(expectOk(await load({ "/k/config": kubeconfig({ cluster: { server } }) })).server).toBe(server);
    },
  );

  const at = '/k/config: cluster "c": ';
  const rows: { name: string; given: Entry; files?: Files; want: string }[] = [
    { name: "no server", given: { server: "" }, want: `incomplete: ${at}it has no server; write its https:// address` },
    { name: "no scheme", given: { server: "api.test:6443" }, want: `malformed: ${at}the server's address must begin with https://` },
    { name: "not an address", given: { server: "https://" }, want: `malformed: ${at}the server's address must begin with https://` },
    {
      name: "a password in it",
      given: { server: "https://a:b@c" },
      want: `malformed: ${at}the server's address must not contain a user name or password`,
    },
    { name: "a query in it", given: { server: "https://c/?x" }, want: `malformed: ${at}the server's address must not have a query` },
    {
      name: "http elsewhere",
      given: { server: "http://api.test" },
      want: `malformed: ${at}http:// is accepted only for a server on this machine`,
    },
    {
      name: "a name that only begins like loopback",
      given: { server: "http://127.0.0.1.evil.test" },
      want: `malformed: ${at}http:// is accepted only`,
    },
    { name: "no verification", given: { "insecure-skip-tls-verify": true }, want: `insecure: ${at}insecure-skip-tls-verify is refused` },
    { name: "a proxy", given: { "proxy-url": "http://proxy" }, want: `unsupported: ${at}proxy-url is not supported` },
    {
      name: "a CA that is not PEM",
      given: { "certificate-authority-data": base64("x") },
      want: `malformed: ${at}certificate-authority-data must be PEM, encoded in base64`,
    },
    {
      name: "a CA file that is missing",
      given: { "certificate-authority": "ca.crt" },
      want: `not-found: ${at}certificate-authority: /k/ca.crt does not exist`,
    },
    {
      name: "a CA file that is not PEM",
      given: { "certificate-authority": "../ca.crt" },
      files: { "/ca.crt": "x" },
      want: `malformed: ${at}certificate-authority: /ca.crt is not PEM`,
    },
  ];
  test.each(rows)("is refused with $name", async ({ given, files, want }) => {
    expect(await messageOf(kubeconfig({ cluster: given }), {}, files)).toContain(want);
  });
});

describe("the user", () => {
  const credentialOf = async (user: Entry, files: Files = {}) => {
    const config = expectOk(await load({ "/k/config": kubeconfig({ user }), ...files }));
    return expectOk(await config.credentials.get(live));
  };

  test("has a token", async () => {
    const { token } = await credentialOf({ token: "t0ken" });
    expect(token && reveal(token)).toBe("t0ken");
  });

  test("has a certificate and key inline, or in files beside the kubeconfig", async () => {
    const inline = await credentialOf({ "client-certificate-data": base64(PEM), "client-key-data": base64(KEY) });
    const files = await credentialOf({ "client-certificate": "u.crt", "client-key": "/abs/u.key" }, { "/k/u.crt": PEM, "/abs/u.key": KEY });
    for (const { certificate } of [inline, files]) {
      expect(certificate?.certificate).toBe(PEM);
      expect(certificate && reveal(certificate.key)).toBe(KEY);
    }
  });

  test("has a token file, which overrides the token", async () => {
    const credential = await credentialOf({ tokenFile: "token", token: "old" }, { "/k/token": "new\n" });
    expect(credential.token && reveal(credential.token)).toBe("new");
  });

  test("has a plugin, which runs in the kubeconfig's folder", async () => {
    const commands: Command[] = [];
    const runCommand: RunCommand = (command) => {
      commands.push(command);
      return Promise.resolve({ kind: "not-found" });
    };
    const exec = {
      apiVersion: "client.authentication.k8s.io/v1beta1",
      command: "./bin/plugin",
      args: ["a"],
      env: [{ name: "A", value: "1" }, { value: "nameless" }],
      provideClusterInfo: true,
    };
    const extensions = [{ name: "client.authentication.k8s.io/exec", extension: { audience: "x" } }];
    const files = { "/k/config": kubeconfig({ user: { exec }, cluster: { extensions } }) };
    const config = expectOk(await load(files, { runCommand, env: { HOME: "/h" } }));
    expect(await config.credentials.get(live)).toMatchObject({ error: { kind: "unauthorized" } });
    expect(commands[0]).toMatchObject({ command: "/k/bin/plugin", args: ["a"], env: { HOME: "/h", A: "1" } });
    expect(commands[0]?.env["KUBERNETES_EXEC_INFO"]).toContain('"config":{"audience":"x"}');
  });

  test("has a token that overrides a plugin", async () => {
    expect((await credentialOf({ token: "t", exec: { apiVersion: "?", command: "x" } })).token).toBeDefined();
  });

  test("may impersonate another user", async () => {
    const user = { token: "t", as: "bob", "as-uid": "7", "as-groups": ["g"], "as-user-extra": { scope: ["a"], odd: "b" } };
    const config = expectOk(await load({ "/k/config": kubeconfig({ user }) }));
    expect(config.impersonate).toEqual({
      user: "bob",
      uid: "7",
      groups: ["g"],
      extra: new Map([
        ["scope", ["a"]],
        ["odd", []],
      ]),
    });
  });

  const at = '/k/config: user "u": ';
  const rows: { name: string; given: Entry; want: string }[] = [
    {
      name: "a password",
      given: { username: "a", password: "hunter2" },
      want: `unsupported: ${at}Kubernetes has had no user names and passwords since 1.19`,
    },
    {
      name: "an auth-provider",
      given: { "auth-provider": { name: "gcp" } },
      want: `unsupported: ${at}the auth-provider "gcp" was removed`,
    },
    {
      name: "an auth-provider without a name",
      given: { "auth-provider": {} },
      want: `unsupported: ${at}the auth-provider "unnamed" was removed`,
    },
    {
      name: "a certificate without a key",
      given: { "client-certificate-data": base64(PEM) },
      want: `incomplete: ${at}client-certificate needs client-key`,
    },
    {
      name: "a key without a certificate",
      given: { "client-key-data": base64(KEY) },
      want: `incomplete: ${at}client-key needs client-certificate`,
    },
    {
      name: "a certificate file that is missing",
      given: { "client-certificate": "c", "client-key": "k" },
      want: `not-found: ${at}client-certificate: /k/c does not exist`,
    },
    {
      name: "a key file that is missing",
      given: { "client-certificate-data": base64(PEM), "client-key": "k" },
      want: `not-found: ${at}client-key: /k/k does not exist`,
    },
    {
      name: "a token that is a number",
      given: { token: 12 },
      want: `malformed: ${at.replace("/k/config: ", "/k/config: ")}token must be text; put it in quotes`,
    },
    { name: "groups without a user to impersonate", given: { "as-groups": ["g"] }, want: `malformed: ${at}as-groups and as-uid need as` },
    {
      name: "groups that are not strings",
      given: { as: "a", "as-groups": [1] },
      want: `malformed: ${at}as-groups must be a list of text; put its items in quotes`,
    },
    { name: "groups that are not a list", given: { as: "a", "as-groups": "g" }, want: `malformed: ${at}as-groups must be a list` },
    { name: "extra that is not a map", given: { as: "a", "as-user-extra": [] }, want: `malformed: ${at}as-user-extra must be a map` },
    { name: "a plugin without a command", given: { exec: { apiVersion: "x" } }, want: `malformed: ${at}exec: exec needs a command` },
    {
      name: "an unknown plugin version",
      given: { exec: { apiVersion: "client.authentication.k8s.io/v1alpha1", command: "x" } },
      want: `unsupported: ${at}exec.apiVersion must be one of`,
    },
    {
      name: "a plugin without an interactive mode",
      given: { exec: { apiVersion: "client.authentication.k8s.io/v1", command: "x" } },
      want: `unsupported: ${at}exec.interactiveMode is missing`,
    },
    {
      name: "an unknown interactive mode",
      given: { exec: { apiVersion: "client.authentication.k8s.io/v1", command: "x", interactiveMode: "Maybe" } },
      want: `unsupported: ${at}exec.interactiveMode must be Never, IfAvailable or Always`,
    },
    {
      name: "a plugin that needs a terminal",
      given: { exec: { apiVersion: "client.authentication.k8s.io/v1", command: "x", interactiveMode: "Always" } },
      want: `unsupported: ${at}the credential plugin needs a terminal`,
    },
  ];
  test.each(rows)("is refused with $name", async ({ given, want }) => {
    const message = await messageOf(kubeconfig({ user: given }));
    expect(message).toContain(want);
    expect(message).not.toContain("hunter2");
  });

  test("of another context is not checked", async () => {
    const users = [
      { name: "u", user: { token: "t" } },
      { name: "old", user: { username: "a", password: "b" } },
    ];
    expect((await load({ "/k/config": kubeconfig({ users }) })).ok).toBe(true);
  });
});

describe("the file", () => {
  const rows: { name: string; given: string; want: string }[] = [
    { name: "broken YAML", given: "clusters: [", want: "malformed: /k/config: " },
    { name: "a list", given: "[]", want: "malformed: /k/config: a kubeconfig is one YAML document with clusters, users and contexts" },
    { name: "two documents", given: "{}\n---\n{}", want: "malformed: /k/config: a kubeconfig is one YAML document" },
    { name: "entries that are not lists", given: "clusters: {}", want: "malformed: /k/config: clusters must be a list" },
    { name: "an entry without a name", given: "users: [{user: {}}]", want: "malformed: /k/config: every entry of users needs a name" },
    {
      name: "two entries of one name",
      given: "users: [{name: a}, {name: a}]",
      want: 'malformed: /k/config: users has two entries named "a"',
    },
    {
      name: "an entry that is not a map",
      given: "clusters: [{name: a, cluster: x}]",
      want: 'malformed: /k/config: cluster "a": must be a map of fields',
    },
    {
      name: "an invalid flag",
      given: "clusters: [{name: a, cluster: {insecure-skip-tls-verify: 'true'}}]",
      want: 'cluster "a": insecure-skip-tls-verify must be true or false',
    },
    { name: "several mistakes at once", given: "clusters: 1\nusers: 2", want: "clusters must be a list; users must be a list" },
    { name: "nothing", given: "", want: "unknown-context: there is no current-context" },
  ];
  test.each(rows)("with $name is refused", async ({ given, want }) => {
    expect(await messageOf(given)).toContain(want);
  });

  test("is read without a file name too, and unknown fields are ignored", () => {
    expect(parseKubeconfig("current-context: a\npreferences: {colors: true}\nusers: null").ok).toBe(true);
    expect(parseKubeconfig("clusters: 1")).toMatchObject({ error: { message: "kubeconfig: clusters must be a list" } });
  });

  test("contains no secret in any printed form", () => {
    const parsed = parseKubeconfig(kubeconfig({ user: { token: "t0ken", "client-key-data": base64(KEY) } }));
    expect(inspect(parsed, { depth: 9, showHidden: true }) + JSON.stringify(parsed)).not.toMatch(/t0ken|PRIVATE|c2VjcmV0/);
  });
});

test("files are read from disk by default", async () => {
  const loaded = await loadKubeconfig({ path: "/does/not/exist", env: {}, home: "/", clock: new FakeClock() });
  expect(loaded).toMatchObject({ error: { kind: "not-found", message: "/does/not/exist does not exist" } });
});
