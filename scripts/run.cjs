/**
 * The entry point of every npm script and of ./lattice: prepares the clone, then runs the script.
 *
 * CommonJS in syntax of Node 14, because on a new machine an *old* Node may run it: a Node below 24 fetches a private one and starts over.
 * All messages are on stderr, so that `./lattice crds > crds.yaml` has only the output.
 */
"use strict";
const { spawn, spawnSync } = require("child_process");
const crypto = require("crypto");
const fs = require("fs");
const os = require("os");
const path = require("path");
const { pathToFileURL } = require("url");

const root = path.dirname(__dirname);
const NODE_VERSION = "24.21.0"; // the version that this project is tested with
const NODE_MAJOR = 24;
/** The sha512 of the packages that are unpacked, by architecture: with any registry or mirror, only these bytes are run. */
const NODE_PACKAGES = {
  x64: "sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==",
  arm64: "sha512-FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==",
};

/** The program of each npm script. */
const PROGRAMS = {
  cli: ["src/bin/lattice.ts"],
  start: ["src/bin/lattice.ts", "up"],
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

main(process.argv[2], process.argv.slice(3));

function main(name, args) {
  const program = Object.prototype.hasOwnProperty.call(PROGRAMS, name) ? PROGRAMS[name] : undefined;
  if (program === undefined) fail(`unknown script "${name}"; known: ${Object.keys(PROGRAMS).join(", ")}`);
  const node = suitableNode();
  installDependencies(node);
  const argv = [path.join(root, program[0])].concat(program.slice(1), args);
  if (node === process.execPath) return runHere(argv);
  runWith(node, argv);
}

function runHere(argv) {
  process.argv = [process.execPath].concat(argv);
  import(pathToFileURL(argv[0]).href).catch((error) => {
    process.stderr.write(`${error instanceof Error ? error.stack : error}\n`);
    process.exit(1);
  });
}

function runWith(node, argv) {
  const child = spawn(node, argv, { stdio: "inherit", env: environmentFor(node) });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  child.on("error", (error) => fail(`cannot start ${node}: ${error.message}`));
  child.on("exit", (code, signal) => process.exit(code === null ? 128 + os.constants.signals[signal] : code));
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

function suitableNode() {
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
  try {
    fetchPackage(`${pkg}@${NODE_VERSION}`, integrity, home);
  } catch (error) {
    fail(error.message);
  }
  return node;
}

/** Unpacks beside the target and renames, so that an interrupted run leaves no incomplete target. */
function fetchPackage(spec, integrity, home) {
  const scratch = fs.mkdtempSync(`${home}.`);
  try {
    const options = { cwd: scratch, encoding: "utf8", env: npmEnvironment(process.execPath) };
    const packed = spawnSync("npm", ["pack", spec, "--silent", "--pack-destination", scratch], options);
    const archive = fs.readdirSync(scratch).find((file) => file.endsWith(".tgz"));
    if (packed.status !== 0 || archive === undefined)
      throw new Error(`npm could not fetch ${spec}: ${(packed.stderr || String(packed.error)).trim()}`);
    const actual = integrityOf(path.join(scratch, archive));
    if (actual !== integrity) {
      throw new Error(
        `${spec} from npm is not the package that Lattice was tested with, and was not unpacked: its integrity is ${actual}, expected ${integrity}. ` +
          `Check the registry that npm uses, or install Node ${NODE_MAJOR} yourself.`,
      );
    }
    const unpacked = spawnSync("tar", ["-xzf", archive], { cwd: scratch, encoding: "utf8" });
    if (unpacked.status !== 0) throw new Error(`tar could not unpack ${spec}: ${unpacked.stderr}`);
    const works = spawnSync(path.join(scratch, "package", "bin", "node"), ["--version"], { encoding: "utf8" });
    if (works.status !== 0)
      throw new Error(
        `the fetched Node does not run on this machine (${(works.stderr || String(works.error)).trim()}): install Node ${NODE_MAJOR} yourself.`,
      );
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
function installDependencies(node) {
  const stamp = path.join(root, "node_modules", ".lattice-setup");
  const wanted = crypto
    .createHash("sha256")
    .update(fs.readFileSync(path.join(root, "package-lock.json")))
    .update(`${process.platform} ${process.arch}`)
    .digest("hex");
  if (installed(stamp) === wanted) return;
  const release = takeLock();
  try {
    if (installed(stamp) === wanted) return; // another run did it while this one waited
    say("installing dependencies from package-lock.json (once)");
    const result = spawnSync("npm", ["ci", "--include=dev", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"], {
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

function installed(stamp) {
  try {
    return fs.readFileSync(stamp, "utf8");
  } catch {
    return undefined;
  }
}

/**
 * Two scripts started at once in a fresh clone must not install over each other. The lock appears with its owner's pid already in it (a
 * link to a finished file), and one whose owner died is renamed before it is removed, so that only one run removes it.
 */
function takeLock() {
  const folder = privateFolder(path.join(privateFolder(cacheFolder()), "setup"));
  const lock = path.join(folder, crypto.createHash("sha256").update(root).digest("hex").slice(0, 16));
  const mine = `${lock}.${process.pid}`;
  fs.writeFileSync(mine, String(process.pid));
  try {
    for (;;) {
      try {
        fs.linkSync(mine, lock);
        return () => fs.rmSync(lock, { force: true });
      } catch (error) {
        if (error.code !== "EEXIST") throw error;
      }
      const owner = installed(lock);
      if (owner !== undefined && !isAlive(Number(owner))) removeStale(lock, owner);
      else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
    }
  } finally {
    fs.rmSync(mine, { force: true });
  }
}

function removeStale(lock, owner) {
  const moved = `${lock}.stale.${process.pid}`;
  try {
    fs.renameSync(lock, moved);
    if (installed(moved) !== owner) fs.linkSync(moved, lock); // another run has taken it meanwhile
  } catch (error) {
    if (error.code !== "ENOENT" && error.code !== "EEXIST") throw error; // otherwise another run was faster
  }
  fs.rmSync(moved, { force: true });
}

function isAlive(pid) {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
}

/**
 * A folder that only this user can write to: it contains programs that are run, and locks. In a shared temporary folder another user could
 * create a link or a program first.
 */
function privateFolder(folder) {
  const advice = "set LATTICE_CACHE to a folder of your own";
  try {
    fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (process.getuid === undefined) return folder; // Windows: the profile of a user is private
    // a link of the user may lead to another folder of the user
    const [link, found] = [fs.lstatSync(folder), fs.statSync(folder)];
    const foreign = [link, found].find(({ uid }) => uid !== process.getuid());
    if (foreign !== undefined) return fail(`${folder} belongs to the user with id ${foreign.uid}, not to you; ${advice}`);
    if ((found.mode & 0o022) !== 0) fs.chmodSync(folder, found.mode & 0o755);
    return folder;
  } catch (error) {
    return fail(`cannot use the folder ${folder}: ${error.message}; ${advice}`);
  }
}

function cacheFolder() {
  return process.env.LATTICE_CACHE || path.join(process.env.XDG_CACHE_HOME || path.join(os.homedir(), ".cache"), "lattice");
}

function say(text) {
  process.stderr.write(`lattice: ${text}\n`);
}

function fail(text) {
  say(text);
  process.exit(1);
}
