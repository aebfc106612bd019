/** The embedded API server responds exactly as a real kube-apiserver: 114 recorded cases, replayed over HTTP, with named exceptions. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { expectOk, reveal } from "#base";
import { createCertificateAuthority, issueCertificate } from "#pki";
import { serveCluster, type ServedCluster } from "../builders/api-server/served-cluster.ts";
import { runNode } from "../../scripts/process/run-program.ts";
import { HTTP_EXCEPTIONS, problemsOf, type HttpResult } from "./http-exceptions.ts";

const folder = fileURLToPath(new URL("./http/", import.meta.url));
const TOKENS = [
  'lattice-admin-token,admin,uid-admin,"system:masters"',
  'lattice-alice-token,alice,uid-alice,"devs"',
  'lattice-bob-token,bob,uid-bob,"ops"',
];

type Case = { readonly name: string; readonly area: string };
const cases = readdirSync(join(folder, "cases")).map((file) => JSON.parse(readFileSync(join(folder, "cases", file), "utf8")) as Case);
const areas = [...new Set(cases.map(({ area }) => area))];

let scratch: string;
let server: ServedCluster;
let replayed: readonly HttpResult[];

beforeAll(async () => {
  scratch = mkdtempSync(join(tmpdir(), "lattice-conformance-"));
  writeWebhookCertificates(scratch);
  server = await serveCluster({ tokens: `${TOKENS.join("\n")}\n`, random: Math.random });
  const output = join(scratch, "results.json");
  const users = ["--token", "lattice-admin-token", "--user", "alice=lattice-alice-token", "--user", "bob=lattice-bob-token"];
  const argv = [
    join(folder, "replay.mjs"),
    "--url",
    server.url,
    ...users,
    "--area",
    areas.join(","),
    "--mode",
    "strict",
    "--quiet",
    "--json",
    output,
  ];
  await runNode(argv[0] ?? "", argv.slice(1), { cwd: scratch, env: { ...process.env, ORACLE_PKI: scratch } });
  replayed = (JSON.parse(readFileSync(output, "utf8")) as { readonly results: typeof replayed }).results;
}, 120_000);

afterAll(async () => {
  await server.close();
  rmSync(scratch, { recursive: true });
});

/** The replay hosts a webhook, whether a case calls it or not. */
function writeWebhookCertificates(target: string): void {
  const valid = { notBefore: new Date(Date.now() - 60_000), notAfter: new Date(Date.now() + 3_600_000) };
  const authority = expectOk(createCertificateAuthority({ commonName: "conformance", ...valid }));
  const serving = expectOk(
    issueCertificate(authority, { commonName: "127.0.0.1", ipAddresses: ["127.0.0.1"], usages: ["server"], ...valid }),
  );
  writeFileSync(join(target, "ca.crt"), authority.certificate);
  writeFileSync(join(target, "tls.crt"), serving.certificate);
  writeFileSync(join(target, "tls.key"), reveal(serving.key), { mode: 0o600 });
}

test.each(cases)("$area: $name", ({ area, name }) => {
  const result = replayed.find((one) => one.area === area && one.name === name);
  expect(result === undefined ? ["was not replayed"] : problemsOf(result, HTTP_EXCEPTIONS)).toEqual([]);
});

test("every exception names a recorded case", () => {
  const known = new Set(cases.map(({ area, name }) => `${area}: ${name}`));
  expect(HTTP_EXCEPTIONS.filter(({ area, name }) => !known.has(`${area}: ${name}`))).toEqual([]);
});
