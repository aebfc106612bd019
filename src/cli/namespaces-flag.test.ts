import { expect, test } from "vitest";
import { MOST_NAMESPACES, parseNamespaces } from "./namespaces-flag.ts";

const many = Array.from({ length: MOST_NAMESPACES + 1 }, (_, at) => `n${at}`).join(",");

test.each([
  { name: "without the flag: the whole cluster", given: undefined, want: { ok: true, value: undefined } },
  {
    name: "names are separated by commas; spaces and repeats are ignored",
    given: "a, b,a",
    want: { ok: true, value: ["a", "b"] },
  },
  { name: "an empty name is refused", given: "a,", want: { ok: false, error: expect.stringMatching(/^--namespaces: /) as string } },
  { name: "an invalid name is refused", given: "A_b", want: { ok: false, error: expect.stringMatching(/^--namespaces: "A_b"/) as string } },
  {
    name: "a system namespace is refused",
    given: "shop,kube-system",
    want: { ok: false, error: "--namespaces: kube-system is a system namespace, which Lattice never changes; leave it out" },
  },
  {
    name: "too many are refused",
    given: many,
    want: { ok: false, error: "--namespaces: has 101 namespaces, at most 100 are supported; leave it out to work in all of them" },
  },
])("$name", ({ given, want }) => {
  expect(parseNamespaces(given)).toEqual(want);
});
