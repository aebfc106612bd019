/**
 * Tokens of ServiceAccounts: issued on request, accepted if signed with this server's key, invalid after their expiry or the deletion of their
 * bound objects. A signature is verified once per token; everything that can change is checked each time.
 */
import { err, ok, type Clock, type Result } from "#base";
import { fieldAt, type KubeObject } from "#kube";
import { createSigningKey, type SigningKey } from "#pki";
import type { User } from "../../protocol/request.ts";
import type { AccountTokens, TokenIdentity, ObjectRef } from "../../protocol/auth-port.ts";
import { EXTRA, serviceAccountGroups, serviceAccountName } from "../users.ts";
import { readClaims, writeClaims, type Claims } from "./claims.ts";
import { readToken, signToken } from "./json-web-token.ts";
import type { Store } from "../../store/index.ts";

export const ISSUER = "https://kubernetes.default.svc.cluster.local";
/** The server itself: the default audience of a token. */
export const API_AUDIENCES: readonly string[] = [ISSUER];
const REMEMBERED = 2_000;
/** The clock skew that Kubernetes allows. */
const LEEWAY_SECONDS = 60;

export type AccountTokensOptions = {
  readonly store: Store;
  readonly clock: Clock;
  /** Default: a key that is created when first needed; its tokens are invalid after a restart. */
  readonly key?: SigningKey | undefined;
};

export function accountTokens({ store, clock, key }: AccountTokensOptions): AccountTokens {
  let made = key;
  const signingKey = () => (made ??= createSigningKey());
  const verified = new Map<string, Claims>();
  const believe = (token: string): Result<Claims, string> | undefined => {
    const known = verified.get(token);
    if (known !== undefined) return ok(known);
    const claims = verify(token, signingKey());
    if (claims?.ok === true) remember(verified, token, claims.value);
    return claims;
  };
  return {
    issue: (claims, id) => signToken(signingKey(), writeClaims(claims, { issuer: ISSUER, now: seconds(clock), id })),
    publicKeys: () => [signingKey().publicKey],
    authenticate: (token, audiences) => {
      const claims = believe(token);
      return claims?.ok === true ? identityOf(claims.value, { store, audiences, now: seconds(clock) }) : claims;
    },
  };
}

function seconds(clock: Clock): number {
  return Math.floor(clock.now() / 1_000);
}

/** The oldest entry is evicted; a token that is still in use is added again with its next request. */
function remember(verified: Map<string, Claims>, token: string, claims: Claims): void {
  const oldest = verified.size >= REMEMBERED ? verified.keys().next().value : undefined;
  if (oldest !== undefined) verified.delete(oldest);
  verified.set(token, claims);
}

function verify(token: string, key: SigningKey): Result<Claims, string> | undefined {
  const read = readToken(token);
  if (read === undefined || fieldAt(read.claims, "iss") !== ISSUER) return undefined;
  const kid = fieldAt(read.header, "kid") ?? "";
  if (kid !== "" && kid !== key.id) return err("invalid signature, no keys found");
  // the key determines the algorithm; that in the token's header is only compared
  const genuine = fieldAt(read.header, "alg") === key.algorithm && key.verify(read.signed, read.signature);
  return genuine ? ok(readClaims(read.claims)) : err("go-jose/go-jose: error in cryptographic primitive");
}

type Circumstances = { readonly store: Store; readonly audiences: readonly string[]; readonly now: number };

function identityOf(claims: Claims, { store, audiences, now }: Circumstances): Result<TokenIdentity, string> {
  const own = claims.audiences.length === 0 ? API_AUDIENCES : claims.audiences;
  const common = own.filter((audience) => audiences.includes(audience));
  if (common.length === 0) return err(`token audiences ${goList(own)} is invalid for the target audiences ${goList(audiences)}`);
  const fault = timeFault(claims, now) ?? accountFault(claims, store, now) ?? boundFault(claims, store, now);
  return fault === undefined ? ok({ user: userOf(claims), audiences: common }) : err(fault);
}

function goList(values: readonly string[]): string {
  return `[${values.map((value) => JSON.stringify(value)).join(" ")}]`;
}

function timeFault({ notBefore, expires, issuedAt }: Claims, now: number): string | undefined {
  if (now + LEEWAY_SECONDS < notBefore) return "service account token is not valid yet";
  if (now - LEEWAY_SECONDS > expires) return "service account token has expired";
  return now + LEEWAY_SECONDS < issuedAt ? "service account token is issued in the future" : undefined;
}

function accountFault({ namespace, account }: Claims, store: Store, now: number): string | undefined {
  const found = store.get("/serviceaccounts", `${namespace}/${account.name}`)?.object;
  if (found === undefined) return `serviceaccounts ${JSON.stringify(account.name)} not found`;
  const uid = found.metadata.uid ?? "";
  if (uid !== account.uid) return `service account UID (${uid}) does not match claim (${account.uid})`;
  return isGone(found, now) ? `service account ${namespace}/${account.name} has been deleted` : undefined;
}

const INVALIDATED = "service account token has been invalidated";

function boundFault({ namespace, pod, secret, node }: Claims, store: Store, now: number): string | undefined {
  const dead = (kind: string, ref: ObjectRef, found: KubeObject | undefined) => {
    if (found === undefined) return INVALIDATED;
    const uid = found.metadata.uid ?? "";
    if (uid === ref.uid) return isGone(found, now) ? INVALIDATED : undefined;
    return `${kind} UID (${uid}) does not match service account ${kind.toLowerCase()} ref claim (${ref.uid})`;
  };
  if (secret !== undefined) return dead("secret", secret, store.get("/secrets", `${namespace}/${secret.name}`)?.object);
  if (pod !== undefined) return dead("pod", pod, store.get("/pods", `${namespace}/${pod.name}`)?.object);
  return node === undefined ? undefined : dead("node", node, store.get("/nodes", node.name)?.object);
}

/** A terminating object counts as existing within the clock skew. */
function isGone(object: KubeObject, now: number): boolean {
  const deleted = fieldAt(object, "metadata", "deletionTimestamp");
  return typeof deleted === "string" && Date.parse(deleted) / 1_000 < now - LEEWAY_SECONDS;
}

function userOf({ namespace, account, pod, node, id }: Claims): User {
  const extra = new Map<string, readonly string[]>();
  if (id !== "") extra.set(EXTRA.credential, [`JTI=${id}`]);
  if (node !== undefined && node.name !== "") {
    extra.set(EXTRA.nodeName, [node.name]);
    if (node.uid !== "") extra.set(EXTRA.nodeUid, [node.uid]);
  }
  if (pod !== undefined && pod.name !== "" && pod.uid !== "") {
    extra.set(EXTRA.podName, [pod.name]);
    extra.set(EXTRA.podUid, [pod.uid]);
  }
  const name = serviceAccountName(namespace, account.name);
  return { name, uid: account.uid, groups: serviceAccountGroups(namespace), ...(extra.size === 0 ? {} : { extra }) };
}
