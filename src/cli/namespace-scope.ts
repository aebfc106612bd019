/** `-n` and `-A`, as kubectl has them: the namespace that a command works in, by default that of the kubeconfig's context. */
import { err, ok, type Result } from "#base";
import { parseNamespace } from "#kube";
import type { ClusterConfig } from "#kube-client";

export type NamespaceFlags = { readonly namespace?: string; readonly allNamespaces?: boolean };

export const DEFAULT_NAMESPACE = "default";

/** The namespace that was asked for; undefined: all. `-A` wins over `-n`, as in kubectl. */
export function scopeOf(
  { namespace, allNamespaces }: NamespaceFlags,
  config: Pick<ClusterConfig, "namespace">,
): Result<string | undefined, string> {
  if (allNamespaces === true) return ok(undefined);
  const chosen = namespace ?? config.namespace ?? DEFAULT_NAMESPACE;
  const parsed = parseNamespace(chosen);
  return parsed.ok ? ok(chosen) : err(`--namespace: ${parsed.error}`);
}

/** Said when a namespace holds nothing: it may be the wrong one. */
export function nothingIn(what: string, scope: string | undefined): string {
  return scope === undefined ? `no ${what} in the cluster` : `no ${what} in namespace ${scope}; -A shows all namespaces`;
}
