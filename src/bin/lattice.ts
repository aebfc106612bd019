#!/usr/bin/env node
/** The only file that uses `process`: its arguments, environment, streams, signals and exit code. */
import { enableCompileCache } from "node:module";
import { homedir, hostname } from "node:os";
import { basename, dirname, join } from "node:path";
import { openSupervisorChannel } from "./supervisor-channel.ts";

/** The folder of the clone, in a bundle that ./lattice has built; the bundler defines it. */
declare const LATTICE_CLONE: string | undefined;
const clone = typeof LATTICE_CLONE === "undefined" ? undefined : LATTICE_CLONE;

// before other modules are loaded: caches stripped types and compiled modules between starts. If the cache folder cannot be written, nothing is
// cached. What belongs to the bundle of a clone is beside it, and is removed with it.
const { LATTICE_CACHE, XDG_CACHE_HOME, NODE_COMPILE_CACHE } = process.env;
const cache = LATTICE_CACHE ?? join(XDG_CACHE_HOME ?? join(homedir(), ".cache"), "lattice");
enableCompileCache(NODE_COMPILE_CACHE ?? join(clone === undefined ? cache : import.meta.dirname, "compiled"));

const stop = new AbortController();
const supervisor = openSupervisorChannel({ process, stop: () => stop.abort("SIGTERM"), exit: (code) => process.exit(code) });

const { systemClock, textOfFile } = await import("#base");
const { runLattice } = await import("#cli");

let signals = 0;
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, () => {
    stop.abort(signal);
    signals += 1;
    if (signals > 1) process.exit(130); // a second Ctrl-C exits at once
  });
}

// a closed output pipe (`lattice crds | head`) is not an error
for (const stream of [process.stdout, process.stderr])
  stream.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 2));

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
  nodeVersion: process.versions.node,
  clock: systemClock,
  random: Math.random,
  hostname: hostname(),
  signal: stop.signal,
  supervisor,
  userId: process.getuid?.(),
  terminal: process.stdout.isTTY ? { columns: () => process.stdout.columns } : undefined,
});

if (process.connected) process.disconnect();
// all output is written; exit at once, because freeing the heap takes longer than many commands
if ([...written].every(({ writableLength }) => writableLength === 0)) process.exit();
