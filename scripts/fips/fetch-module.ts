/**
 * Fetches fips.so from Debian, without installing anything: the package is downloaded and unpacked in a scratch folder.
 *
 * Debian has it since release 13. On an older one the machine's own list of servers is copied with the release's name replaced, so that
 * mirrors and proxies are used and no server's name is needed here.
 */
import { copyFile, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { err, ok, type Result } from "#base";
import { listFiles } from "../check/tree.ts";
import { runProgram } from "../process/run-program.ts";

const PACKAGE = "openssl-provider-fips";
const RELEASE = "trixie";
const OLDER_RELEASES = ["bookworm", "bullseye"];

/** For tests: the folder that describes the machine, and the environment in which apt-get is found. */
export type Machine = { readonly etc: string; readonly env: NodeJS.ProcessEnv };

export async function fetchModule(target: string, machine: Machine = { etc: "/etc", env: process.env }): Promise<Result<string, string>> {
  const release = releaseOf(await readFile(join(machine.etc, "os-release"), "utf8").catch(() => ""));
  if (release === undefined) return err("this is not Debian, and only Debian's package can be fetched");
  const sources = await findSources(join(machine.etc, "apt"), release);
  if (sources === undefined) return err("no apt sources of Debian were found in /etc/apt");
  const scratch = await mkdtemp(join(tmpdir(), "lattice-fips-"));
  try {
    const copy = join(scratch, basename(sources.path));
    await writeFile(copy, forRelease(sources.text, release));
    return await downloadInto({ scratch, sources: copy, target, env: machine.env });
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** The code name, on Debian only: Ubuntu's packages follow other rules. */
export function releaseOf(osRelease: string): string | undefined {
  return /^ID=debian$/m.test(osRelease) ? /^VERSION_CODENAME=(\w+)$/m.exec(osRelease)?.[1] : undefined;
}

export function forRelease(sources: string, release: string): string {
  return OLDER_RELEASES.includes(release) ? sources.replaceAll(release, RELEASE) : sources;
}

async function findSources(folder: string, release: string): Promise<{ path: string; text: string } | undefined> {
  const parts = await readdir(join(folder, "sources.list.d")).catch(() => []);
  const names = ["sources.list", ...parts.map((name) => `sources.list.d/${name}`)];
  for (const path of names.filter((name) => /\.(list|sources)$/.test(name)).map((name) => join(folder, name))) {
    const text = await readFile(path, "utf8").catch(() => "");
    if (new RegExp(`debian\\S*\\s[^]*\\b${release}\\b`).test(text)) return { path, text };
  }
  return undefined;
}

type Download = { readonly scratch: string; readonly sources: string; readonly target: string; readonly env: NodeJS.ProcessEnv };

async function downloadInto({ scratch, sources, target, env }: Download): Promise<Result<string, string>> {
  for (const folder of ["lists/partial", "cache/archives/partial"]) await mkdir(join(scratch, folder), { recursive: true });
  const settings = [
    `Dir::Etc::sourcelist=${sources}`,
    "Dir::Etc::sourceparts=-",
    `Dir::State::lists=${join(scratch, "lists")}`,
    `Dir::Cache=${join(scratch, "cache")}`,
    "APT::Sandbox::User=root", // the user _apt cannot read the scratch folder
    "Acquire::Languages=none",
    "Acquire::http::Timeout=20",
    "Acquire::Retries=1",
  ].flatMap((setting) => ["-o", setting]);
  for (const command of [["update"], ["download", PACKAGE]]) {
    const ran = await runProgram("apt-get", [...settings, "-q", ...command], { cwd: scratch, env });
    if (ran.code !== 0) return err(`apt-get ${command.join(" ")} failed: ${lastLine(ran.stderr)}`);
  }
  const archive = (await readdir(scratch)).find((name) => name.endsWith(".deb"));
  if (archive === undefined) return err(`apt-get downloaded no ${PACKAGE}`);
  const unpacked = await runProgram("dpkg", ["-x", archive, "unpacked"], { cwd: scratch, env });
  const module = (await listFiles(scratch, "unpacked")).find((path) => basename(path) === "fips.so");
  if (unpacked.code !== 0 || module === undefined) return err(`${archive} contains no fips.so`);
  await mkdir(dirname(target), { recursive: true });
  await copyFile(join(scratch, module), `${target}.${process.pid}`);
  await rename(`${target}.${process.pid}`, target); // renamed, so that it is complete also when two runs fetch at once
  return ok(target);
}

function lastLine(text: string): string {
  return text.trim().split("\n").at(-1) ?? "";
}
