/**
 * Runs a program in a network namespace in which only loopback exists, and counts what it and all its child processes sent elsewhere.
 *
 * The kernel counts: a connect or a datagram to an address without a route increments OutNoRoutes of the namespace, whatever program did it. The
 * name server is an address without a route, so a DNS lookup is counted too.
 */
import { execFile, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export type AirGapRun = { readonly code: number; readonly output: string; readonly attempts: number };

/** 192.0.2.0/24 is reserved for documentation: no host has an address in it. */
const NAME_SERVER = "192.0.2.53";
const SCRIPT = `ip link set lo up && mount --bind "$0/resolv.conf" /etc/resolv.conf || exit 125
folder=$0
"$@"
code=$?
cat /proc/net/snmp /proc/net/snmp6 > "$folder/counters" 2>/dev/null
exit $code`;
const OUTPUT_BYTES = 16 << 20;

/** Why there is no such namespace on this machine; undefined: there is one. */
export function airGapMissing(): string | undefined {
  if (process.platform !== "linux") return `${process.platform} has no network namespaces`;
  const script = "ip link set lo up && mount --bind /dev/null /etc/resolv.conf";
  const tried = spawnSync("unshare", [...unshareFlags(), "--", "sh", "-c", script], { encoding: "utf8" });
  if (tried.status === 0) return undefined;
  return `unshare cannot make a network namespace: ${tried.error?.message ?? tried.stderr.trim()}`;
}

export async function runInAirGap(program: readonly string[], timeoutMs: number): Promise<AirGapRun> {
  const folder = mkdtempSync(join(tmpdir(), "lattice-air-gap-"));
  try {
    writeFileSync(join(folder, "resolv.conf"), `nameserver ${NAME_SERVER}\noptions timeout:1 attempts:1\n`);
    const args = [...unshareFlags(), "--", "sh", "-c", SCRIPT, folder, ...program];
    const { code, output } = await run("unshare", args, timeoutMs);
    const counters = join(folder, "counters");
    if (!existsSync(counters)) throw new Error(`the program did not end within ${timeoutMs} ms, or was not started:\n${output}`);
    return { code, output, attempts: packetsWithoutRoute(readFileSync(counters, "utf8")) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function unshareFlags(): readonly string[] {
  return [...(process.getuid?.() === 0 ? [] : ["--map-root-user"]), "--net", "--mount"];
}

function run(file: string, args: readonly string[], timeoutMs: number): Promise<{ readonly code: number; readonly output: string }> {
  return new Promise((resolve) => {
    const options = { cwd: tmpdir(), timeout: timeoutMs, maxBuffer: OUTPUT_BYTES, encoding: "utf8" } as const;
    const child = execFile(file, args, options, (_error, stdout, stderr) => {
      resolve({ code: child.exitCode ?? 1, output: `${stdout}${stderr}` });
    });
  });
}

/** /proc/net/snmp has a line of names and a line of values for each protocol; /proc/net/snmp6 one name and value per line. */
function packetsWithoutRoute(counters: string): number {
  const [names = [], values = []] = counters.split("\n").flatMap((line) => (line.startsWith("Ip: ") ? [line.split(" ")] : []));
  const ipv4 = Number(values[names.indexOf("OutNoRoutes")]);
  const ipv6 = Number(/^Ip6OutNoRoutes\s+([0-9]+)/m.exec(counters)?.[1] ?? 0);
  if (!Number.isSafeInteger(ipv4)) throw new Error(`the kernel reports no OutNoRoutes:\n${counters}`);
  return ipv4 + ipv6;
}
