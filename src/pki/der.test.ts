import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { expectOk } from "#base";
import * as der from "./der.ts";
import { readChildren, readElement } from "./der-reader.ts";

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");

describe("DER elements have exactly one encoding", () => {
  const rows = [
    { name: "zero", given: der.integer(0n), want: "020100" },
    { name: "127 needs one byte", given: der.integer(127n), want: "02017f" },
    { name: "128 gets a zero in front, or it would be negative", given: der.integer(128n), want: "02020080" },
    { name: "256", given: der.integer(256n), want: "02020100" },
    { name: "true is 0xff", given: der.boolean(true), want: "0101ff" },
    { name: "false is 0x00", given: der.boolean(false), want: "010100" },
    { name: "an OID with numbers above 127", given: der.oid("1.2.840.10045.4.3.2"), want: "06082a8648ce3d040302" },
    { name: "an OID under joint-iso-itu-t", given: der.oid("2.5.29.15"), want: "0603551d0f" },
    { name: "an empty sequence", given: der.sequence(), want: "3000" },
    { name: "an octet string", given: der.octetString(Uint8Array.of(1, 2)), want: "04020102" },
    { name: "a bit string", given: der.bitString(Uint8Array.of(0xff)), want: "030200ff" },
    { name: "key usage digitalSignature", given: der.namedBits([0]), want: "03020780" },
    { name: "key usage of an authority", given: der.namedBits([0, 5, 6]), want: "03020186" },
    { name: "a bit in the second byte", given: der.namedBits([8]), want: "0303070080" },
    { name: "text", given: der.utf8String("é"), want: "0c02c3a9" },
    {
      name: "2049 has two digits",
      given: der.time(new Date("2049-12-31T23:59:59.900Z")),
      want: `170d${hex(Buffer.from("491231235959Z"))}`,
    },
    { name: "2050 has four", given: der.time(new Date("2050-01-01T00:00:00Z")), want: `180f${hex(Buffer.from("20500101000000Z"))}` },
    { name: "an explicit tag", given: der.explicitTag(0, der.integer(2n)), want: "a003020102" },
    { name: "an implicit tag", given: der.implicitTag(2, Buffer.from("a")), want: "820161" },
    { name: "a set of one", given: der.setOfOne(der.sequence()), want: "31023000" },
  ];
  test.each(rows)("$name", ({ given, want }) => {
    expect(hex(given)).toBe(want);
  });

  test("long lengths use as few bytes as possible", () => {
    expect(hex(der.octetString(Buffer.alloc(127)).subarray(0, 2))).toBe("047f");
    expect(hex(der.octetString(Buffer.alloc(128)).subarray(0, 3))).toBe("048180");
    expect(hex(der.octetString(Buffer.alloc(256)).subarray(0, 4))).toBe("04820100");
  });
});

describe("the reader", () => {
  test("decodes what the encoder wrote", () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 5 }), (contents) => {
        const written = der.sequence(...contents.map((content) => der.octetString(content)));
        const outer = expectOk(readElement(written));
        expect(outer.rest.byteLength).toBe(0);
        expect(expectOk(readChildren(outer.content)).map((child) => hex(child.content))).toEqual(contents.map(hex));
      }),
    );
  });

  test("never throws and never reads past its input, for any bytes", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
        const read = readElement(bytes);
        if (read.ok) expect(read.value.whole.byteLength + read.value.rest.byteLength).toBe(bytes.byteLength);
        readChildren(bytes);
      }),
    );
  });

  const refused = [
    { name: "nothing", given: "", want: "the element is cut off" },
    { name: "a tag alone", given: "30", want: "the element is cut off" },
    { name: "a tag of several bytes", given: "1f0100", want: "tags of several bytes are not used in certificates" },
    { name: "BER's open length", given: "30800000", want: "the length is not written in DER" },
    { name: "a length of five bytes", given: "30850000000001", want: "the length is not written in DER" },
    { name: "a length that is cut off", given: "308201", want: "the length is not written in DER" },
    { name: "a long length for a short value", given: "308101ff", want: "the length is not written in its shortest form" },
    { name: "a length with a zero in front", given: `30820081${"00".repeat(129)}`, want: "the length is not written in its shortest form" },
    { name: "content that is cut off", given: "30020", want: "the element is longer than its input" },
  ];
  test.each(refused)("rejects $name", ({ given, want }) => {
    expect(readElement(Buffer.from(given, "hex"))).toEqual({ ok: false, error: want });
  });

  test("stops at a limit of elements", () => {
    expect(readChildren(Buffer.from("050005000500", "hex"), 2)).toEqual({ ok: false, error: "more than 2 elements" });
  });
});
