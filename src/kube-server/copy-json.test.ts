import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MAX_DEPTH } from "#kube";
import { encodeFields, fieldPath, fieldSetOf } from "./apply/index.ts";
import { copyJson } from "./copy-json.ts";

describe("copyJson", () => {
  test("a copy equals the value after a round trip through JSON", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(JSON.stringify(copyJson(value))).toBe(JSON.stringify(value));
      }),
    );
  });

  test("nothing in a copy is shared", () => {
    const value = { list: [{ a: 1 }], map: { b: { c: 2 } } };
    const copy = copyJson(value) as typeof value;
    copy.list.push({ a: 2 });
    copy.map.b.c = 3;
    expect(value).toEqual({ list: [{ a: 1 }], map: { b: { c: 2 } } });
  });

  test("fieldsV1 written by the server is shared, not copied: it is frozen", () => {
    const fieldsV1 = encodeFields(fieldSetOf(fieldPath("spec", "a")));
    const own = { fieldsV1: { "f:spec": {} } };
    const copy = copyJson({ managedFields: [{ fieldsV1 }], own }) as { managedFields: [{ fieldsV1: object }]; own: typeof own };
    expect(copy.managedFields[0].fieldsV1).toBe(fieldsV1);
    expect(Object.isFrozen(fieldsV1["f:spec"])).toBe(true);
    expect(copy.own.fieldsV1).not.toBe(own.fieldsV1);
  });

  test("undefined is absence in an object, null in a list and at the top", () => {
    const copy = copyJson({ gone: undefined, list: [undefined, 1] });
    expect(copy).toStrictEqual({ list: [null, 1] });
    expect(copyJson(undefined)).toBeNull();
  });

  test("__proto__ is an ordinary name", () => {
    const copy = copyJson(JSON.parse('{"__proto__":{"polluted":true},"a":1}'));
    expect(JSON.stringify(copy)).toBe('{"__proto__":{"polluted":true},"a":1}');
    expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
  });

  test("a value that is too deep is a bug of the caller", () => {
    let deep: unknown = 1;
    for (let at = 0; at <= MAX_DEPTH; at += 1) deep = [deep];
    expect(() => copyJson(deep)).toThrow("nested deeper");
  });
});
