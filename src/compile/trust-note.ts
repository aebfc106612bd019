/**
 * A cluster's policies may be written for another trust domain than the one that was asked with: only the operator knows which it was given.
 * Then agreed calls look closed, so a note gives the reason.
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
