/** Names of users and groups that Kubernetes defines. */
import { parseDnsLabel, parseDnsSubdomain } from "#kube";
import type { User } from "../protocol/request.ts";

/** May do everything independently of the rules, so that broken rules can be repaired. */
export const MASTERS = "system:masters";
export const AUTHENTICATED = "system:authenticated";
export const UNAUTHENTICATED = "system:unauthenticated";
export const NODES = "system:nodes";

export const ANONYMOUS: User = { name: "system:anonymous", uid: "", groups: [UNAUTHENTICATED] };

const SERVICE_ACCOUNT = "system:serviceaccount:";
const NODE = "system:node:";

export function serviceAccountName(namespace: string, name: string): string {
  return `${SERVICE_ACCOUNT}${namespace}:${name}`;
}

export function serviceAccountGroups(namespace: string): readonly string[] {
  return ["system:serviceaccounts", `system:serviceaccounts:${namespace}`];
}

export type AccountKey = { readonly namespace: string; readonly name: string };

/** Undefined: the user is no ServiceAccount. */
export function accountOf(userName: string): AccountKey | undefined {
  if (!userName.startsWith(SERVICE_ACCOUNT)) return undefined;
  const [namespace = "", name = "", ...more] = userName.slice(SERVICE_ACCOUNT.length).split(":");
  if (more.length > 0 || !parseDnsLabel(namespace).ok || !parseDnsSubdomain(name).ok) return undefined;
  return { namespace, name };
}

/** Undefined: the user is no node. */
export function nodeOf(userName: string): string | undefined {
  const name = userName.startsWith(NODE) ? userName.slice(NODE.length) : "";
  return parseDnsSubdomain(name).ok ? name : undefined;
}

/** Keys of a user's `extra` that describe the credential. */
export const EXTRA = {
  credential: "authentication.kubernetes.io/credential-id",
  podName: "authentication.kubernetes.io/pod-name",
  podUid: "authentication.kubernetes.io/pod-uid",
  nodeName: "authentication.kubernetes.io/node-name",
  nodeUid: "authentication.kubernetes.io/node-uid",
} as const;

/** Adds the group system:authenticated, unless present. */
export function authenticated(user: User): User {
  if (user.groups.includes(AUTHENTICATED) || user.groups.includes(UNAUTHENTICATED)) return user;
  return { ...user, groups: [...user.groups, AUTHENTICATED] };
}

/** The user in the form of reviews, without empty fields. */
export function userInfo({ name, uid, groups, extra }: User): {
  readonly username: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
} {
  return {
    username: name,
    ...(uid === "" ? {} : { uid }),
    ...(groups.length === 0 ? {} : { groups }),
    ...(extra === undefined || extra.size === 0 ? {} : { extra: Object.fromEntries([...extra].toSorted(([a], [b]) => (a < b ? -1 : 1))) }),
  };
}
