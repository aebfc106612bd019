/** `-n` and `-A`, as in kubectl: the namespace that a command works in, by default that of the kubeconfig's context. */
import { err, ok, type Result } from "#base";
import { parseNamespace } from "#kube";
import type { ClusterConfig } from "#kube-client";

export type NamespaceFlags = { readonly namespace?: string; readonly allNamespaces?: boolean };

export const DEFAULT_NAMESPACE = "default";

/** The requested namespace; undefined: all. `-A` overrides `-n`, as in kubectl. */
export function scopeOf(
  { namespace, allNamespaces }: NamespaceFlags,
  config: Pick<ClusterConfig, "namespace">,
): Result<string | undefined, string> {
  if (allNamespaces === true) return ok(undefined);
  const chosen = namespace ?? config.namespace ?? DEFAULT_NAMESPACE;
  const parsed = parseNamespace(chosen);
  return parsed.ok ? ok(chosen) : err(`--namespace: ${parsed.error}`);
}

/** The message for an empty namespace, which may be the wrong one. */
export function nothingIn(what: string, scope: string | undefined): string {
  return scope === undefined ? `no ${what} in the cluster` : `no ${what} in namespace ${scope}; -A shows all namespaces`;
}
