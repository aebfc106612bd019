/**
 * The TypeScript of src/link/protocol/agent.proto, written by buf and protoc-gen-es from node_modules, without a network.
 *
 * buf reads buf.gen.yaml and writes into a temporary folder. It is started with execFileSync, because generators are synchronous.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { projectRoot, toolPath } from "../process/project.ts";

const OUTPUT = "src/link/protocol/generated";
const MARK = "// Written by `npm run generate` from src/link/protocol/agent.proto. Do not edit.\n";

export function generateLinkProtocol(root: string = projectRoot): ReadonlyMap<string, string> {
  const folder = mkdtempSync(join(tmpdir(), "lattice-buf-"));
  try {
    runBuf(root, folder);
    const written = join(folder, OUTPUT);
    return new Map(readdirSync(written).map((name) => [`${OUTPUT}/${name}`, `${MARK}${readFileSync(join(written, name), "utf8")}`]));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** buf finds protoc-gen-es in PATH, and that program finds node there: both must be those of this project. */
function runBuf(root: string, output: string): void {
  const path = [join(projectRoot, "node_modules/.bin"), dirname(process.execPath), process.env["PATH"] ?? ""].join(delimiter);
  // the cache of buf would be written to the home folder
  const env = { ...process.env, PATH: path, BUF_CACHE_DIR: join(output, "cache") };
  execFileSync(process.execPath, [toolPath("buf"), "generate", "--output", output], { cwd: root, env, stdio: ["ignore", "pipe", "pipe"] });
}
