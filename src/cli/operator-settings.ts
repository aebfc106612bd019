/** From the flags of `lattice operator` to a configuration of the operator. */
import { err, mapErr, ok, type LogLevel, type Result } from "#base";
import { leaseTimesFor } from "#controller-runtime";
import type { LogFormat, OperatorConfig } from "#operator";
import type { ClusterFlags } from "./cluster.ts";
import { parseDurationFlag, type DurationFlag } from "./duration-flag.ts";
import { parseListenAddress, type ListenAddress } from "./listen-address.ts";
import { parseNamespaces } from "./namespaces-flag.ts";
import { settingsOf, type WorldFlags } from "./world-files.ts";

export type OperatorFlags = ClusterFlags &
  Omit<WorldFlags, "filename" | "namespace"> & {
    readonly namespace: string;
    readonly namespaces?: string;
    readonly allowUnprotected?: boolean;
    readonly healthAddress: string;
    readonly webhookAddress?: string;
    readonly leaderElect: boolean;
    readonly leaseDuration?: string;
    readonly identityFile?: string;
    readonly resync?: string;
    readonly waitForServer?: string;
    readonly logLevel: LogLevel;
    readonly logFormat: LogFormat;
    readonly bundle?: string;
  };

const LEASE_DURATION: DurationFlag = {
  name: "--lease-duration",
  least: { text: "1s", why: "a Lease stores whole seconds, and one slow request would lose it" },
  most: { text: "1h", why: "after a crash no other operator takes over for that time" },
};
const RESYNC: DurationFlag = {
  name: "--resync",
  least: { text: "1s", why: "every settled object is reconciled again that often" },
  most: { text: "24h", why: "it is what corrects changes that no watch reports" },
};

const WAIT_FOR_SERVER: DurationFlag = {
  name: "--wait-for-server",
  least: { text: "0s", why: "0s means that it is tried once" },
  most: { text: "1h", why: "an address that is wrong should be reported" },
};

/** API servers must be able to use the address, so it is no wildcard. */
function parseWebhookAddress(raw: string | undefined): Result<ListenAddress | undefined, string> {
  if (raw === undefined) return ok(undefined);
  const address = mapErr(parseListenAddress(raw), (problem) => `--webhook-address: ${problem}`);
  if (!address.ok || !WILDCARDS.has(address.value.host)) return address;
  return err(
    `--webhook-address: API servers cannot connect to ${address.value.host}; write an address of this machine that they can reach`,
  );
}

const WILDCARDS: ReadonlySet<string> = new Set(["0.0.0.0", "::", "::0", "0"]);

/** The flags as a configuration, all but the identity and what the environment says. */
export function operatorSettings(flags: OperatorFlags): Result<Omit<OperatorConfig, "identity">, string> {
  const { namespace, allowUnprotected, leaderElect } = flags;
  const health = mapErr(parseListenAddress(flags.healthAddress), (problem) => `--health-address: ${problem}`);
  if (!health.ok) return health;
  const webhook = parseWebhookAddress(flags.webhookAddress);
  if (!webhook.ok) return webhook;
  const services = settingsOf(flags);
  if (!services.ok) return services;
  const namespaces = parseNamespaces(flags.namespaces);
  if (!namespaces.ok) return namespaces;
  const lease = parseDurationFlag(LEASE_DURATION, flags.leaseDuration);
  if (!lease.ok) return lease;
  if (lease.value !== undefined && !leaderElect)
    return err("--lease-duration: has no effect with --no-leader-elect; leave one of them out");
  const resync = parseDurationFlag(RESYNC, flags.resync);
  if (!resync.ok) return resync;
  const wait = parseDurationFlag(WAIT_FOR_SERVER, flags.waitForServer);
  if (!wait.ok) return wait;
  return ok({
    namespace,
    namespaces: namespaces.value,
    allowUnprotected,
    leaderElection: leaderElect,
    leaseTimes: lease.value === undefined ? undefined : leaseTimesFor(lease.value),
    waitForServerMs: wait.value,
    limits: resync.value === undefined ? undefined : { settledMs: resync.value },
    health: health.value,
    webhook: webhook.value === undefined ? undefined : { kind: "url", ...webhook.value },
    services: services.value,
  });
}
