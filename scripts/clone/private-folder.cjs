/** The cache folder of the user, and folders that only the user can write to. */
"use strict";
const fs = require("fs");
const os = require("os");
const path = require("path");

/** A sentence for the user, with advice. */
class FolderError extends Error {}

/**
 * A folder that only this user can write to: it contains programs that are run, and locks. In a shared temporary folder another user could
 * create a link or a program first.
 */
function privateFolder(folder) {
  const advice = "set LATTICE_CACHE to a folder of your own";
  let foreign;
  try {
    fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (process.getuid === undefined) return folder; // Windows: the profile of a user is private
    // a link of the user may lead to another folder of the user
    const [link, found] = [fs.lstatSync(folder), fs.statSync(folder)];
    foreign = [link, found].find(({ uid }) => uid !== process.getuid());
    if (foreign === undefined && (found.mode & 0o022) !== 0) fs.chmodSync(folder, found.mode & 0o755);
  } catch (error) {
    throw new FolderError(`cannot use the folder ${folder}: ${error.message}; ${advice}`);
  }
  if (foreign !== undefined) throw new FolderError(`${folder} belongs to the user with id ${foreign.uid}, not to you; ${advice}`);
  return folder;
}

function cacheFolder() {
  return process.env.LATTICE_CACHE || path.join(process.env.XDG_CACHE_HOME || path.join(os.homedir(), ".cache"), "lattice");
}

module.exports = { FolderError, cacheFolder, privateFolder };
