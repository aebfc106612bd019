/**
 * A program with the interface of kind, for machines without Docker: `node kind-program.ts STATE ARGS...`. A cluster is a process of bare-cluster.ts. `delete` ends its API
 * server alone, as kind does: clusters that were made from it run on. The file STATE/broken makes `create` fail.
 */
import { spawn } from "node:child_process";
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { projectRoot } from "../../scripts/process/project.ts";
import { PROGRAM } from "./program.ts";

const [state = "", ...argv] = process.argv.slice(2);
const flag = (name: string) => argv[argv.indexOf(name) + 1] ?? "";
const [command, what] = argv;
const name = flag("--name");
const own = join(state, "kind", name);
writeFileSync(join(state, "calls"), `${argv.slice(0, 2).join(" ")}\n`, { flag: "a" });

async function create(): Promise<number> {
  if (existsSync(join(state, "broken"))) {
    process.stderr.write("ERROR: failed to create cluster: could not find a docker daemon\n");
    return 1;
  }
  mkdirSync(own, { recursive: true });
  const log = openSync(join(own, "out"), "w");
  const args = [join(projectRoot, "test/builders/fleet/bare-cluster.ts"), join(state, "fleet"), PROGRAM, "seed"];
  const child = spawn(process.execPath, args, { stdio: ["ignore", log, log], cwd: projectRoot, detached: true });
  writeFileSync(join(state, "pid"), String(child.pid));
  child.unref();
  closeSync(log);
  while (!readFileSync(join(own, "out"), "utf8").includes("kubeconfig\n")) await wait(50);
  writeFileSync(flag("--kubeconfig"), kubeconfig(), { mode: 0o600 });
  return 0;
}

function kubeconfig(): string {
  return readFileSync(readFileSync(join(own, "out"), "utf8").trim(), "utf8");
}

async function run(): Promise<number> {
  const names = existsSync(join(state, "kind")) ? readdirSync(join(state, "kind")) : [];
  if (command === "version") process.stdout.write("kind v0.32.0 go1.26 linux/amd64\n");
  else if (command === "get" && what === "clusters") process.stdout.write(names.map((one) => `${one}\n`).join(""));
  else if (command === "get" && what === "kubeconfig") process.stdout.write(kubeconfig());
  else if (command === "create") return create();
  else if (command === "delete" && names.includes(name)) {
    process.kill(Number(readFileSync(join(state, "pid"), "utf8")), "SIGUSR2");
    rmSync(own, { recursive: true });
  }
  return 0;
}

process.exitCode = await run();
