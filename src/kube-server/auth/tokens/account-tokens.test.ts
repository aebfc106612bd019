import fc from "fast-check";
import { expect, test } from "vitest";
import { expectOk, FakeClock } from "#base";
import type { KubeObject } from "#kube";
import { createSigningKey } from "#pki";
import { createMemoryStore, type Store } from "../../store/index.ts";
import { createAuthentication } from "../authentication.ts";
import { accountTokens, API_AUDIENCES, ISSUER } from "./account-tokens.ts";
import { readToken, signToken } from "./json-web-token.ts";
import type { NewClaims } from "../../protocol/auth-port.ts";

function object(kind: string, name: string, uid: string, namespace = "n"): KubeObject {
  return { apiVersion: "v1", kind, metadata: { name, uid, ...(kind === "Node" ? {} : { namespace }) } };
}

function put(store: Store, collection: string, one: KubeObject): void {
  const key = one.metadata.namespace === undefined ? one.metadata.name : `${one.metadata.namespace}/${one.metadata.name}`;
  store.write({ collection, key, expected: store.get(collection, key)?.revision, object: () => one });
}

function world() {
  const [store, clock, key] = [createMemoryStore(), new FakeClock(), createSigningKey()];
  const account = object("ServiceAccount", "sa", "u1");
  put(store, "/serviceaccounts", account);
  const accounts = accountTokens({ store, clock, key });
  const issue = (more: Partial<NewClaims> = {}) =>
    accounts.issue({ account, bound: {}, audiences: API_AUDIENCES, seconds: 600, warnAfter: undefined, ...more }, "id-1");
  return { store, clock, key, account, accounts, issue };
}

test("an issued token has the claims of its account, and is accepted", () => {
  const { issue, accounts } = world();
  expect(accounts.authenticate(issue(), API_AUDIENCES)).toEqual({
    ok: true,
    value: {
      audiences: [ISSUER],
      user: {
        name: "system:serviceaccount:n:sa",
        uid: "u1",
        groups: ["system:serviceaccounts", "system:serviceaccounts:n"],
        extra: new Map([["authentication.kubernetes.io/credential-id", ["JTI=id-1"]]]),
      },
    },
  });
  expect(readToken(issue({ warnAfter: 10 }))?.claims).toMatchObject({ iss: ISSUER, sub: "system:serviceaccount:n:sa", aud: [ISSUER] });
});

test("a token is valid until its expiry, and a minute longer for clock skew", async () => {
  const { issue, accounts, clock } = world();
  const token = issue();
  await clock.advance(660_000);
  expect(accounts.authenticate(token, API_AUDIENCES)?.ok).toBe(true);
  await clock.advance(1_000);
  expect(accounts.authenticate(token, API_AUDIENCES)).toEqual({ ok: false, error: "service account token has expired" });
});

test.each([
  { name: "not valid yet", claims: { nbf: 120 }, want: "service account token is not valid yet" },
  { name: "issued in the future", claims: { iat: 120 }, want: "service account token is issued in the future" },
])("a token that is $name is refused", ({ claims, want }) => {
  const { key, accounts, clock, issue } = world();
  const now = clock.now() / 1_000;
  const shifted = Object.fromEntries(Object.entries(claims).map(([name, by]) => [name, now + by]));
  const own = readToken(issue())?.claims ?? {};
  const token = signToken(key, { ...own, ...shifted });
  expect(accounts.authenticate(token, API_AUDIENCES)).toEqual({ ok: false, error: want });
});

test("a token without a requested audience is rejected; common audiences are returned", () => {
  const { issue, accounts } = world();
  const token = issue({ audiences: ["vault", "api"] });
  expect(accounts.authenticate(token, API_AUDIENCES)).toEqual({
    ok: false,
    error: `token audiences ["vault" "api"] is invalid for the target audiences ["${ISSUER}"]`,
  });
  expect(accounts.authenticate(token, ["api", "x"])).toMatchObject({ ok: true, value: { audiences: ["api"] } });
});

test("a token is invalid after its ServiceAccount is deleted, also if another has the same name", () => {
  const { issue, accounts, store } = world();
  const token = issue();
  put(store, "/serviceaccounts", object("ServiceAccount", "sa", "u2"));
  expect(accounts.authenticate(token, API_AUDIENCES)).toEqual({ ok: false, error: "service account UID (u2) does not match claim (u1)" });
  store.write({
    collection: "/serviceaccounts",
    key: "n/sa",
    expected: store.get("/serviceaccounts", "n/sa")?.revision,
    object: undefined,
  });
  expect(accounts.authenticate(token, API_AUDIENCES)).toEqual({ ok: false, error: 'serviceaccounts "sa" not found' });
});

test("tokens of a terminating account are rejected a minute after its deletion", async () => {
  const { issue, accounts, store, clock, account } = world();
  const token = issue();
  const deletionTimestamp = new Date(clock.now()).toISOString();
  put(store, "/serviceaccounts", { ...account, metadata: { ...account.metadata, deletionTimestamp } });
  expect(accounts.authenticate(token, API_AUDIENCES)?.ok).toBe(true);
  await clock.advance(61_000);
  expect(accounts.authenticate(token, API_AUDIENCES)).toEqual({ ok: false, error: "service account n/sa has been deleted" });
});

test.each([
  { kind: "Pod", collection: "/pods", key: "n/x", bound: (one: KubeObject) => ({ pod: one }) },
  { kind: "Secret", collection: "/secrets", key: "n/x", bound: (one: KubeObject) => ({ secret: one }) },
  { kind: "Node", collection: "/nodes", key: "x", bound: () => ({ node: { name: "x", uid: "b1" } }) },
])("a token that is bound to a $kind dies with it", async ({ kind, collection, key, bound }) => {
  const { issue, accounts, store, clock } = world();
  const one = object(kind, "x", "b1");
  put(store, collection, one);
  const token = issue({ bound: bound(one) });
  expect(accounts.authenticate(token, API_AUDIENCES)?.ok).toBe(true);
  put(store, collection, { ...one, metadata: { ...one.metadata, deletionTimestamp: new Date(clock.now() - 61_000).toISOString() } });
  expect(accounts.authenticate(token, API_AUDIENCES)).toEqual({ ok: false, error: "service account token has been invalidated" });
  put(store, collection, object(kind, "x", "b2"));
  const ref = kind.toLowerCase();
  expect(accounts.authenticate(token, API_AUDIENCES)).toEqual({
    ok: false,
    error: `${ref} UID (b2) does not match service account ${ref} ref claim (b1)`,
  });
  store.write({ collection, key, expected: store.get(collection, key)?.revision, object: undefined });
  expect(accounts.authenticate(token, API_AUDIENCES)).toEqual({ ok: false, error: "service account token has been invalidated" });
});

test("the token of a pod has its pod and node as claims, and the node need not exist", () => {
  const { issue, accounts, store } = world();
  const pod = object("Pod", "p", "p1");
  put(store, "/pods", pod);
  const identified = expectOk(
    accounts.authenticate(issue({ bound: { pod, node: { name: "gone", uid: "n1" } } }), API_AUDIENCES) ?? { ok: false, error: "" },
  );
  expect([...(identified.user.extra ?? [])].map(([name, values]) => `${name.split("/")[1] ?? ""}=${values.join()}`).toSorted()).toEqual([
    "credential-id=JTI=id-1",
    "node-name=gone",
    "node-uid=n1",
    "pod-name=p",
    "pod-uid=p1",
  ]);
});

const strangers: readonly { readonly name: string; readonly change: (token: string) => string; readonly want: string | undefined }[] = [
  { name: "is no token", change: () => "plain", want: undefined },
  { name: "has four parts", change: (token) => `${token}.x`, want: undefined },
  { name: "has a header that is not JSON", change: (token) => `e${token}`, want: undefined },
  { name: "has claims that are not JSON", change: (token) => token.replace(".", ".!"), want: undefined },
  {
    name: "is of another issuer",
    change: () => signToken(createSigningKey(), { iss: "https://elsewhere" }),
    want: undefined,
  },
  {
    name: "was signed with another key",
    change: () => signToken(createSigningKey(), { iss: ISSUER }),
    want: "invalid signature, no keys found",
  },
  {
    name: "was changed",
    change: (token) => {
      const [head = "", claims = "", signature = ""] = token.split(".");
      const changed = Buffer.from(Buffer.from(claims, "base64url").toString().replace(":sa", ":sb")).toString("base64url");
      return `${head}.${changed}.${signature}`;
    },
    want: "go-jose/go-jose: error in cryptographic primitive",
  },
  {
    name: "claims to need no signature",
    change: (token) => `${Buffer.from('{"alg":"none"}').toString("base64url")}.${token.split(".")[1] ?? ""}.AAAA`,
    want: "go-jose/go-jose: error in cryptographic primitive",
  },
];

test.each(strangers)("a token that $name is rejected", ({ change, want }) => {
  const { issue, accounts } = world();
  const answer = accounts.authenticate(change(issue()), API_AUDIENCES);
  expect(answer).toEqual(want === undefined ? undefined : { ok: false, error: want });
});

test("a token without audiences is for this server", () => {
  const { key, accounts, issue } = world();
  const { aud: _, ...claims } = readToken(issue())?.claims ?? {};
  expect(accounts.authenticate(signToken(key, claims), API_AUDIENCES)?.ok).toBe(true);
});

test("the cache of tokens is bounded, and an evicted token is verified again", () => {
  const { issue, accounts } = world();
  const first = issue();
  expect(accounts.authenticate(first, API_AUDIENCES)?.ok).toBe(true);
  for (let count = 0; count < 2_001; count += 1) expect(accounts.authenticate(issue(), API_AUDIENCES)?.ok).toBe(true);
  expect(accounts.authenticate(first, API_AUDIENCES)?.ok).toBe(true);
});

test("without a key one is created when it is needed", () => {
  const { store, clock, account } = world();
  const accounts = accountTokens({ store, clock });
  const token = accounts.issue({ account, bound: {}, audiences: API_AUDIENCES, seconds: 600, warnAfter: undefined }, "i");
  expect(accounts.authenticate(token, API_AUDIENCES)?.ok).toBe(true);
  expect(accounts.publicKeys()).toMatchObject([{ alg: "ES256", kid: expect.any(String) }]);
});

test("static tokens are valid only for the server; the error lists all authenticators", () => {
  const { accounts, issue, store } = world();
  const bob = { name: "bob", uid: "", groups: ["system:authenticated"] };
  const { ofToken, userOf } = createAuthentication(accounts, (token) => (token === "bobs" ? bob : undefined));
  expect(userOf("bobs")).toBe(bob);
  expect(ofToken("bobs", ["elsewhere"])).toEqual({ ok: false, error: "invalid bearer token" });
  expect(userOf(issue())?.groups).toEqual(["system:serviceaccounts", "system:serviceaccounts:n", "system:authenticated"]);
  const token = issue();
  put(store, "/serviceaccounts", object("ServiceAccount", "sa", "u9"));
  expect(ofToken(token, API_AUDIENCES)).toEqual({
    ok: false,
    error: "[invalid bearer token, service account UID (u9) does not match claim (u1)]",
  });
  expect(userOf(token)).toBeUndefined();
});

const BASE64URL = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"];
/** Characters that Node's decoder skips, or maps to others. */
const JUNK = ["!", "=", " ", "\n", "\t", "+", "/", ".", "\u0000", "\u00e9", "\u2713"];

test("every character of a token counts: changing, adding or leaving out one makes it invalid, in every segment", () => {
  const { issue, accounts, store } = world();
  const pod = object("Pod", "p", "p1");
  put(store, "/pods", pod);
  const { userOf, ofToken } = createAuthentication(accounts);
  const tokens = [issue(), issue({ bound: { pod } })];
  for (const token of tokens) expect(userOf(token)?.name).toBe("system:serviceaccount:n:sa");
  const character = fc.constantFrom(...BASE64URL, ...JUNK);
  const edit = fc.record({ token: fc.constantFrom(...tokens), at: fc.nat(), character, removed: fc.constantFrom(0, 1) });
  fc.assert(
    fc.property(edit, ({ token, at, character: added, removed }) => {
      const place = at % (token.length + 1);
      const changed = `${token.slice(0, place)}${added}${token.slice(place + removed)}`;
      fc.pre(changed !== token);
      expect(userOf(changed)).toBeUndefined();
      expect(ofToken(changed, API_AUDIENCES).ok).toBe(false);
    }),
    { numRuns: 3_000, seed: 11 },
  );
});

test("a signature has one valid encoding: spare bits, padding and trailing characters are rejected", () => {
  const { issue, accounts } = world();
  const token = issue();
  for (const last of BASE64URL) {
    const changed = `${token.slice(0, -1)}${last}`;
    expect(accounts.authenticate(changed, API_AUDIENCES)?.ok === true, `last character ${last}`).toBe(changed === token);
  }
  for (const junk of JUNK) expect(accounts.authenticate(`${token}${junk}`, API_AUDIENCES)?.ok).not.toBe(true);
  expect(accounts.authenticate(`${token}==`, API_AUDIENCES)?.ok).not.toBe(true);
});
