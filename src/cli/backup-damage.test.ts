/** A backup that is damaged, or opened with another secret, is refused with one line, before anything is written to the target. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { expectOk, seededRandom, systemClock } from "#base";
import { latticeClusterKind } from "#crds";
import type { EmbeddedCluster } from "#embedded-cluster";
import { secrets, type KubeObject } from "#kube";
import { runCli, type CliRun } from "../../test/builders/cli-io.ts";
import { makeProvisioned, startManagementCluster } from "../../test/builders/move-world.ts";
import { roundsOf } from "../../test/builders/rounds.ts";
import { rawCluster } from "../../test/builders/valid-resources.ts";

const HOME = { apiVersion: "v1", kind: "Namespace", metadata: { name: "lattice-system" } };
const CHUNK = 65_536 + 16;
const ROUNDS = roundsOf({ sample: 40, long: 2_000 });
const WRITES: ReadonlySet<string> = new Set(["create", "update", "patch", "apply", "delete"]);

let cwd = "";
let target: EmbeddedCluster;
let written = 0;
/** Of several chunks, sealed with a key. */
let whole: Buffer;

beforeAll(async () => {
  cwd = mkdtempSync(join(tmpdir(), "lattice-damage-"));
  const owner = await startManagementCluster(61);
  await owner.add(latticeClusterKind.crd(), HOME);
  await makeProvisioned(owner.client, "prod", 1, "capi-prod");
  await owner.add(rawCluster({}, "prod"));
  const data = { large: Buffer.alloc(100_000, "x").toString("base64") };
  expectOk(
    await owner.client.patch<KubeObject>(secrets, { namespace: "capi-prod", name: "prod-proxy" }, { type: "merge", patch: { data } }),
  );
  await owner.writeKubeconfig(join(cwd, "owner"));
  writeFileSync(join(cwd, "key"), Buffer.alloc(32, 7));
  writeFileSync(join(cwd, "plain"), "correct horse battery");
  for (const secret of ["key", "plain"]) {
    const { code, stderr } = await backUp(secret);
    expect([code, stderr.includes("lattice:")]).toEqual([0, false]);
  }
  await owner.close();
  whole = readFileSync(join(cwd, "key.backup"));
  target = await startManagementCluster(62);
  await target.add(latticeClusterKind.crd(), HOME);
  await target.writeKubeconfig(join(cwd, "target"));
  target.intercept({ times: Number.POSITIVE_INFINITY }, (action, next) => {
    if (WRITES.has(action.verb)) written += 1;
    return next();
  });
});
afterAll(async () => {
  await target.close();
  rmSync(cwd, { recursive: true, force: true });
});

const lattice = (...words: readonly string[]): Promise<CliRun> => runCli(words, { cwd, clock: systemClock, random: seededRandom(1) });
const backUp = (secret: string) =>
  lattice(
    "backup",
    "prod",
    "--kubeconfig",
    join(cwd, "owner"),
    "-o",
    `${secret}.backup`,
    secret === "key" ? "--key-file" : "--passphrase-file",
    secret,
  );

const SENTENCES = [
  /is no backup of lattice/,
  /has another version \(.*\); use the version of lattice that wrote it/,
  /is truncated(: its (header is incomplete|last part is missing))?/,
  /is truncated or was edited: its last part is not as it was written/,
  /was edited: its (header is too long|header cannot be read|header is incomplete|cipher is not supported|key derivation is not supported)/,
  /was edited: part [0-9]+ is not as it was written/,
  /was sealed with a (key|passphrase); .*/,
  /cannot be opened with this key: it is another one, or the header was edited/,
];
const ONE_OF_THEM = new RegExp(`^lattice: bad\\.backup (${SENTENCES.map(({ source }) => source).join("|")})\n$`);

/** What is wrong with how a damaged file is refused. */
async function expectRefused(bytes: Buffer): Promise<string> {
  writeFileSync(join(cwd, "bad.backup"), bytes);
  const flags = ["--kubeconfig", join(cwd, "target"), "--key-file", "key", "--old-owner-is-gone"];
  const { code, stdout, stderr } = await lattice("restore", "bad.backup", ...flags);
  expect([code, stdout, written]).toEqual([1, "", 0]);
  expect(stderr).toMatch(ONE_OF_THEM);
  return stderr;
}

function flipped(at: number, mask = 1): Buffer {
  const bytes = Buffer.from(whole);
  bytes[at] = (bytes[at] ?? 0) ^ mask;
  return bytes;
}

const headerEnd = () => 21 + whole.readUInt32BE(17);

describe("a backup of several parts", () => {
  test("with a byte flipped in any one of them, or in the mark of its authenticity, names that part", async () => {
    const parts = Math.ceil((whole.length - headerEnd()) / CHUNK);
    expect(parts).toBeGreaterThan(2);
    for (let part = 1; part <= parts; part += 1) {
      const start = headerEnd() + (part - 1) * CHUNK;
      const end = Math.min(start + CHUNK, whole.length);
      for (const at of [start, Math.floor((start + end) / 2), end - 1])
        expect(await expectRefused(flipped(at))).toContain(part === parts ? "its last part is not" : `was edited: part ${part} is not`);
    }
  });

  test("with any byte changed is refused", async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(whole.length - 1), fc.integer({ min: 1, max: 255 }), async (at, mask) => {
        await expectRefused(flipped(at, mask));
      }),
      { numRuns: ROUNDS },
    );
  });

  test("with any byte of its header changed is refused", async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(headerEnd() - 1), fc.integer({ min: 1, max: 255 }), async (at, mask) => {
        await expectRefused(flipped(at, mask));
      }),
      { numRuns: ROUNDS },
    );
  });

  test("that ends at any byte is refused", async () => {
    const starts = Array.from({ length: 3 }, (_, part) => headerEnd() + part * CHUNK);
    for (const end of [0, 1, 17, 21, ...starts.flatMap((start) => [start - 1, start, start + 1, start + 15, start + 16, start + 17])])
      await expectRefused(whole.subarray(0, end));
    await fc.assert(
      fc.asyncProperty(fc.nat(whole.length - 1), async (end) => {
        await expectRefused(whole.subarray(0, end));
      }),
      { numRuns: ROUNDS },
    );
  });

  test("with bytes behind its end is refused", async () => {
    for (const more of [1, 15, 16, 17, CHUNK]) await expectRefused(Buffer.concat([whole, Buffer.alloc(more)]));
  });
});

const PASSPHRASES: readonly { readonly name: string; readonly text: string; readonly want: string | undefined }[] = [
  { name: "as it was", text: "correct horse battery", want: undefined },
  { name: "with a newline at its end", text: "correct horse battery\n", want: undefined },
  { name: "with a newline of Windows at its end", text: "correct horse battery\r\n", want: undefined },
  { name: "with a mark of its encoding", text: "\uFEFFcorrect horse battery\n", want: undefined },
  {
    name: "with a space at its end, which is part of it",
    text: "correct horse battery ",
    want: "plain.backup cannot be opened with this passphrase: it is another one, or the header was edited",
  },
  {
    name: "another one",
    text: "correct horse batteries",
    want: "plain.backup cannot be opened with this passphrase: it is another one, or the header was edited",
  },
  {
    name: "with an empty line behind it",
    text: "correct horse battery\n\n",
    want: "--passphrase-file: given: the passphrase has several lines",
  },
  { name: "only a newline", text: "\n", want: "--passphrase-file: given: the passphrase is shorter than 12 characters" },
  { name: "nothing", text: "", want: "--passphrase-file: given: the passphrase is shorter than 12 characters" },
];

test.for(PASSPHRASES)("a file with the passphrase, $name", async ({ text, want }) => {
  writeFileSync(join(cwd, "given"), text);
  const { code, stderr } = await lattice("restore", "plain.backup", "--inspect", "--passphrase-file", "given");
  expect([code === 0, stderr]).toEqual([want === undefined, want === undefined ? "" : `lattice: ${want}\n`]);
});
