import { expect, test } from "vitest";
import { err, ok } from "./result.ts";
import { textOfBytes, textOfFile } from "./utf8.ts";

test("invalid UTF-8 is an error, and never replaced", () => {
  expect(textOfBytes(new Uint8Array([0x63, 0xe9]))).toEqual(err("is no UTF-8 text"));
  expect(textOfFile(new Uint8Array([0xff]))).toEqual(err("is no UTF-8 text"));
});

test("a byte order mark is kept in a value and removed from a file", () => {
  const marked = new Uint8Array([0xef, 0xbb, 0xbf, 0x61]);
  expect(textOfBytes(marked)).toEqual(ok("\uFEFFa"));
  expect(textOfFile(marked)).toEqual(ok("a"));
});
