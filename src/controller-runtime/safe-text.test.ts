import fc from "fast-check";
import { expect, test } from "vitest";
import { MAX_TEXT_BYTES, safeText } from "./safe-text.ts";

const rows = [
  { name: "plain text stays", given: "2 of 3 machines run", want: "2 of 3 machines run" },
  { name: "bearer tokens", given: "sent Authorization: Bearer abcdefgh12345 to it", want: "sent Authorization: Bearer [redacted] to it" },
  { name: "passwords in key=value", given: "dsn host=a password=hunter2 user=b", want: "dsn host=a password=[redacted] user=b" },
  { name: "tokens in JSON", given: '{"token":"s3cr3t","a":1}', want: '{"token":"[redacted]","a":1}' },
  { name: "passwords in URLs", given: "postgres://app:hunter2@db:5432/x refused", want: "postgres://app:[redacted]@db:5432/x refused" },
  {
    name: "the name of a variable in a sentence is no secret",
    given: "template error in container 'main' variable 'TOKEN': config has no field 'x'; TOKEN: s3cr3t",
    want: "template error in container 'main' variable 'TOKEN': config has no field 'x'; TOKEN: [redacted]",
  },
  { name: "JSON web tokens", given: "got eyJhbGciOiJI.eyJzdWIiOiIx.c2ln back", want: "got [redacted] back" },
  {
    name: "keys, also when they are cut off",
    given: "bad -----BEGIN PRIVATE KEY-----\nMIIabc\n-----END PRIVATE KEY----- and -----BEGIN EC PRIVATE KEY-----\nMII",
    want: "bad [redacted] and [redacted]",
  },
];

test.each(rows)("removes secrets: $name", ({ given, want }) => {
  expect(safeText(given)).toBe(want);
});

test("text is cut to a kibibyte of UTF-8, never inside a character", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: "grapheme", minLength: 0, maxLength: 3_000 }),
      fc.integer({ min: 8, max: MAX_TEXT_BYTES }),
      (text, max) => {
        const cut = safeText(text, max);
        expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(max);
        expect(cut.isWellFormed()).toBe(true);
      },
    ),
  );
  expect(safeText("ä".repeat(1_000))).toBe(`${"ä".repeat(510)}…`);
});
