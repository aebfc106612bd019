/** curl of a machine against an HTTPS server of this process. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import { expectOk, FakeClock, ok, reveal, seededRandom, systemClock, type Clock } from "#base";
import { createCertificateAuthority, issueCertificate } from "#pki";
import { parseCurlArgs } from "./curl-args.ts";
import { curl } from "./index.ts";

let folder = "";
let server: Server;
let old: Server;
type Received = { readonly method: string; readonly url: string; readonly headers: IncomingMessage["headers"]; readonly body: string };
const received: Received[] = [];
let answer: (request: Received, response: ServerResponse) => void = (_, response) => response.end("hello\n");

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "lattice-curl-"));
  for (const name of ["etc", "run"]) mkdirSync(join(folder, name));
  const [notBefore, notAfter] = [new Date(Date.now() - 60_000), new Date(Date.now() + 3_600_000)];
  const ca = expectOk(createCertificateAuthority({ commonName: "test", notBefore, notAfter }));
  const leaf = expectOk(
    issueCertificate(ca, {
      commonName: "server",
      notBefore,
      notAfter,
      usages: ["server"],
      dnsNames: ["localhost"],
      ipAddresses: ["127.0.0.1"],
    }),
  );
  const other = expectOk(createCertificateAuthority({ commonName: "other", notBefore, notAfter }));
  writeFileSync(join(folder, "etc/ca.crt"), ca.certificate);
  writeFileSync(join(folder, "etc/other.crt"), other.certificate);
  const handle = (request: IncomingMessage, response: ServerResponse) => {
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      const { method = "", url = "", headers } = request;
      received.push({ method, url, headers, body });
      answer({ method, url, headers, body }, response);
    });
  };
  const tls = { cert: leaf.certificate, key: reveal(leaf.key) };
  server = createServer(tls, handle);
  old = createServer({ ...tls, maxVersion: "TLSv1.2" }, handle);
  for (const one of [server, old]) await new Promise<void>((resolve) => one.listen(0, "127.0.0.1", resolve));
});
afterAll(() => {
  for (const one of [server, old]) {
    one.closeAllConnections();
    one.close();
  }
  rmSync(folder, { recursive: true, force: true });
});

const urlOf = (one: Server) => `https://127.0.0.1:${(one.address() as AddressInfo).port}`;
const signal = new AbortController().signal;

async function run(args: readonly string[], clock: Clock = systemClock) {
  const output: string[] = [];
  const outcome = await curl(
    { env: { LATTICE_ROOT: folder }, cwd: folder, clock, random: seededRandom(1), stdout: (text) => output.push(text), signal },
    args,
  );
  return { ...outcome, output: output.join("") };
}

describe("curl of a machine", () => {
  it("sends a request with headers and a body from files, and writes the answer to a file", async () => {
    received.length = 0;
    writeFileSync(join(folder, "run/header"), "Authorization: Bearer abc\nX-More: 1\n");
    writeFileSync(join(folder, "run/body"), "one\ntwo\n");
    const args = [
      "--silent",
      "--show-error",
      "--fail",
      "--proto",
      "=https",
      "--cacert",
      "/etc/ca.crt",
      "--connect-timeout",
      "10",
      "--max-time",
      "60",
    ];
    const more = [
      "--request",
      "POST",
      "--header",
      "@/run/header",
      "-H",
      "Content-Type: text/plain",
      "--data-binary",
      "@/run/body",
      "--output",
      "/run/out",
    ];
    expect(await run([...args, ...more, `${urlOf(server)}/api?x=1`])).toEqual({ exitCode: 0, output: "" });
    expect(received).toMatchObject([
      {
        method: "POST",
        url: "/api?x=1",
        body: "one\ntwo\n",
        headers: { authorization: "Bearer abc", "x-more": "1", "content-type": "text/plain" },
      },
    ]);
    expect([readFileSync(join(folder, "run/out"), "utf8"), statSync(join(folder, "run/out")).mode & 0o777]).toEqual(["hello\n", 0o600]);
  });

  it("prints the answer, and has forms and configuration files", async () => {
    received.length = 0;
    writeFileSync(join(folder, "run/form"), "b=\n2");
    writeFileSync(join(folder, "run/config"), `# settings\n\nheader = "X-Token: a\\"b"\n-X PUT\nsilent\nurl = "${urlOf(server)}/form"\n`);
    expect(await run(["-K", "/run/config", "-d", "a=1", "-d", "@/run/form", "--cacert=/etc/ca.crt"])).toEqual({
      exitCode: 0,
      output: "hello\n",
    });
    expect(received).toMatchObject([
      { method: "PUT", url: "/form", body: "a=1&b=2", headers: { "x-token": 'a"b', "content-type": "application/x-www-form-urlencoded" } },
    ]);
  });

  it("has the exit codes of curl", async () => {
    answer = (_, response) => response.writeHead(503).end("busy");
    const url = urlOf(server);
    expect(await run(["-fsS", "--cacert", "/etc/ca.crt", url])).toEqual({
      exitCode: 22,
      message: "the server answered with status 503",
      output: "",
    });
    expect(await run(["-fs", "--cacert", "/etc/ca.crt", url])).toEqual({ exitCode: 22, output: "" });
    expect(await run(["-s", "--cacert", "/etc/ca.crt", url])).toEqual({ exitCode: 0, output: "busy" });
    expect(await run(["--cacert", "/etc/other.crt", url])).toMatchObject({ exitCode: 60, output: "" });
    expect(await run(["--cacert", "/etc/absent.crt", url])).toMatchObject({ exitCode: 26 });
    expect(await run(["--cacert", "/etc/ca.crt", urlOf(old)])).toMatchObject({ exitCode: 35 });
    expect(await run(["--cacert", "/etc/ca.crt", "https://127.0.0.1:1"])).toMatchObject({ exitCode: 7 });
    expect(await run(["--cacert", "/etc/ca.crt", "-o", "/etc/no/such/folder", url])).toMatchObject({ exitCode: 23 });
    expect(await run(["--cacert", "/etc/ca.crt", "-X", "a b", url])).toMatchObject({ exitCode: 2 });
  });

  it("gives up after its time limit", async () => {
    const clock = new FakeClock();
    answer = () => {
      void clock.advance(5_000);
    };
    expect(await run(["--cacert", "/etc/ca.crt", "-m", "5", urlOf(server)], clock)).toMatchObject({
      exitCode: 28,
      message: "the time limit has passed",
    });
    expect(clock.pending).toBe(0);
  });

  it("repeats requests that fail for a while, as often as it may", async () => {
    const clock = new FakeClock();
    received.length = 0;
    answer = (_, response) => {
      response.writeHead(received.length < 3 ? 500 : 200).end("done");
    };
    const running = run(["-s", "--retry", "5", "--cacert", "/etc/ca.crt", urlOf(server)], clock);
    for (const delay of [1_000, 2_000]) {
      await expect.poll(() => clock.pending, { interval: 2 }).toBe(1);
      await clock.advance(delay);
    }
    expect([await running, received.length]).toEqual([{ exitCode: 0, output: "done" }, 3]);
    const refused = run(["-s", "--retry", "1", "--retry-connrefused", "--cacert", "/etc/ca.crt", "https://127.0.0.1:1"], clock);
    await expect.poll(() => clock.pending, { interval: 2 }).toBe(1);
    await clock.advance(1_000);
    expect(await refused).toEqual({ exitCode: 7, output: "" });
  });

  test.each([
    { name: "no authorities", args: ["https://a"] },
    { name: "plain HTTP", args: ["--cacert", "/etc/ca.crt", "http://a"] },
    { name: "no address", args: ["--cacert", "/etc/ca.crt"] },
    { name: "two addresses", args: ["--cacert", "/etc/ca.crt", "https://a", "https://b"] },
    { name: "an unknown flag", args: ["--insecure", "https://a"] },
    { name: "an unknown letter", args: ["-sk", "https://a"] },
    { name: "a flag without its value", args: ["https://a", "--cacert"] },
    { name: "other protocols", args: ["--proto", "=http", "--cacert", "/etc/ca.crt", "https://a"] },
    { name: "a time limit that is no number", args: ["-m", "soon", "--cacert", "/etc/ca.crt", "https://a"] },
  ])("explains what it can do: $name", async ({ args }) => {
    expect(await run(args)).toMatchObject({
      exitCode: 2,
      message: expect.stringContaining("curl of a local machine can only do: ") as string,
    });
  });

  it("refuses headers that would be two, and files that it cannot read", () => {
    const read = (path: string) => (existsSync(join(folder, path)) ? ok("x") : { ok: false as const, error: `${path} cannot be read` });
    const parse = (...args: string[]) => parseCurlArgs(["--cacert", "/a", "https://a", ...args], read);
    expect(parse("-H", "no header")).toMatchObject({ error: "a header must be NAME: VALUE" });
    expect(parse("-H", "A: b\u0000c")).toMatchObject({ error: "a header must be NAME: VALUE" });
    for (const args of [
      ["-H", "@/absent"],
      ["-d", "@/absent"],
      ["--config", "/absent"],
    ])
      expect(parse(...args)).toMatchObject({ error: "/absent cannot be read" });
    expect(parse("--config", "/etc/ca.crt")).toMatchObject({ error: expect.stringMatching(/^\/etc\/ca.crt: --x: /) as string });
  });
});
