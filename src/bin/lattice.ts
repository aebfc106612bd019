#!/usr/bin/env node
/** The only file that uses `process`: its arguments, environment, streams, signals and exit code. */
import { enableCompileCache } from "node:module";
import { homedir, hostname } from "node:os";
import { basename, dirname, join } from "node:path";
import { askHidden } from "./hidden-input.ts";
import { StopSignals } from "./stop-signals.ts";
import { openSupervisorChannel } from "./supervisor-channel.ts";

/** The folder of the clone, in a bundle that ./lattice has built; the bundler defines it. */
declare const LATTICE_CLONE: string | undefined;
const clone = typeof LATTICE_CLONE === "undefined" ? undefined : LATTICE_CLONE;

// before other modules are loaded: caches stripped types and compiled modules between starts. If the cache folder cannot be written, nothing is
// cached. What belongs to the bundle of a clone is beside it, and is removed with it.
const { LATTICE_CACHE, XDG_CACHE_HOME, NODE_COMPILE_CACHE } = process.env;
const cache = LATTICE_CACHE ?? join(XDG_CACHE_HOME ?? join(homedir(), ".cache"), "lattice");
enableCompileCache(NODE_COMPILE_CACHE ?? join(clone === undefined ? cache : import.meta.dirname, "compiled"));

const signals = new StopSignals({ monotonic: () => performance.now(), exit: (code) => process.exit(code) });
for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.removeAllListeners(name); // of scripts/run.cjs, which end the process while this file is loaded
  process.on(name, () => signals.receive(name));
}

const stopOnce = () => void (signals.signal.aborted || signals.receive("SIGTERM"));
const supervisor = openSupervisorChannel({ process, stop: stopOnce, exit: (code) => process.exit(code) });

const lost = new Set<NodeJS.WriteStream>();
for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", ({ code }: NodeJS.ErrnoException) => {
    lost.add(stream);
    // a closed pipe (`lattice crds | head`) or terminal is not an error, and no error of a stream interrupts a command that stops
    if (code === "EPIPE" || code === "EIO") signals.outputLost();
    else if (!signals.signal.aborted) process.exit(2);
  });
}

const { isFipsActive, systemClock, textOfFile } = await import("#base");
const { runLattice } = await import("#cli");

// otherwise this file is src/bin/lattice.ts in a clone, or dist/lattice.js in a package
const parent = dirname(import.meta.dirname);
const root = clone ?? (basename(import.meta.dirname) === "bin" ? dirname(parent) : parent);

/** Rejects invalid UTF-8: replacement characters would silently change the input. */
async function readStandardInput(): Promise<string> {
  const text = textOfFile(await (await import("node:stream/consumers")).buffer(process.stdin));
  if (!text.ok) throw new Error(`standard input ${text.error}`);
  return text.value;
}

const written = new Set<NodeJS.WriteStream>();
function write(stream: NodeJS.WriteStream, text: string): void {
  if (lost.has(stream)) return;
  written.add(stream);
  stream.write(text);
}

process.exitCode = await runLattice(process.argv.slice(2), {
  env: process.env,
  home: homedir(),
  cwd: process.cwd(),
  root,
  program: { node: process.execPath, args: [import.meta.filename] },
  stdout: (text) => write(process.stdout, text),
  stderr: (text) => write(process.stderr, text),
  stdin: readStandardInput,
  askHidden: process.stdin.isTTY ? (question) => askHidden({ input: process.stdin, output: process.stderr }, question) : undefined,
  nodeVersion: process.versions.node,
  fipsActive: isFipsActive,
  clock: systemClock,
  random: Math.random,
  hostname: hostname(),
  signal: signals.signal,
  handleRepeats: (handler) => signals.handle(handler),
  supervisor,
  userId: process.getuid?.(),
  terminal: process.stdout.isTTY ? { columns: () => process.stdout.columns } : undefined,
});

if (process.connected) process.disconnect();
// all output is written; exit at once, because freeing the heap takes longer than many commands
if ([...written].every((stream) => lost.has(stream) || stream.writableLength === 0)) process.exit();
