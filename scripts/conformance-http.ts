/**
 * Replays the recorded behaviour of a real kube-apiserver against `lattice api-server`, in a process of its own.
 *
 *   node --conditions=source scripts/conformance-http.ts [arguments of replay.mjs, e.g. --area ssa --mode tolerant]
 */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const REPLAY = fileURLToPath(new URL("../../shared/conformance/http/replay.mjs", import.meta.url));
const PEOPLE = [
  ["admin", "system:masters"],
  ["alice", "devs"],
  ["bob", "ops"],
] as const;

const folder = mkdtempSync(join(tmpdir(), "lattice-conformance-"));
const tokens = join(folder, "tokens.csv");
writeFileSync(tokens, PEOPLE.map(([name, group]) => `lattice-${name}-token,${name},uid-${name},"${group}"\n`).join(""), { mode: 0o600 });
const server = spawn(
  process.execPath,
  ["--conditions=source", join(ROOT, "src/bin/lattice.ts"), "api-server", "--http", "--no-controllers", "--token-file", tokens],
  { stdio: ["ignore", "pipe", "inherit"] },
);
const url = await new Promise<string>((resolve) => createInterface({ input: server.stdout }).once("line", resolve));
const replay = spawn(process.execPath, [REPLAY, "--url", url, ...process.argv.slice(2)], { stdio: "inherit" });
process.exitCode = await new Promise<number>((resolve) => replay.once("exit", (code) => resolve(code ?? 1)));
server.kill("SIGTERM");
rmSync(folder, { recursive: true });
