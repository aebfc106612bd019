/** Figures of other fake clients, in microseconds of CPU: measured now if possible, else published ones. */
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describeThrown } from "#base";

export type Figures = ReadonlyMap<string, number>;

/** controller-runtime 0.25.2 with a small scheme, its best case. */
export const PUBLISHED_GO: Figures = new Map([
  ["create configmap", 211],
  ["create deployment", 655],
  ["get configmap", 13.5],
  ["get deployment", 103],
  ["list 100 of 1,000 configmap", 11_400],
  ["list 100 of 1,000 deployment", 108_000],
  ["update configmap", 193],
  ["update deployment", 1_100],
  ["SMP configmap", 303],
  ["SMP deployment", 1_910],
  ["SSA configmap", 531],
  ["SSA deployment", 5_310],
]);

/** kube-fake-client 0.3.0; its strategic merge patch is a plain merge, so that figure is of something else. It checks and defaults nothing. */
export const PUBLISHED_RUST: Figures = new Map([
  ["create configmap", 15],
  ["create deployment", 112],
  ["get configmap", 9.8],
  ["get deployment", 78],
  ["list 100 of 1,000 configmap", 4_200],
  ["list 100 of 1,000 deployment", 79_000],
  ["update configmap", 18],
  ["update deployment", 130],
  ["SMP configmap", 16],
  ["SMP deployment", 43],
  ["SSA configmap", 48],
  ["SSA deployment", 236],
]);

const ANCHORS = new URL("../../../shared/anchors/", import.meta.url);
const ANCHOR = new URL("fakeclient/go/", ANCHORS);

const GO_NAMES: ReadonlyMap<string, string> = new Map([
  ["Create/configmap", "create configmap"],
  ["Create/deployment", "create deployment"],
  ["Get/configmap", "get configmap"],
  ["Get/deployment", "get deployment"],
  ["List/configmap/100of1000", "list 100 of 1,000 configmap"],
  ["List/deployment/100of1000", "list 100 of 1,000 deployment"],
  ["Update/configmap", "update configmap"],
  ["Update/deployment", "update deployment"],
  ["Patch/configmap/strategic", "SMP configmap"],
  ["Patch/deployment/strategic", "SMP deployment"],
  ["Apply/configmap", "SSA configmap"],
  ["Apply/deployment", "SSA deployment"],
]);

const RUST_NAMES: ReadonlyMap<string, string> = new Map(
  ["configmap", "deployment"].flatMap((kind) => [
    [`create ${kind}`, `create ${kind}`],
    [`get ${kind}`, `get ${kind}`],
    [`list 100 of 1,000 ${kind}`, `list ${kind} 100 of 1000`],
    [`update ${kind}`, `update ${kind}`],
    [`SMP ${kind}`, `patch ${kind} strategic`],
    [`SSA ${kind}`, `apply \\(SSA\\) ${kind}`],
  ]),
);

/** Undefined where the peer cannot run. */
export function measureGoFakeClient(): Figures | undefined {
  if (!existsSync(ANCHOR)) return undefined;
  try {
    // every creation makes the store larger, so their number is bounded
    const created = goBench("^BenchmarkCreate$", "1000x");
    const rest =
      goBench("^Benchmark(Get|Update|Apply)$", "200ms") +
      goBench("^Benchmark(List|Patch)$/(configmap|deployment)/^(100of1000|strategic)$", "200ms");
    return figuresIn(created + rest);
  } catch (thrown) {
    console.log(`fake-client: the Go peer cannot run here, its published figures are used (${firstLine(thrown)})`);
    return undefined;
  }
}

function goBench(select: string, time: string): string {
  const env = { ...process.env, ANCHORS_SCHEME: "small" };
  const args = ["test", "-run", "XXX", "-bench", select, "-benchtime", time, "-count", "1"];
  return execFileSync("go", args, { cwd: ANCHOR, env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

/** Undefined where the peer cannot run: no cargo, or no sources of the peer. It is built once, outside of the project. */
export function measureRustFakeClient(): Figures | undefined {
  const sources = fileURLToPath(new URL("fakeclient/rust/", ANCHORS));
  if (!existsSync(sources)) return undefined;
  const folder = join(homedir(), ".cache/lattice/anchors/fakeclient-rust");
  try {
    mkdirSync(folder, { recursive: true });
    cpSync(sources, folder, { recursive: true });
    const args = ["run", "--release", "--quiet", "--", fileURLToPath(new URL("smp/inputs", ANCHORS))];
    return rustFigures(execFileSync("cargo", args, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }));
  } catch (thrown) {
    console.log(`fake-client: the Rust peer cannot run here, its published figures are used (${firstLine(thrown)})`);
    return undefined;
  }
}

function rustFigures(output: string): Figures {
  const found = new Map<string, number>();
  for (const [name, pattern] of RUST_NAMES) {
    const nanos = new RegExp(`^${pattern} .*cpu ns/op best +([0-9]+)`, "m").exec(output)?.[1];
    if (nanos !== undefined) found.set(name, Number(nanos) / 1_000);
  }
  return found;
}

function firstLine(thrown: unknown): string {
  return describeThrown(thrown).split("\n")[0] ?? "";
}

function figuresIn(output: string): Figures {
  const found = new Map<string, number>();
  for (const [, goName = "", nanos] of output.matchAll(/^Benchmark(\S+?)(?:-\d+)?\s+\d+\s+[\d.]+ ns\/op\s.*?(\d+) cpu-ns\/op/gm)) {
    const name = GO_NAMES.get(goName);
    if (name !== undefined) found.set(name, Math.min(found.get(name) ?? Number.POSITIVE_INFINITY, Number(nanos) / 1_000));
  }
  return found;
}
