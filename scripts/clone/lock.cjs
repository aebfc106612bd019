/**
 * A lock file that is valid as long as its owner lives.
 *
 * It appears with its owner already in it (a link to a finished file), and one whose owner died is renamed before it is removed, so that only
 * one process removes it.
 */
"use strict";
const fs = require("fs");
const { pause } = require("./steps.cjs");

/** Returns the function that releases it. A signal ends the waiting with an exception. */
async function takeLock(lock) {
  const mine = `${lock}.${process.pid}`;
  fs.writeFileSync(mine, ownerOf(process.pid));
  try {
    for (;;) {
      try {
        fs.linkSync(mine, lock);
        return () => fs.rmSync(lock, { force: true });
      } catch (error) {
        if (error.code !== "EEXIST") throw error;
      }
      const owner = textOf(lock);
      if (owner !== undefined && !isOwnerAlive(owner)) removeStale(lock, owner);
      else await pause(100);
    }
  } finally {
    fs.rmSync(mine, { force: true });
  }
}

/** Whether a living process has the lock. */
function isLocked(lock) {
  const owner = textOf(lock);
  return owner !== undefined && isOwnerAlive(owner);
}

function removeStale(lock, owner) {
  const moved = `${lock}.stale.${process.pid}`;
  try {
    fs.renameSync(lock, moved);
    if (textOf(moved) !== owner) fs.linkSync(moved, lock); // another process has taken it meanwhile
  } catch (error) {
    if (error.code !== "ENOENT" && error.code !== "EEXIST") throw error; // otherwise another process was faster
  }
  fs.rmSync(moved, { force: true });
}

/** A process id may be used again, but not with the same start time. */
function ownerOf(pid) {
  return `${pid} ${startTimeOf(pid) || ""}`;
}

function isOwnerAlive(owner) {
  const [pid, startTime] = owner.split(" ");
  if (!isAlive(Number(pid))) return false;
  const found = startTime ? startTimeOf(pid) : undefined;
  return found === undefined || found === startTime;
}

/** Only Linux has it in a file; elsewhere the process id alone has to do. */
function startTimeOf(pid) {
  const stat = textOf(`/proc/${pid}/stat`);
  // the name of the program stands in brackets before it and may contain spaces
  return stat === undefined ? undefined : stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
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

function textOf(file) {
  try {
    return fs.readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}

module.exports = { isLocked, isOwnerAlive, ownerOf, takeLock, textOf };
