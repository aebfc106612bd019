/** A client with a kubeconfig of the fleet, and whether the cluster's operator leads. */
import { setTimeout as wait } from "node:timers/promises";
import { expectOk, systemClock } from "#base";
import { leases } from "#kube";
import { createKubeClient, httpTransport, loadKubeconfig, type KubeClient } from "#kube-client";

const LEASE = { namespace: "lattice-system", name: "lattice-operator" };
const LOOK_MS = 50;

/** The kubeconfig is read once: a client of before a restart must work after it. */
export async function clientOf(kubeconfig: string): Promise<KubeClient> {
  const config = expectOk(await loadKubeconfig({ path: kubeconfig, env: {}, home: "/nonexistent", clock: systemClock }));
  return createKubeClient({ transport: httpTransport(config, { clock: systemClock }), clock: systemClock, random: Math.random });
}

/** When the lease was last renewed by a holder, in milliseconds since the epoch; 0: there is none. */
export async function renewedAt(client: KubeClient): Promise<number> {
  const lease = await client.get(leases, LEASE, { timeoutMs: 2_000 });
  const spec = lease.ok ? lease.value.spec : undefined;
  return spec?.holderIdentity === undefined || spec.holderIdentity === "" ? 0 : Date.parse(spec.renewTime ?? "");
}

/** Empty: none. */
export async function leaseHolder(client: KubeClient): Promise<string> {
  const lease = await client.get(leases, LEASE, { timeoutMs: 2_000 });
  return lease.ok ? (lease.value.spec?.holderIdentity ?? "") : "";
}

/** Resolves when an operator has renewed the lease after `since`: a process that was killed before cannot have done it. */
export async function untilLeads(client: KubeClient, since: number, withinMs: number): Promise<void> {
  const deadline = performance.now() + withinMs;
  while ((await renewedAt(client)) <= since) {
    if (performance.now() > deadline) throw new Error(`no operator has led within ${withinMs} ms`);
    await wait(LOOK_MS);
  }
}
