import { expect, test } from "vitest";
import { bodyText } from "./request.ts";

const text = (body: string | Uint8Array) =>
  bodyText({ method: "POST", path: "/", query: new URLSearchParams(), headers: {}, body, user: { name: "", uid: "", groups: [] } });

test.each([
  { name: "an escaped surrogate pair is one character", given: String.raw`{"a":"\ud83d\ude00"}`, want: { a: "😀" } },
  {
    name: "an escaped lone surrogate becomes U+FFFD",
    given: String.raw`{"a":"x\ud800y\udc00\uD800"}`,
    want: { a: "x\ufffdy\ufffd\ufffd" },
  },
  {
    name: "two high surrogates before a low one are U+FFFD and a pair",
    given: String.raw`{"a":"\ud83d\ud83d\ude00"}`,
    want: { a: "\ufffd😀" },
  },
  { name: "an escaped backslash is no escape", given: String.raw`{"a":"\\ud800"}`, want: { a: String.raw`\ud800` } },
  { name: "an unescaped lone surrogate becomes U+FFFD", given: '{"a":"\ud800"}', want: { a: "\ufffd" } },
])("$name", ({ given, want }) => {
  expect(JSON.parse(text(given))).toEqual(want);
  expect(JSON.parse(text(new TextEncoder().encode(given)))).toEqual(want);
});
