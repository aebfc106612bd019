/**
 * The modes of impersonation. The original mode needs the verb `impersonate` on each part of the other user. The newer, constrained modes
 * (KEP 5284) need `impersonate-on:<mode>:<verb>` on the requested resource, and `impersonate:<mode>` on the user.
 */
import { ok, type Err, type Result } from "#base";
import { parseDnsSubdomain } from "#kube";
import type { User } from "../protocol/request.ts";
import type { Failure } from "../protocol/status.ts";
import { forbiddenAccess } from "./forbidden.ts";
import type { Access, Authorizer } from "../protocol/auth-port.ts";
import { accountOf, ANONYMOUS, AUTHENTICATED, EXTRA, MASTERS, nodeOf, NODES, serviceAccountGroups, UNAUTHENTICATED } from "./users.ts";

export type ImpersonatedUser = {
  readonly name: string;
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: ReadonlyMap<string, readonly string[]>;
};

type Mode = {
  readonly name: "associated-node" | "arbitrary-node" | "serviceaccount" | "user-info" | "legacy";
  readonly suits: (wanted: ImpersonatedUser, requester: User) => boolean;
};

export const MODES: readonly Mode[] = [
  {
    name: "associated-node",
    suits: (wanted, requester) => {
      const own = requester.extra?.get(EXTRA.nodeName);
      return isBare(wanted) && accountOf(requester.name) !== undefined && own?.length === 1 && own[0] === nodeOf(wanted.name);
    },
  },
  { name: "arbitrary-node", suits: (wanted) => isBare(wanted) && nodeOf(wanted.name) !== undefined },
  { name: "serviceaccount", suits: (wanted) => isBare(wanted) && accountOf(wanted.name) !== undefined },
  { name: "user-info", suits: ({ name }) => nodeOf(name) === undefined && accountOf(name) === undefined },
  { name: "legacy", suits: () => true },
];

/** The narrower modes derive the other parts of a user. */
function isBare({ uid, groups, extra }: ImpersonatedUser): boolean {
  return uid === "" && groups.length === 0 && extra.size === 0;
}

type Attempt = { readonly authorize: Authorizer; readonly requester: User; readonly wanted: ImpersonatedUser; readonly access: Access };
type Trial = Attempt & { readonly mode: Mode["name"] };
type Refusal = Err<Failure> | undefined;

/** `undefined`: this mode does not apply to such a user. */
export function tryMode(mode: Mode, attempt: Attempt): Result<User, Failure> | undefined {
  const { requester, wanted, access } = attempt;
  if (!mode.suits(wanted, requester)) return undefined;
  const trial: Trial = { ...attempt, mode: mode.name };
  const onRequest = isConstrained(trial) ? ask(trial, { ...access, verb: `impersonate-on:${mode.name}:${access.verb}` }) : undefined;
  const refused = onRequest ?? askUserName(trial) ?? askUid(trial) ?? askGroups(trial) ?? askExtra(trial);
  return refused ?? ok(becomes(mode.name, wanted));
}

function isConstrained({ mode }: Trial): boolean {
  return mode !== "legacy";
}

function becomes(mode: Mode["name"], { name, uid, groups, extra }: ImpersonatedUser): User {
  const account = accountOf(name);
  const node = mode === "legacy" ? undefined : nodeOf(name);
  const own =
    node !== undefined ? [NODES] : account !== undefined && groups.length === 0 ? serviceAccountGroups(account.namespace) : groups;
  const more = name === ANONYMOUS.name ? UNAUTHENTICATED : AUTHENTICATED;
  const complete = own.includes(more) || own.includes(UNAUTHENTICATED);
  return { name, uid, groups: complete ? own : [...own, more], ...(extra.size === 0 ? {} : { extra }) };
}

const MANY = 4;
const AUTHENTICATION = { group: "authentication.k8s.io", version: "v1" };

function ask({ authorize, requester }: Trial, access: Access): Refusal {
  const { allowed, reason } = authorize(requester, access);
  return allowed ? undefined : forbiddenAccess(requester, access, reason);
}

function askUserName(trial: Trial): Refusal {
  const { name } = trial.wanted;
  const account = accountOf(name);
  if (account !== undefined) return ask(trial, about(trial, "serviceaccounts", account.name, { namespace: account.namespace }));
  const node = isConstrained(trial) ? nodeOf(name) : undefined;
  // the node of the requester may be any node, so the rule must cover all of them
  if (node !== undefined) return ask(trial, about(trial, "nodes", trial.mode === "associated-node" ? "*" : node));
  return ask(trial, about(trial, "users", name));
}

function askUid(trial: Trial): Refusal {
  const { uid } = trial.wanted;
  return uid === "" ? undefined : ask(trial, about(trial, "uids", uid, AUTHENTICATION));
}

function askGroups(trial: Trial): Refusal {
  const { requester, wanted } = trial;
  const refuse = (name: string, why: string) => forbiddenAccess(requester, about(trial, "groups", name), why);
  const constrained = isConstrained(trial);
  if (constrained && wanted.groups.includes("")) return refuse("", "impersonating the empty string group is not allowed");
  if (constrained && wanted.groups.includes(MASTERS)) return refuse(MASTERS, "impersonating the system:masters group is not allowed");
  const many = constrained && wanted.groups.length >= MANY;
  if (many && ask(trial, about(trial, "groups", "*")) === undefined) return undefined;
  return firstOf(wanted.groups, (group) => ask(trial, about(trial, "groups", group)));
}

function askExtra(trial: Trial): Refusal {
  const { requester, wanted } = trial;
  const constrained = isConstrained(trial);
  const fault = constrained ? extraFault(wanted.extra) : undefined;
  if (fault !== undefined) return forbiddenAccess(requester, about(trial, "userextras", "", AUTHENTICATION), fault);
  const askFor = (key: string, value: string) =>
    ask(trial, about(trial, "userextras", value, { ...AUTHENTICATION, subresource: key === "" ? undefined : key }));
  const pairs = [...wanted.extra].flatMap(([key, values]) => values.map((value) => ({ key, value })));
  if (constrained && pairs.length >= MANY && askFor("*", "*") === undefined) return undefined;
  return firstOf(pairs, ({ key, value }) => askFor(key, value));
}

function about(trial: Trial, resource: string, name: string, more: Partial<Extract<Access, { kind: "resource" }>> = {}): Access {
  const constrained = isConstrained(trial);
  const head = constrained ? AUTHENTICATION : { group: "", version: "v1" };
  const verb = constrained ? `impersonate:${trial.mode}` : "impersonate";
  return { kind: "resource", verb, ...head, resource, subresource: undefined, namespace: undefined, name, ...more };
}

function firstOf<T>(items: readonly T[], refusalOf: (item: T) => Refusal): Refusal {
  for (const item of items) {
    const refused = refusalOf(item);
    if (refused !== undefined) return refused;
  }
  return undefined;
}

function extraFault(extra: ReadonlyMap<string, readonly string[]>): string | undefined {
  for (const [key, values] of extra) {
    if (key === "") return "impersonating the empty string key in extra is not allowed";
    const fault = prefixedPathFault(key);
    if (fault !== undefined) return `impersonating an invalid key in extra is not allowed: ${fault}`;
    if (key !== key.toLowerCase()) return `impersonating a non-lowercase key in extra is not allowed: ${JSON.stringify(key)}`;
    if (values.includes("")) return "impersonating the empty string value in extra is not allowed";
  }
  return undefined;
}

/** `domain/path`, as checked by utilvalidation.IsDomainPrefixedPath. */
function prefixedPathFault(key: string): string | undefined {
  const slash = key.indexOf("/");
  const invalid = (why: string) => `extra.key: Invalid value: ${JSON.stringify(key)}: ${why}`;
  if (slash <= 0 || slash === key.length - 1) return invalid('must be a domain-prefixed path (such as "acme.io/foo")');
  const domain = key.slice(0, slash);
  if (!parseDnsSubdomain(domain).ok) return `extra.key: Invalid value: ${JSON.stringify(domain)}: ${DOMAIN}`;
  return undefined;
}

const DOMAIN =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
