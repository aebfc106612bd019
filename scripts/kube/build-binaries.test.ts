/** With a `go` that is a shell script: the files that remain when a build succeeds, fails, or is interrupted. */
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ok } from "#base";
import { buildBinaries } from "./build-binaries.ts";
import { obtainBinaries, obtainPrograms } from "./obtain-binaries.ts";
import { BINARIES, E2E_SUITE } from "./versions.ts";

const ALL = BINARIES.map(({ name }) => name).toSorted();
const BUILT = `printf '#!/bin/sh\\necho 3.6.16 1.36.3\\n' > "$out"; chmod +x "$out"`;

let root = "";
let folder = "";
let messages: string[] = [];

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "lattice-build-"));
  folder = join(root, "kube-1.36.3", "bin");
  messages = [];
});
afterEach(() => rm(root, { recursive: true }));

/** A `go` that prints a new version, records the packages it builds, and runs `build` for each, with the output file in $out. */
async function fakeGo(build: string): Promise<NodeJS.ProcessEnv> {
  const bin = join(root, "go", "bin");
  await mkdir(bin, { recursive: true });
  const script = `#!/bin/sh
if [ "$1" = env ]; then echo go1.26.8; exit 0; fi
for arg; do [ "$previous" = -o ] && out=$arg; previous=$arg; package=$arg; done
echo "$1 $package" >> "${root}/builds"
${build}
`;
  await writeFile(join(bin, "go"), script, { mode: 0o755 });
  return { PATH: `${bin}:${process.env["PATH"]}`, LATTICE_CACHE: root };
}

async function builds(): Promise<readonly string[]> {
  return (await readFile(join(root, "builds"), "utf8")).trimEnd().split("\n");
}

const say = (line: string) => void messages.push(line);

test("all four are built, each under its name, and a second run builds nothing", async () => {
  const environment = await fakeGo(BUILT);
  expect(await obtainBinaries({ named: undefined, environment, say })).toEqual({ kind: "binaries", folder });
  expect(await obtainBinaries({ named: undefined, environment, say })).toEqual({ kind: "binaries", folder });
  expect((await readdir(folder)).toSorted()).toEqual(ALL);
  expect(await builds()).toHaveLength(4);
  expect(messages).toContain("building kube-apiserver 1.36.3 (2 of 4, about 5 min)");
});

test("two runs at once build once", async () => {
  const environment = await fakeGo(BUILT);
  const both = await Promise.all([1, 2].map(() => buildBinaries({ folder, environment, say })));
  expect(both).toEqual([ok(undefined), ok(undefined)]);
  expect(await builds()).toHaveLength(4);
  expect(messages).toContain("another run is building the same binaries; waiting for it");
});

test("a build that fails reports the output of Go and leaves no incomplete binary, and the next run continues from there", async () => {
  const failing = `case $package in *kubectl) echo half > "$out"; echo "cannot find module" >&2; exit 1;; esac; ${BUILT}`;
  const failed = await obtainBinaries({ named: undefined, environment: await fakeGo(failing), say });
  expect(failed).toEqual({ kind: "failed", why: "go could not build kubectl 1.36.3:\ncannot find module" });
  expect((await readdir(folder)).filter((file) => !file.startsWith(".")).toSorted()).toEqual(ALL.filter((name) => name !== "kubectl"));
  await buildBinaries({ folder, environment: await fakeGo(BUILT), say });
  expect((await readdir(folder)).toSorted()).toEqual(ALL);
  expect(await builds()).toHaveLength(5);
});

test("a binary that does not print its version is deleted", async () => {
  const environment = await fakeGo(`printf '#!/bin/sh\\necho wrong architecture >&2; exit 1\\n' > "$out"; chmod +x "$out"`);
  const built = await buildBinaries({ folder, environment, say });
  expect(built).toEqual({ ok: false, error: "etcd 3.6.16 was built but does not run here: wrong architecture" });
  expect(await readdir(folder)).not.toContain("etcd");
});

test("a long build reports its progress", async () => {
  await buildBinaries({ folder, environment: await fakeGo(`sleep 0.2; ${BUILT}`), say, everyMs: 10 });
  expect(messages.filter((line) => line.startsWith("still building etcd 3.6.16: 0 s of about 2 min"))).not.toEqual([]);
});

test("without Go the lane is skipped, and the message names the flags for binaries", async () => {
  const obtained = await obtainBinaries({ named: undefined, environment: { PATH: "/nonexistent", LATTICE_CACHE: root }, say });
  const why = "Go is not installed, and no binaries are given (--bin DIR, LATTICE_KUBE_BIN or KUBEBUILDER_ASSETS)";
  expect(obtained).toEqual({ kind: "skipped", why });
});

test("a given folder that lacks a program is an error", async () => {
  const obtained = await obtainBinaries({ named: root, environment: {}, say });
  expect(obtained).toMatchObject({ kind: "failed", why: expect.stringContaining("lacks etcd, kube-apiserver") });
});

describe("a program that only some stories need", () => {
  test("is not among the programs that all stories need", async () => {
    await buildBinaries({ folder, environment: await fakeGo(BUILT), say });
    expect(await readdir(folder)).not.toContain("e2e.test");
  });

  test("is built into the cache on demand, as the tests of its package, and once", async () => {
    const environment = await fakeGo(BUILT);
    for (const _ of [1, 2]) {
      expect(await obtainPrograms([E2E_SUITE], { beside: "/nonexistent", environment, say })).toEqual({ kind: "binaries", folder });
    }
    expect(await builds()).toEqual(["test k8s.io/kubernetes/test/e2e"]);
    expect(messages[0]).toMatch(/^building 1 program into .*: about \d+ minutes on 2 cores, and only once$/);
  });

  test("is taken from the folder of the others if it exists", async () => {
    const beside = join(root, "given");
    await mkdir(beside);
    await writeFile(join(beside, "e2e.test"), "#!/bin/sh\n", { mode: 0o755 });
    const environment = await fakeGo(BUILT);
    expect(await obtainPrograms([E2E_SUITE], { beside, environment, say })).toEqual({ kind: "binaries", folder: beside });
  });

  test("that cannot be built is an error with the reason", async () => {
    const failing = await fakeGo(`echo "cannot find module" >&2; exit 1`);
    const without = { PATH: "/nonexistent", LATTICE_CACHE: root };
    const ask = (environment: NodeJS.ProcessEnv) => obtainPrograms([E2E_SUITE], { beside: "/b", environment, say });
    expect(await ask(failing)).toEqual({ kind: "failed", why: "go could not build e2e.test 1.36.3:\ncannot find module" });
    expect(await ask(without)).toEqual({ kind: "skipped", why: "Go is not installed, and /b has no e2e.test" });
  });
});
