/**
 * The key of a bundle: a digest of everything that it is built from. A bundle is run only if its key is the one of the files as they are.
 *
 * Contents are read at each start, not times: a time can stay the same or go back (git checkout, `cp -p`, an editor, a wrong clock, two edits
 * within its resolution). 1,300 files take 20 ms.
 */
"use strict";
const crypto = require("crypto");
const fs = require("fs");
const path = require("path");

/** Folders and files of the clone. `dependencies` adds the files of packages that the last bundle contains. */
const SOURCES = ["src", "scripts/build", "scripts/clone", "package.json", "package-lock.json", "tsconfig.json"];
/** Files that no bundle contains. The build fails if it reads one of them nevertheless. */
const IGNORED = /^\.|~$|\.md$|\.test\.ts$/;

/** `settings`: text that changes the output, such as the version of Node. */
function keyOfSources({ root, settings, dependencies }) {
  const digest = crypto.createHash("sha256").update(settings.join("\0"));
  for (const file of listSources(root).concat(dependencies)) {
    const content = contentOf(path.join(root, file));
    digest.update(`\n${file}\0${content === undefined ? "absent" : content.length}\0`);
    if (content !== undefined) digest.update(content);
  }
  return digest.digest("hex").slice(0, 32);
}

/** What changes a bundle besides its sources: the folder of the clone is in it, and Node's modules are loaded by the names of their exports. */
function settingsOf(root, nodeVersion) {
  return [root, nodeVersion, process.platform, process.arch];
}

/** Changes with each write to a source, also with one that restores the content: its times, as the file system keeps them. */
function stampOfSources({ root, dependencies }) {
  const digest = crypto.createHash("sha256");
  for (const file of listSources(root).concat(dependencies)) {
    const found = fs.statSync(path.join(root, file), { bigint: true, throwIfNoEntry: false });
    const fields = found === undefined ? ["absent"] : [found.dev, found.ino, found.size, found.mtimeNs, found.ctimeNs];
    digest.update(`${file}\0${fields.join(" ")}\n`);
  }
  return digest.digest("hex");
}

/** Paths relative to the root, in one order everywhere. */
function listSources(root) {
  const files = [];
  for (const source of SOURCES) addFiles(root, source, files);
  return files;
}

function addFiles(root, source, files) {
  let entries;
  try {
    entries = fs.readdirSync(path.join(root, source), { withFileTypes: true });
  } catch (error) {
    if (error.code === "ENOTDIR") files.push(source);
    else if (error.code !== "ENOENT") throw error; // a folder that was deleted meanwhile has no files
    return;
  }
  // oxlint-disable-next-line unicorn/no-array-sort -- an old Node has no toSorted
  const found = entries.filter(({ name }) => !IGNORED.test(name)).sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const entry of found) {
    const file = `${source}/${entry.name}`;
    if (entry.isDirectory()) addFiles(root, file, files);
    else if (entry.isFile() || entry.isSymbolicLink()) files.push(file);
  }
}

function contentOf(file) {
  try {
    return fs.readFileSync(file);
  } catch (error) {
    if (error.code === "ENOENT" || error.code === "EISDIR") return undefined;
    throw error;
  }
}

module.exports = { keyOfSources, listSources, settingsOf, stampOfSources };
