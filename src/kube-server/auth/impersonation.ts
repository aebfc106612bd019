/**
 * Impersonation: `Impersonate-User` and its companions, and the permission to use them.
 *
 * Several modes are tried in order (impersonation-modes.ts). The error is that of the first mode, but a mode that was allowed for the requester
 * before is tried first, so that the error is about the rule that the requester used.
 */
import { err, ok, type Result } from "#base";
import type { ApiRequest, User } from "../protocol/request.ts";
import { badRequest, type Failure } from "../protocol/status.ts";
import { tryMode, MODES, type ImpersonatedUser } from "./impersonation-modes.ts";
import type { Access, Authorizer } from "../protocol/auth-port.ts";

const USER = "impersonate-user";
const UID = "impersonate-uid";
const GROUP = "impersonate-group";
const EXTRA = "impersonate-extra-";
const PREFIX = "impersonate-";
const REMEMBERED = 10_000;

export type Impersonate = (request: ApiRequest, access: Access) => Result<User, Failure>;

/** The effective user: the authenticated one, unless the request impersonates another. */
export function impersonation(authorize: Authorizer): Impersonate {
  const lastMode = new Map<string, number>();
  return (request, access) => {
    const wanted = wantedUser(request);
    if (!wanted.ok || wanted.value === undefined) return wanted.ok ? ok(request.user) : wanted;
    const preferred = lastMode.get(request.user.name);
    const order = preferred === undefined ? MODES : [...MODES.slice(preferred, preferred + 1), ...MODES.toSpliced(preferred, 1)];
    let refusal: Failure | undefined;
    for (const mode of order) {
      const found = tryMode(mode, { authorize, requester: request.user, wanted: wanted.value, access });
      if (found?.ok === true) {
        if (lastMode.size >= REMEMBERED) lastMode.clear();
        lastMode.set(request.user.name, MODES.indexOf(mode));
        return found;
      }
      refusal ??= found?.error;
    }
    return refusal === undefined ? badRequest("all impersonation modes failed") : err(refusal);
  };
}

function wantedUser(request: ApiRequest): Result<ImpersonatedUser | undefined, Failure> {
  const names = Object.keys(request.headers).filter((name) => name.startsWith(PREFIX));
  if (names.length === 0) return ok(undefined);
  const wanted: ImpersonatedUser = {
    name: request.headers[USER] ?? "",
    uid: request.headers[UID] ?? "",
    groups: valuesOf(request, GROUP),
    extra: extraOf(request, names),
  };
  if (wanted.name !== "") return ok(wanted);
  const anything = wanted.uid !== "" || wanted.groups.length > 0 || names.some((name) => name.startsWith(EXTRA));
  return anything ? badRequest(`requested ${goText(wanted)} without impersonating a user name`) : ok(undefined);
}

function extraOf(request: ApiRequest, names: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const keys = names.filter((name) => name.startsWith(EXTRA)).toSorted();
  const extra = new Map<string, readonly string[]>();
  for (const name of keys) {
    const key = unescaped(name.slice(EXTRA.length));
    extra.set(key, [...(extra.get(key) ?? []), ...valuesOf(request, name)]);
  }
  return extra;
}

function valuesOf({ headers, repeated }: ApiRequest, name: string): readonly string[] {
  const one = headers[name];
  return repeated?.get(name) ?? (one === undefined ? [] : [one]);
}

/** Header names cannot contain a slash, so keys are percent-encoded; an invalid encoding is kept. */
function unescaped(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch {
    return key;
  }
}

/** As Go formats the struct. */
function goText({ name, uid, groups, extra }: ImpersonatedUser): string {
  const list = (values: readonly string[]) => (values.length === 0 ? "[]string(nil)" : `[]string{${values.map(quoted).join(", ")}}`);
  const entries = [...extra].map(([key, values]) => `${quoted(key)}:${list(values)}`).toSorted();
  const map = entries.length === 0 ? "map[string][]string(nil)" : `map[string][]string{${entries.join(", ")}}`;
  return `&user.DefaultInfo{Name:${quoted(name)}, UID:${quoted(uid)}, Groups:${list(groups)}, Extra:${map}}`;
}

function quoted(text: string): string {
  return JSON.stringify(text);
}
