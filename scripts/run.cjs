/**
 * The entry point of every npm script and of ./lattice: prepares the clone, then runs the script.
 *
 * CommonJS in syntax of Node 14, because on a new machine an *old* Node may run it: a Node below 24 fetches a private one and starts over.
 * All messages are on stderr, so that `./lattice crds > crds.yaml` has only the output.
 */
"use strict";
const { spawn } = require("child_process");
const crypto = require("crypto");
const fs = require("fs");
const path = require("path");
const { pathToFileURL } = require("url");
const { takeLock, textOf } = require("./clone/lock.cjs");
const { FolderError, cacheFolder, privateFolder } = require("./clone/private-folder.cjs");
const { programBundle } = require("./clone/program-bundle.cjs");
const { INTERRUPTED, finishSetUp, isStopped, runStep, waitFor } = require("./clone/steps.cjs");

const root = path.dirname(__dirname);
const NODE_VERSION = "24.21.0"; // the version that this project is tested with
const NODE_MAJOR = 24;
/** The sha512 of the packages that are unpacked, by architecture: with any registry or mirror, only these bytes are run. */
const NODE_PACKAGES = {
  x64: "sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==",
  arm64: "sha512-FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==",
};

const LATTICE = "src/bin/lattice.ts";
/** The program of each npm script. */
const PROGRAMS = {
  cli: [LATTICE],
  start: [LATTICE, "up"],
  test: ["scripts/test.ts"],
  "test:fips": ["scripts/test-fips.ts"],
  "test:kube": ["scripts/test-kube.ts"],
  "test:long": ["scripts/test-long.ts"],
  check: ["scripts/check.ts"],
  bench: ["scripts/bench.ts"],
  build: ["scripts/build.ts"],
  format: ["scripts/format.ts"],
  generate: ["scripts/generate.ts"],
};

/** Ends this program with one sentence. */
class Failure extends Error {
  constructor(text, code) {
    super(text);
    this.code = code;
  }
}

main(process.argv[2], process.argv.slice(3)).catch((error) => {
  if (isStopped()) process.exit(INTERRUPTED);
  say(error instanceof Failure || error instanceof FolderError ? error.message : error.stack);
  process.exit(error instanceof Failure ? error.code : 1);
});

async function main(name, args) {
  const program = Object.prototype.hasOwnProperty.call(PROGRAMS, name) ? PROGRAMS[name] : undefined;
  if (program === undefined) fail(`unknown script "${name}"; known: ${Object.keys(PROGRAMS).join(", ")}`);
  const node = await suitableNode();
  await installDependencies(node);
  const bundle = program[0] === LATTICE ? await latticeBundle(node) : undefined;
  finishSetUp();
  const argv = [bundle === undefined ? path.join(root, program[0]) : bundle.file].concat(program.slice(1), args);
  if (node === process.execPath) return runHere(argv);
  const child = runWith(node, argv);
  if (bundle !== undefined) bundle.register(child.pid);
}

/** The bundle of the sources. Absent on request, and where there can be none: then the sources are run. */
async function latticeBundle(node) {
  if (!["", "0", undefined].includes(process.env.LATTICE_SOURCE)) return undefined;
  const nodeVersion = node === process.execPath ? process.versions.node : NODE_VERSION;
  const bundle = await findOrBuild({ root, node, nodeVersion, env: environmentFor(node), say });
  if (bundle === undefined || bundle.sourceError === undefined) return bundle;
  return fail(`the sources have an error, and an older version of them is never run:\n${bundle.sourceError}`, 2);
}

async function findOrBuild(clone) {
  try {
    return await programBundle(clone);
  } catch (error) {
    if (isStopped()) throw error;
    say(`Lattice runs from its sources, which start more slowly: ${error.message}`);
    return undefined;
  }
}

/** The program replaces the handlers of signals by its own. */
function runHere(argv) {
  process.argv = [process.execPath].concat(argv);
  import(pathToFileURL(argv[0]).href).catch((error) => {
    process.stderr.write(`${error instanceof Error ? error.stack : error}\n`);
    process.exit(1);
  });
}

function runWith(node, argv) {
  const child = spawn(node, argv, { stdio: "inherit", env: environmentFor(node) });
  child.on("error", (error) => {
    say(`cannot start ${node}: ${error.message}`);
    process.exit(1);
  });
  waitFor(child);
  return child;
}

/** Child processes (npm, vitest) must find the same Node, and hooks must find npm's own path unchanged. */
function environmentFor(node) {
  return Object.assign({}, process.env, { PATH: path.dirname(node) + path.delimiter + process.env.PATH });
}

/** npm caches compiled code, by default in the shared temporary folder. */
function npmEnvironment(node) {
  const folder = path.join(privateFolder(cacheFolder()), "compiled");
  return Object.assign(environmentFor(node), { NODE_COMPILE_CACHE: folder });
}

async function suitableNode() {
  if (Number(process.versions.node.split(".")[0]) >= NODE_MAJOR) return process.execPath;
  const integrity = Object.prototype.hasOwnProperty.call(NODE_PACKAGES, process.arch) ? NODE_PACKAGES[process.arch] : undefined;
  if (process.platform !== "linux" || integrity === undefined) {
    fail(
      `Lattice needs Node ${NODE_MAJOR} or newer and this is ${process.version}: install it from nodejs.org or with your package manager.`,
    );
  }
  const pkg = `node-linux-${process.arch}`;
  const home = path.join(privateFolder(cacheFolder()), `${pkg}-${NODE_VERSION}`);
  const node = path.join(home, "bin", "node");
  if (fs.existsSync(node)) return node;
  say(`Node ${process.versions.node} is too old for Lattice: fetching a private Node ${NODE_VERSION} into ${home}`);
  await fetchPackage(`${pkg}@${NODE_VERSION}`, integrity, home);
  return node;
}

/** Unpacks beside the target and renames, so that an interrupted run leaves no incomplete target. */
async function fetchPackage(spec, integrity, home) {
  const scratch = fs.mkdtempSync(`${home}.`);
  try {
    const options = { cwd: scratch, env: npmEnvironment(process.execPath), stdio: ["ignore", "ignore", "pipe"] };
    const packed = await runStep("npm", ["pack", spec, "--silent", "--pack-destination", scratch], options);
    const archive = fs.readdirSync(scratch).find((file) => file.endsWith(".tgz"));
    if (packed.status !== 0 || archive === undefined) fail(`npm could not fetch ${spec}: ${packed.stderr || packed.error}`);
    const actual = integrityOf(path.join(scratch, archive));
    if (actual !== integrity) {
      fail(
        `${spec} from npm is not the package that Lattice was tested with, and was not unpacked: its integrity is ${actual}, expected ${integrity}. ` +
          `Check the registry that npm uses, or install Node ${NODE_MAJOR} yourself.`,
      );
    }
    const unpacked = await runStep("tar", ["-xzf", archive], options);
    if (unpacked.status !== 0) fail(`tar could not unpack ${spec}: ${unpacked.stderr || unpacked.error}`);
    const works = await runStep(path.join(scratch, "package", "bin", "node"), ["--version"], options);
    if (works.status !== 0)
      fail(`the fetched Node does not run on this machine (${works.stderr || works.error}): install Node ${NODE_MAJOR} yourself.`);
    try {
      fs.renameSync(path.join(scratch, "package"), home);
    } catch (error) {
      if (!fs.existsSync(home)) throw error; // otherwise another run was faster, with the same bytes
    }
  } finally {
    fs.rmSync(scratch, { recursive: true, force: true });
  }
}

function integrityOf(file) {
  return `sha512-${crypto.createHash("sha512").update(fs.readFileSync(file)).digest("base64")}`;
}

/** `npm ci`, only when the lockfile is not the one that was installed. */
async function installDependencies(node) {
  const stamp = path.join(root, "node_modules", ".lattice-setup");
  const wanted = crypto
    .createHash("sha256")
    .update(fs.readFileSync(path.join(root, "package-lock.json")))
    .update(`${process.platform} ${process.arch}`)
    .digest("hex");
  if (textOf(stamp) === wanted) return;
  const release = await takeLock(setupLock());
  try {
    if (textOf(stamp) === wanted) return; // another run did it while this one waited
    say("installing dependencies from package-lock.json (once)");
    const result = await runStep("npm", ["ci", "--include=dev", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"], {
      cwd: root,
      env: npmEnvironment(node),
      stdio: ["ignore", 2, 2],
    });
    if (result.status !== 0) fail("npm ci failed; its output is above. Is the npm registry reachable?");
    fs.writeFileSync(stamp, wanted);
  } finally {
    release();
  }
}

/** Two scripts started at once in a fresh clone must not install over each other. */
function setupLock() {
  const folder = privateFolder(path.join(privateFolder(cacheFolder()), "setup"));
  return path.join(folder, crypto.createHash("sha256").update(root).digest("hex").slice(0, 16));
}

function say(text) {
  process.stderr.write(`lattice: ${text}\n`);
}

function fail(text, code = 1) {
  throw new Failure(text, code);
}
