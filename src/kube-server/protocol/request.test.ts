import { expect, test } from "vitest";
import { bodyText } from "./request.ts";

const text = (body: string | Uint8Array) =>
  bodyText({ method: "POST", path: "/", query: new URLSearchParams(), headers: {}, body, user: { name: "", uid: "", groups: [] } });

test.each([
  { name: "a whole character that is written in two halves stays", given: String.raw`{"a":"\ud83d\ude00"}`, want: { a: "😀" } },
  { name: "half of one becomes the sign for it", given: String.raw`{"a":"x\ud800y\udc00\uD800"}`, want: { a: "x\ufffdy\ufffd\ufffd" } },
  { name: "two first halves are two signs", given: String.raw`{"a":"\ud83d\ud83d\ude00"}`, want: { a: "\ufffd😀" } },
  { name: "what only looks like an escape stays", given: String.raw`{"a":"\\ud800"}`, want: { a: String.raw`\ud800` } },
  { name: "a half that was not escaped is none either", given: '{"a":"\ud800"}', want: { a: "\ufffd" } },
])("$name", ({ given, want }) => {
  expect(JSON.parse(text(given))).toEqual(want);
  expect(JSON.parse(text(new TextEncoder().encode(given)))).toEqual(want);
});
