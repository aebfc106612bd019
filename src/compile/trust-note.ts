/**
 * The policies of a cluster may use another trust domain than the command: only the operator has the configured one.
 * Then agreed calls appear closed, so a note gives the reason.
 */
import { fieldAt, type KubeObject } from "#kube";
import { splitId, type ServiceNode } from "#mesh-compiler";

export function trustNotes(objects: readonly KubeObject[], caller: ServiceNode, trustDomain: string): readonly string[] {
  const { namespace } = splitId(caller.id);
  const identity = `/ns/${namespace}/sa/${caller.serviceAccount}`;
  const named = objects.filter(({ kind }) => kind === "AuthorizationPolicy").flatMap((policy) => textsIn(fieldAt(policy, "spec", "rules")));
  const domains = new Set(named.filter((text) => text.endsWith(identity)).map((text) => text.slice(0, -identity.length)));
  if (domains.size === 0 || domains.has(trustDomain)) return [];
  const [other = ""] = domains;
  return [
    `the policies in the cluster name ${caller.id} in trust domain ${other}, not ${trustDomain}; run the command again with --trust-domain ${other}`,
  ];
}

function textsIn(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}
