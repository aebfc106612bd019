/** Every active namespace has a ServiceAccount `default`; it is created again when it is deleted. */
import { namespaces as namespaceKind, serviceAccounts } from "#kube";
import type { KubeError } from "#kube-client";
import type { KubeController, KubeControllerContext } from "../context.ts";
import { done, passOf, type Pass } from "../work.ts";

export const serviceAccountController: KubeController = { name: "serviceaccount-controller", start };

const NAME = "default";

function start(context: KubeControllerContext): void {
  const { informers, client } = context;
  const accounts = informers.of(serviceAccounts);
  const namespaces = informers.of(namespaceKind);
  const queue = context.work({ name: "service-accounts", pass });

  async function pass(name: string, signal: AbortSignal): Promise<Pass> {
    if (namespaces.get({ name })?.status?.phase !== "Active") return done;
    if (accounts.get({ namespace: name, name: NAME }) !== undefined) return done;
    const account = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: NAME, namespace: name } };
    const answer = await client.create(serviceAccounts, account, { signal });
    return !answer.ok && isNobodysFault(answer.error) ? done : passOf(answer);
  }

  informers.subscribe(namespaceKind, ({ key, after }) => {
    if (after !== undefined) queue.add(key.name);
  });
  informers.subscribe(serviceAccounts, ({ key, after }) => {
    if (after === undefined && key.namespace !== undefined) queue.add(key.namespace);
  });
}

/** It exists, or its namespace is deleted or terminating. */
export function isNobodysFault({ kind, status }: KubeError): boolean {
  if (kind === "already-exists" || kind === "not-found") return true;
  return status?.details?.causes?.some(({ reason }) => reason === "NamespaceTerminating") === true;
}
