import { expect, test } from "vitest";
import { base64OfBytes, err, ok } from "#base";
import type { KubeObject } from "#kube";
import { secretOfPath, secretText, secretTexts } from "./secret-values.ts";

const LATIN = base64OfBytes(new Uint8Array([0x63, 0xe9]));
const secret = (fields: object): KubeObject => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name: "db", namespace: "shop" },
  ...fields,
});
const read = (fields: object, key: string) => secretText(secretTexts(secret(fields)), { namespace: "shop", name: "db", key });

test("the last part of a path is the key, and the parts before it are the name", () => {
  expect(secretOfPath("postgres/main-db/password")).toEqual({ name: "postgres-main-db", key: "password" });
});

test.each([
  { name: "base64 text of data", fields: { data: { a: btoa("one") } }, want: ok("one") },
  { name: "plain text of stringData", fields: { stringData: { a: "one" } }, want: ok("one") },
  { name: "stringData before data", fields: { data: { a: btoa("one") }, stringData: { a: "two" } }, want: ok("two") },
  { name: "no text of a key that is not there", fields: { data: {} }, want: ok(undefined) },
  { name: "no text of a value that is not base64", fields: { data: { a: "%" } }, want: ok(undefined) },
  { name: "no text of a value that is not a string", fields: { data: { a: 1 } }, want: ok(undefined) },
])("a Secret gives $name", ({ fields, want }) => expect(read(fields, "a")).toEqual(want));

test("a value that is not UTF-8 is refused, and never changed", () => {
  const why = "key 'a' of Secret shop/db is not UTF-8 text, so no template can contain it\nmount it as a volume (secret:db)";
  expect(read({ data: { a: LATIN } }, "a")).toEqual(err(why));
});

test("printing the map does not print its values", () => {
  expect(JSON.stringify([...secretTexts(secret({ data: { a: btoa("hunter2") } }))])).not.toContain("hunter2");
});
