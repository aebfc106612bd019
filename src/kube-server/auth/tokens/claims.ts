/** The claims of a ServiceAccount token, and their encoding. */
import { field, fieldAt, type Json, type JsonObject, type KubeObject } from "#kube";
import { serviceAccountName } from "../users.ts";
import type { NewClaims, ObjectRef } from "../../protocol/auth-port.ts";

export type Claims = {
  readonly subject: string;
  readonly audiences: readonly string[];
  /** Seconds since 1970, as all times here. */
  readonly issuedAt: number;
  readonly notBefore: number;
  readonly expires: number;
  readonly id: string;
  readonly namespace: string;
  readonly account: ObjectRef;
  readonly pod: ObjectRef | undefined;
  readonly secret: ObjectRef | undefined;
  readonly node: ObjectRef | undefined;
};

/** Names in alphabetical order, as on a real server. */
export function writeClaims(
  given: NewClaims,
  { issuer, now, id }: { readonly issuer: string; readonly now: number; readonly id: string },
): JsonObject {
  const { account, bound, audiences, seconds, warnAfter } = given;
  const { name, namespace = "" } = account.metadata;
  return {
    aud: audiences,
    exp: now + seconds,
    iat: now,
    iss: issuer,
    jti: id,
    "kubernetes.io": {
      namespace,
      ...(bound.node === undefined ? {} : { node: refOf(bound.node) }),
      ...(bound.pod === undefined ? {} : { pod: refTo(bound.pod) }),
      ...(bound.secret === undefined ? {} : { secret: refTo(bound.secret) }),
      serviceaccount: refTo(account),
      ...(warnAfter === undefined ? {} : { warnafter: now + warnAfter }),
    },
    nbf: now,
    sub: serviceAccountName(namespace, name),
  };
}

function refTo({ metadata }: KubeObject): Json {
  return refOf({ name: metadata.name, uid: metadata.uid ?? "" });
}

function refOf({ name, uid }: ObjectRef): Json {
  return { name, ...(uid === "" ? {} : { uid }) };
}

export function readClaims(claims: JsonObject): Claims {
  const mine = field(claims, "kubernetes.io");
  const audiences = field(claims, "aud");
  const [issuedAt, notBefore, expires] = [numberAt(claims, "iat"), numberAt(claims, "nbf"), numberAt(claims, "exp")];
  return {
    subject: textAt(claims, "sub"),
    audiences: typeof audiences === "string" ? [audiences] : textsOf(audiences),
    issuedAt: issuedAt ?? 0,
    notBefore: notBefore ?? 0,
    expires: expires ?? Number.POSITIVE_INFINITY,
    id: textAt(claims, "jti"),
    namespace: textAt(mine, "namespace"),
    account: readRef(field(mine, "serviceaccount")) ?? { name: "", uid: "" },
    pod: readRef(field(mine, "pod")),
    secret: readRef(field(mine, "secret")),
    node: readRef(field(mine, "node")),
  };
}

function readRef(value: unknown): ObjectRef | undefined {
  return value === undefined || value === null ? undefined : { name: textAt(value, "name"), uid: textAt(value, "uid") };
}

function textAt(value: unknown, name: string): string {
  const found = fieldAt(value, name);
  return typeof found === "string" ? found : "";
}

function numberAt(value: unknown, name: string): number | undefined {
  const found = fieldAt(value, name);
  return typeof found === "number" ? found : undefined;
}

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === "string") : [];
}
