/**
 * The bundle that ./lattice runs in a clone: it is of the sources as they are, and built when there is none.
 *
 *     CACHE/bundles/CLONE/root             the folder of the clone
 *     CACHE/bundles/CLONE/dependencies     the files of packages that the last bundle contains
 *     CACHE/bundles/CLONE/KEY/lattice.js   the program, with parts that it loads on first use in KEY/lattice/
 *     CACHE/bundles/CLONE/KEY/users/PID    a process that runs it
 *
 * A folder KEY appears complete, by a rename. It is in the cache folder and not in the clone, because a clone may be read-only, and `npm ci` or
 * `git clean` must not remove the files of a running process.
 */
"use strict";
const crypto = require("crypto");
const fs = require("fs");
const path = require("path");
const { isLocked, isOwnerAlive, ownerOf, takeLock, textOf } = require("./lock.cjs");
const { cacheFolder, privateFolder } = require("./private-folder.cjs");
const { keyOfSources, settingsOf } = require("./sources.cjs");
const { runStep } = require("./steps.cjs");

const MAIN = "lattice.js";
/** Bundles without users that are kept: for a change that is undone, or a branch that is left and entered again. */
const KEPT_BUNDLES = 2;
/** Sources that change after a build make a further one necessary. */
const MOST_BUILDS = 4;
/** Exit code of the build for an error in the sources, in contrast to a disk that is full or a bundler that does not start. */
const SOURCE_ERROR = 2;

/**
 * `clone`: { root, node, nodeVersion, env, say }. Returns { file, register(pid) } or { sourceError }; this process is registered. Throws a
 * sentence if there can be no bundle at all.
 */
async function programBundle(clone) {
  const bundles = privateFolder(path.join(privateFolder(cacheFolder()), "bundles"));
  const folder = privateFolder(path.join(bundles, crypto.createHash("sha256").update(clone.root).digest("hex").slice(0, 16)));
  for (let builds = 0; builds <= MOST_BUILDS; builds += 1) {
    const bundle = await findBundle(clone, folder);
    if (bundle !== undefined) return { file: path.join(bundle, MAIN), register: (pid) => register(bundle, pid) };
    const sourceError = await buildBundle(clone, folder);
    if (sourceError !== undefined) return { sourceError };
  }
  throw new Error("they changed after each of several builds");
}

async function findBundle(clone, folder) {
  const bundle = path.join(folder, keyOf(clone, folder));
  if (!isComplete(bundle)) return undefined;
  register(bundle, process.pid);
  // a process that removes bundles takes this lock before it reads the users: either it has seen this one, or it is seen here
  if (isLocked(path.join(folder, "removal"))) (await takeLock(path.join(folder, "removal")))();
  return isComplete(bundle) ? bundle : undefined;
}

function isComplete(bundle) {
  return fs.existsSync(path.join(bundle, MAIN));
}

function keyOf({ root, nodeVersion }, folder) {
  const dependencies = JSON.parse(textOf(path.join(folder, "dependencies")) || "[]");
  return keyOfSources({ root, settings: settingsOf(root, nodeVersion), dependencies });
}

/** Until this process ends, `pid` is a user of the bundle, whose files must stay: parts are loaded on first use. */
function register(bundle, pid) {
  const file = path.join(bundle, "users", String(pid));
  fs.writeFileSync(file, ownerOf(pid));
  process.on("exit", () => {
    try {
      fs.unlinkSync(file);
    } catch {
      // left to the process that removes the bundle
    }
  });
}

/** Returns the error in the sources, if there is one. */
async function buildBundle(clone, folder) {
  const release = await takeLock(path.join(folder, "build"));
  const scratch = path.join(folder, "building"); // also of a build that was killed
  try {
    if (isComplete(path.join(folder, keyOf(clone, folder)))) return undefined; // another process has built it meanwhile
    clone.say("building the program from the sources of this clone (once after each change)");
    fs.rmSync(scratch, { recursive: true, force: true });
    fs.mkdirSync(path.join(scratch, "users"), { recursive: true });
    const { key, sourceError } = await runBuild(clone, scratch);
    if (sourceError !== undefined) return sourceError;
    fs.writeFileSync(path.join(folder, "root"), clone.root);
    fs.renameSync(path.join(scratch, "dependencies"), path.join(folder, "dependencies"));
    fs.renameSync(scratch, path.join(folder, key));
    await removeOldBundles(folder, key);
    return undefined;
  } finally {
    fs.rmSync(scratch, { recursive: true, force: true });
    release();
  }
}

/** In another process, because the bundler is an ES module in syntax of Node 24. */
async function runBuild({ root, node, env }, scratch) {
  const script = path.join(root, "scripts/build/clone-bundle.ts");
  const options = { cwd: root, env, stdio: ["ignore", "pipe", "pipe"] };
  const { status, stdout, stderr, error } = await runStep(node, [script, scratch], options);
  if (status === SOURCE_ERROR) return { sourceError: stderr };
  if (status !== 0) throw new Error(`they cannot be bundled: ${error ? error.message : firstError(stderr)}`);
  return { key: stdout };
}

/** Without the stack trace of a script that ended with an exception. */
function firstError(stderr) {
  const lines = stderr.split("\n");
  return lines.find((line) => /^\w*Error/.test(line)) || lines[0];
}

/** Keeps the current bundle, those that a process runs, and the last ones of the others. Those of clones that were deleted are removed, too. */
async function removeOldBundles(folder, current) {
  await removeUnused(folder, { current, kept: KEPT_BUNDLES });
  const bundles = path.dirname(folder);
  for (const name of fs.readdirSync(bundles)) {
    const root = textOf(path.join(bundles, name, "root"));
    if (root === undefined || fs.existsSync(root)) continue;
    if (await removeUnused(path.join(bundles, name), { kept: 0 })) fs.rmSync(path.join(bundles, name), { recursive: true, force: true });
  }
}

/** Whether no bundle is left in the folder. */
async function removeUnused(folder, { current, kept }) {
  const release = await takeLock(path.join(folder, "removal"));
  try {
    const bundles = fs.readdirSync(folder).filter((name) => name !== current && isComplete(path.join(folder, name)));
    const unused = bundles.map((name) => path.join(folder, name)).filter((bundle) => !isUsed(bundle));
    // oxlint-disable-next-line unicorn/no-array-sort -- an old Node has no toSorted
    const removed = unused.sort((a, b) => lastUse(b) - lastUse(a)).slice(kept);
    for (const bundle of removed) fs.rmSync(bundle, { recursive: true, force: true });
    return removed.length === bundles.length;
  } finally {
    release();
  }
}

function isUsed(bundle) {
  const users = path.join(bundle, "users");
  return fs.readdirSync(users).some((name) => isOwnerAlive(textOf(path.join(users, name)) || ""));
}

function lastUse(bundle) {
  return fs.statSync(path.join(bundle, "users")).mtimeMs;
}

module.exports = { programBundle };
