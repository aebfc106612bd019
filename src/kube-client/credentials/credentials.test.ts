import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { expectOk, FakeClock, reveal, sensitive, type Result } from "#base";
import { parseServerUrl, staticCredentials, type Credential, type Credentials } from "../cluster-config.ts";
import type { KubeError } from "../errors.ts";
import type { ExecConfig } from "../kubeconfig/kubeconfig.ts";
import { execCredentials, type ExecPluginOptions } from "../kubeconfig/exec-plugin.ts";
import { runCommand, type Command, type CommandOutcome, type RunCommand } from "./run-command.ts";
import { tokenFileCredentials } from "./token-file.ts";

const live = new AbortController().signal;
const V1 = "client.authentication.k8s.io/v1";

async function tokenOf(credentials: Credentials): Promise<string> {
  const credential = await credentials.get(live);
  if (!credential.ok) return credential.error.message;
  return credential.value.token === undefined ? "" : reveal(credential.value.token);
}

test("static credentials never change", () => {
  const credentials = staticCredentials({});
  expect(credentials.refused({})).toBe(false);
  credentials.close();
});

describe("a token file", () => {
  const setUp = (fallback?: string) => {
    const clock = new FakeClock();
    const file: { text: string | undefined; reads: number } = { text: "one\n", reads: 0 };
    const readFile = () => {
      file.reads += 1;
      return file.text === undefined ? Promise.reject(new Error("EIO")) : Promise.resolve(file.text);
    };
    const credentials = tokenFileCredentials({
      path: "/t",
      clock,
      readFile,
      fallback: fallback === undefined ? undefined : sensitive(fallback),
    });
    return { clock, file, credentials };
  };

  test("is read once a minute", async () => {
    const { clock, file, credentials } = setUp();
    expect(await tokenOf(credentials)).toBe("one");
    file.text = "two";
    await clock.advance(59_999);
    expect(await tokenOf(credentials)).toBe("one");
    expect(file.reads).toBe(1);
    await clock.advance(1);
    expect(await tokenOf(credentials)).toBe("two");
    credentials.close();
  });

  test("is read again when the server refuses the token, once for all calls with it", async () => {
    const { file, credentials } = setUp();
    const old = expectOk(await credentials.get(live));
    file.text = "two";
    expect(credentials.refused(old)).toBe(true);
    expect(await tokenOf(credentials)).toBe("two");
    expect(credentials.refused(old)).toBe(true);
    await credentials.get(live);
    expect(file.reads).toBe(2);
  });

  test("that has not changed returns the same token, so that it is not sent twice", async () => {
    const { credentials } = setUp();
    const first = expectOk(await credentials.get(live));
    credentials.refused(first);
    expect(expectOk(await credentials.get(live)).token).toBe(first.token);
  });

  test("that cannot be read temporarily keeps the token", async () => {
    const { clock, file, credentials } = setUp();
    await credentials.get(live);
    file.text = undefined;
    await clock.advance(60_000);
    expect(await tokenOf(credentials)).toBe("one");
    file.text = "two";
    expect(await tokenOf(credentials)).toBe("two");
  });

  test("falls back to the token of the kubeconfig, and is an error without one", async () => {
    const withFallback = setUp("fallback");
    withFallback.file.text = undefined;
    expect(await tokenOf(withFallback.credentials)).toBe("fallback");
    const without = setUp();
    without.file.text = undefined;
    expect(await tokenOf(without.credentials)).toBe("no token: /t cannot be read: EIO");
    without.file.text = " \n";
    expect(await tokenOf(without.credentials)).toBe("the token file /t is empty");
  });
});

describe("a credential plugin", () => {
  const exec: ExecConfig = {
    apiVersion: V1,
    command: "plugin",
    args: ["get", "token"],
    env: new Map([
      ["REGION", "eu"],
      ["PATH", "/own"],
    ]),
    installHint: "install it with\n  brew",
    provideClusterInfo: false,
    interactiveMode: "Never",
  };
  const server = { server: expectOk(parseServerUrl("https://api.test")), certificateAuthority: "PEM", serverName: "name" };
  const answering = (status: object, more: object = {}): CommandOutcome => ({
    kind: "exited",
    code: 0,
    stdout: sensitive(JSON.stringify({ apiVersion: V1, kind: "ExecCredential", status, ...more })),
    stderr: "",
  });

  const setUp = (outcomes: readonly CommandOutcome[], more: Partial<ExecPluginOptions> = {}) => {
    const clock = new FakeClock();
    const commands: Command[] = [];
    const run: RunCommand = (command) => {
      commands.push(command);
      return Promise.resolve(outcomes[Math.min(commands.length, outcomes.length) - 1] ?? { kind: "not-found" });
    };
    const options: ExecPluginOptions = {
      exec,
      at: 'config: user "u": ',
      env: { PATH: "/bin", HOME: "/h", GONE: undefined },
      clock,
      cluster: { insecureSkipVerify: false, execConfig: { name: "client.authentication.k8s.io/exec", extension: { audience: "a" } } },
      server,
      runCommand: run,
      ...more,
    };
    return { clock, commands, credentials: expectOk(execCredentials(options)) };
  };

  test("gets its environment and KUBERNETES_EXEC_INFO", async () => {
    const { commands, credentials } = setUp([answering({ token: "t" })]);
    expect(await tokenOf(credentials)).toBe("t");
    expect(commands[0]).toMatchObject({ command: "plugin", args: ["get", "token"], interactive: false });
    const { KUBERNETES_EXEC_INFO: info = "", ...env } = commands[0]?.env ?? {};
    expect(env).toEqual({ PATH: "/own", HOME: "/h", REGION: "eu" });
    expect(JSON.parse(info)).toEqual({ apiVersion: V1, kind: "ExecCredential", spec: { interactive: false } });
  });

  test("gets the cluster only with provideClusterInfo", async () => {
    const { commands, credentials } = setUp([answering({ token: "t" })], { exec: { ...exec, provideClusterInfo: true } });
    await credentials.get(live);
    expect(JSON.parse(commands[0]?.env["KUBERNETES_EXEC_INFO"] ?? "")).toMatchObject({
      spec: {
        cluster: {
          server: "https://api.test",
          "tls-server-name": "name",
          "certificate-authority-data": Buffer.from("PEM").toString("base64"),
          config: { audience: "a" },
        },
      },
    });
  });

  const modes: { mode: string | undefined; version: string; terminal: boolean; want: boolean }[] = [
    { mode: "Never", version: V1, terminal: true, want: false },
    { mode: "IfAvailable", version: V1, terminal: true, want: true },
    { mode: "IfAvailable", version: V1, terminal: false, want: false },
    { mode: "Always", version: V1, terminal: true, want: true },
    { mode: undefined, version: `${V1}beta1`, terminal: true, want: true },
  ];
  test.each(modes)("may use the terminal: $mode, terminal $terminal: $want", async ({ mode, version, terminal, want }) => {
    const { commands, credentials } = setUp([answering({ token: "t" }, { apiVersion: version })], {
      exec: { ...exec, apiVersion: version, interactiveMode: mode },
      interactive: terminal,
    });
    expect(await tokenOf(credentials)).toBe("t");
    expect(commands[0]?.interactive).toBe(want);
  });

  test("runs once for many calls at once, and not again before its credential expires", async () => {
    const expiring = (at: number) => answering({ token: `t${at}`, expirationTimestamp: new Date(Date.UTC(2026, 0, 1) + at).toISOString() });
    const { clock, commands, credentials } = setUp([expiring(60_000), expiring(200_000)]);
    await Promise.all(Array.from({ length: 10 }, () => credentials.get(live)));
    await clock.advance(49_999);
    expect(await tokenOf(credentials)).toBe("t60000");
    expect(commands.length).toBe(1);
    await clock.advance(1);
    expect(await tokenOf(credentials)).toBe("t200000");
    expect(commands.length).toBe(2);
    expect(clock.pending).toBe(0);
  });

  test("runs once more when the server refuses its credential", async () => {
    const { commands, credentials } = setUp([answering({ token: "old" }), answering({ token: "new" })]);
    const old = expectOk(await credentials.get(live));
    expect(credentials.refused(old)).toBe(true);
    expect(await tokenOf(credentials)).toBe("new");
    expect(credentials.refused(old)).toBe(true);
    expect(await tokenOf(credentials)).toBe("new");
    expect(commands.length).toBe(2);
  });

  test("may return a client certificate, unless the user has one", async () => {
    const given = answering({ clientCertificateData: "CERT", clientKeyData: "KEY" });
    const own = { certificate: "OWN", key: sensitive("K") };
    const certificateOf = (credential: Result<Credential, KubeError>) => expectOk(credential).certificate?.certificate;
    expect(certificateOf(await setUp([given]).credentials.get(live))).toBe("CERT");
    expect(certificateOf(await setUp([given], { certificate: own }).credentials.get(live))).toBe("OWN");
  });

  const at = 'config: user "u": the credential plugin plugin failed: ';
  const printed = (text: string): CommandOutcome => ({ kind: "exited", code: 0, stdout: sensitive(text), stderr: "" });
  const failures: { name: string; given: CommandOutcome; want: string }[] = [
    { name: "is not installed", given: { kind: "not-found" }, want: `${at}it is not installed: install it with brew` },
    { name: "cannot be started", given: { kind: "failed", message: "spawn EACCES" }, want: `${at}spawn EACCES` },
    {
      name: "ends with an error",
      given: { kind: "exited", code: 1, stdout: sensitive("s3cret"), stderr: "\u001b[31mlog in\nfirst\n" },
      want: `${at}it ended with 1: [31mlog in first`,
    },
    {
      name: "is killed",
      given: { kind: "exited", code: undefined, stdout: sensitive("s3cret"), stderr: "" },
      want: `${at}it ended with a signal`,
    },
    { name: "prints no JSON", given: printed("s3cret"), want: `${at}it did not print an ExecCredential as JSON` },
    { name: "prints something else", given: printed('{"kind":"s3cret"}'), want: `${at}it did not print an ExecCredential as JSON` },
    {
      name: "prints another version",
      given: answering({}, { apiVersion: `${V1}beta1` }),
      want: `${at}it did not print ${V1}, which the kubeconfig requires`,
    },
    { name: "returns nothing", given: answering({ token: "" }), want: `${at}it returned neither a token nor a client certificate` },
    {
      name: "returns a certificate without its key",
      given: answering({ clientKeyData: "s3cret" }),
      want: `${at}it returned a client certificate without a key, or a key without a certificate`,
    },
    {
      name: "returns an invalid time",
      given: answering({ token: "s3cret", expirationTimestamp: "soon" }),
      want: `${at}its expirationTimestamp is not a time`,
    },
  ];
  test.each(failures)("that $name is an error without its output", async ({ given, want }) => {
    const message = await tokenOf(setUp([given]).credentials);
    expect(message).toBe(want);
    expect(message).not.toContain("s3cret");
  });

  test("without installHint the error has no hint", async () => {
    const { credentials } = setUp([{ kind: "not-found" }], { exec: { ...exec, installHint: undefined } });
    expect(await tokenOf(credentials)).toBe(`${at}it is not installed`);
  });

  test("that failed runs again for the next call", async () => {
    const { credentials } = setUp([{ kind: "not-found" }, answering({ token: "t" })]);
    expect(await tokenOf(credentials)).toContain("not installed");
    expect(await tokenOf(credentials)).toBe("t");
  });

  /** Never ends by itself. */
  const hanging: RunCommand = (_command, signal) =>
    new Promise((resolve) => signal.addEventListener("abort", () => resolve({ kind: "failed", message: "it was stopped" })));

  test.each([
    { interactive: false, mode: "Never", limit: 60 },
    { interactive: true, mode: "Always", limit: 300 },
  ])("that hangs is stopped after $limit s", async ({ interactive, mode, limit }) => {
    const { clock, credentials } = setUp([], { runCommand: hanging, interactive, exec: { ...exec, interactiveMode: mode } });
    const token = tokenOf(credentials);
    await clock.advance(limit * 1_000);
    expect(await token).toBe(`${at}it did not finish within ${limit} s`);
  });

  test("is stopped by close, and continues when a caller aborts", async () => {
    const { clock, credentials } = setUp([], { runCommand: hanging });
    const caller = new AbortController();
    const left = credentials.get(caller.signal);
    const stopped = credentials.get(live);
    caller.abort();
    expect(await left).toMatchObject({ error: { kind: "cancelled" } });
    credentials.close();
    expect(await stopped).toMatchObject({ error: { kind: "cancelled" } });
    expect(clock.pending).toBe(0);
  });
});

describe("running a real command", () => {
  const folder = mkdtempSync(join(tmpdir(), "lattice-exec-"));
  afterAll(() => rmSync(folder, { recursive: true }));
  const script = (name: string, text: string, mode = 0o755) => {
    const path = join(folder, name);
    writeFileSync(path, `#!/bin/sh\n${text}\n`, { mode });
    return path;
  };
  const run = (command: string, more: Partial<Command> = {}, signal = live) =>
    runCommand({ command, args: [], env: { PATH: "/usr/bin:/bin" }, interactive: false, ...more }, signal);

  test("returns its output and does not inherit the environment", async () => {
    const path = script("print", 'echo "$1 $GIVEN ${HOME:-none}"; echo oops >&2; exit 3');
    const outcome = await run(path, { args: ["arg"], env: { PATH: "/usr/bin:/bin", GIVEN: "given" } });
    expect(outcome).toMatchObject({ kind: "exited", code: 3, stderr: "oops\n" });
    expect(outcome.kind === "exited" ? reveal(outcome.stdout) : "").toBe("arg given none\n");
  });

  test("distinguishes a missing command from one that may not run", async () => {
    expect(await run(join(folder, "missing"))).toEqual({ kind: "not-found" });
    expect(await run("no-such-plugin-anywhere")).toEqual({ kind: "not-found" });
    expect(await run(script("closed", "", 0o644))).toMatchObject({ kind: "failed" });
    expect(await run("nul\0inside")).toMatchObject({ kind: "failed" });
  });

  test("stops it and children that keep its output open", async () => {
    const caller = new AbortController();
    const running = run(script("hang", "sleep 1000 & sleep 1000"), {}, caller.signal);
    caller.abort();
    expect(await running).toEqual({ kind: "failed", message: "it was stopped" });
    expect(await run(script("never", "true"), {}, caller.signal)).toEqual({ kind: "failed", message: "it was stopped" });
  });

  test("stops it when its output is too large", async () => {
    expect(await run(script("flood", "yes"))).toEqual({ kind: "failed", message: "it printed more than 1 MiB" });
    expect(await run(script("flood2", "yes >&2"))).toEqual({ kind: "failed", message: "it printed more than 1 MiB" });
  });
});
