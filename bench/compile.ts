/**
 * `lattice compile` of Score files as a whole process, with its output in a file. If score-k8s is in PATH, it converts the same files in
 * the same run, and writes such a file too; otherwise the ratio is to its earlier measurement. The published program is dist/lattice.js; in
 * a clone, users run the sources.
 */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { projectRoot } from "../scripts/process/project.ts";
import type { BenchResult } from "../scripts/bench/bench.ts";
import { freshDist } from "../scripts/build/fresh-dist.ts";
import { scoreWorkload } from "./support/score-workloads.ts";

const exec = promisify(execFile);
/** Seconds of score-k8s (init and generate), best of several runs on two shared cores. */
const MEASURED = new Map([
  [1, 0.053],
  [100, 0.82],
  [400, 3.7],
]);
const ROUNDS = 7;

export async function run(): Promise<readonly BenchResult[]> {
  const home = mkdtempSync(join(tmpdir(), "lattice-bench-"));
  try {
    const program = join(await freshDist(), "lattice.js");
    const peer = await hasPeer();
    if (!peer) console.log("compile: no score-k8s in PATH; comparing with its earlier measurement");
    const results: BenchResult[] = [];
    for (const count of MEASURED.keys()) results.push(await measure({ home, program, peer }, count));
    const fromSource = await measure({ home, program: join(projectRoot, "src/bin/lattice.ts"), peer }, 100);
    return [...results, { ...fromSource, name: `${fromSource.name}, from source` }];
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

type Setting = { readonly home: string; readonly program: string; readonly peer: boolean };

async function measure({ home, program, peer }: Setting, count: number): Promise<BenchResult> {
  const folder = join(home, String(count));
  mkdirSync(folder, { recursive: true });
  const files = Array.from({ length: count }, (_, at) => join(folder, `workload-${String(at + 1).padStart(3, "0")}.yaml`));
  files.forEach((file, at) => writeFileSync(file, scoreWorkload(at + 1)));
  const own = () => runOwn(program, folder, join(home, "manifests.yaml"));
  const [value, other] = [await best(own), peer ? await best(() => runPeer(home, files)) : (MEASURED.get(count) ?? 0)];
  const note = `wall time of the whole process, more is better; score-k8s ${other.toFixed(3)} s${peer ? "" : ", measured before"}`;
  return { name: `${count} Score file${count === 1 ? "" : "s"}`, value, unit: "s", ratio: other / value, against: "score-k8s", note };
}

async function best(work: () => Promise<unknown>): Promise<number> {
  let fastest = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS; round += 1) {
    const start = performance.now();
    await work();
    fastest = Math.min(fastest, performance.now() - start);
  }
  return fastest / 1_000;
}

/** `lattice compile -f FOLDER … > FILE` */
async function runOwn(program: string, folder: string, into: string): Promise<void> {
  const out = openSync(into, "w");
  const args = [program, "compile", "-f", folder, "--ingress-domain", "example.com"];
  const child = spawn(process.execPath, args, { stdio: ["ignore", out, "inherit"] });
  const [code] = (await once(child, "exit")) as [number];
  closeSync(out);
  if (code !== 0) throw new Error(`lattice compile ended with ${code}`);
}

async function hasPeer(): Promise<boolean> {
  return exec("score-k8s", ["--version"]).then(
    () => true,
    () => false,
  );
}

async function runPeer(home: string, files: readonly string[]): Promise<void> {
  const cwd = mkdtempSync(join(home, "peer-"));
  await exec("score-k8s", ["init", "--no-sample"], { cwd });
  await exec("score-k8s", ["generate", ...files], { cwd });
}
