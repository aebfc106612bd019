/**
 * The programs that the set-up of a clone runs, and the signals that arrive meanwhile: a signal ends the program, and then the set-up with an
 * exception, so that locks and incomplete folders are removed.
 *
 * Signals are handled as soon as this file is loaded. The program that run.cjs loads into this process replaces the handlers by its own.
 */
"use strict";
const { spawn } = require("child_process");
const os = require("os");

const INTERRUPTED = 130;
const KILL_AFTER_MS = 5000;

/** The process that this one waits for, whether the set-up is done, and the first signal that arrived. */
const state = { child: undefined, ready: false, signal: undefined };

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"];
for (const signal of SIGNALS) process.on(signal, () => onSignal(signal));
process.stderr.on("error", () => {}); // the terminal may be closed while a program is stopped

/** A signal that this process alone got must end its child too. A child that has the signal already (Ctrl-C in a terminal) gets it again. */
function onSignal(signal) {
  state.signal = state.signal || signal;
  const { child, ready } = state;
  if (child !== undefined) child.kill(signal);
  if (child !== undefined && !ready) setTimeout(() => child.kill("SIGKILL"), KILL_AFTER_MS).unref();
  if (child === undefined && ready) process.exit(INTERRUPTED);
}

function isStopped() {
  return state.signal !== undefined;
}

function throwIfStopped() {
  if (isStopped()) throw new Error("stopped by a signal");
}

/** Waits during the set-up. */
async function pause(ms) {
  await new Promise((resolve) => setTimeout(resolve, ms));
  throwIfStopped();
}

/** Runs a program of the set-up. `status`: its exit code; absent, with `error`, if it could not be started. */
async function runStep(command, args, options) {
  const child = spawn(command, args, options);
  state.child = child;
  const [stdout, stderr] = [[], []];
  if (child.stdout) child.stdout.on("data", (chunk) => stdout.push(chunk));
  if (child.stderr) child.stderr.on("data", (chunk) => stderr.push(chunk));
  const ended = await new Promise((resolve) => {
    child.once("error", (error) => resolve({ error }));
    child.once("close", (status, signal) => resolve({ status, signal }));
  });
  state.child = undefined;
  // A signal to the whole group can end the program before this process receives it.
  if (SIGNALS.includes(ended.signal)) state.signal = state.signal || ended.signal;
  throwIfStopped();
  return Object.assign(ended, { stdout: textOfChunks(stdout), stderr: textOfChunks(stderr) });
}

function textOfChunks(chunks) {
  return Buffer.concat(chunks).toString("utf8").trim();
}

/** After the set-up: a signal ends this process, or goes to the program that it waits for. */
function finishSetUp() {
  throwIfStopped();
  state.ready = true;
}

/** Ends this process with the exit code of the program. */
function waitFor(child) {
  state.child = child;
  // a signal that arrives before the program handles signals ends it
  const codeOf = (signal) => (isStopped() ? INTERRUPTED : 128 + os.constants.signals[signal]);
  child.on("exit", (code, signal) => process.exit(code === null ? codeOf(signal) : code));
}

module.exports = { INTERRUPTED, finishSetUp, isStopped, pause, runStep, waitFor };
