import { describe, expect, test } from "vitest";
import {
  applyJsonPatchText,
  applyMergePatchText,
  applyStrategicMergePatchText,
  createMergePatchText,
  createThreeWayMergePatchText,
  createThreeWayStrategicPatchText,
  createTwoWayStrategicPatchText,
  sortMergeListsText,
  structuralSchema,
} from "./index.ts";

const rules = { "x-kubernetes-patch-strategy": "merge" };
const schema = structuralSchema(
  { properties: { list: { type: "array", ...rules }, named: { type: "array", ...rules, "x-kubernetes-patch-merge-key": "n" } } },
  "Numbers",
);
const apply = (original: string, patch: string) => applyStrategicMergePatchText(original, patch, schema);

describe("numbers in text", () => {
  test.each([
    { name: "the greatest int64", text: '{"n":9223372036854775807}', want: '{"n":9223372036854775807}' },
    { name: "the smallest int64", text: '{"n":-9223372036854775808}', want: '{"n":-9223372036854775808}' },
    { name: "one more is a float, printed as Go prints it", text: '{"n":9223372036854775808}', want: '{"n":9223372036854776000}' },
    { name: "a float with a whole value", text: '{"n":1.0}', want: '{"n":1}' },
    { name: "an exponent", text: '{"n":1e3}', want: '{"n":1000}' },
    { name: "float64 max", text: '{"n":1.7976931348623157e+308}', want: '{"n":1.7976931348623157e+308}' },
    { name: "small floats", text: '{"n":0.0000001}', want: '{"n":1e-7}' },
    { name: "digits inside text are left alone", text: '{"n":"12345678901234567890, 1.0]"}', want: '{"n":"12345678901234567890, 1.0]"}' },
    { name: "minus zero", text: '{"a":-0.0,"b":-0}', want: '{"a":-0,"b":0}' },
  ])("$name", ({ text, want }) => {
    expect(apply(text, "{}")).toEqual({ ok: true, value: want });
    expect(apply("{}", text)).toEqual({ ok: true, value: want });
  });

  test("big numbers that differ are different, and equal ones are equal", () => {
    expect(createTwoWayStrategicPatchText('{"n":9007199254740993,"f":1.0}', '{"n":9007199254740992,"f":1.0}', schema)).toEqual({
      ok: true,
      value: '{"n":9007199254740992}',
    });
    expect(apply('{"list":[9007199254740993]}', '{"list":[9007199254740993,9007199254740992]}')).toEqual({
      ok: true,
      value: '{"list":[9007199254740993,9007199254740992]}',
    });
    expect(apply('{"named":[{"n":2.0,"a":1}]}', '{"named":[{"n":2.0,"b":1}]}')).toEqual({
      ok: true,
      value: '{"named":[{"a":1,"b":1,"n":2}]}',
    });
  });

  test("1 and 1.0 are different types, as in Go", () => {
    expect(apply('{"list":[1]}', '{"list":[1.0]}')).toMatchObject({
      ok: false,
      error: { message: "list element types are not identical: [[1] [1]]" },
    });
    expect(createTwoWayStrategicPatchText('{"n":1}', '{"n":1.0}', schema)).toEqual({ ok: true, value: '{"n":1}' });
  });

  test("a number beyond the range of float64 is invalid JSON, as in Go", () => {
    expect(apply('{"n":1e999}', "{}")).toMatchObject({ ok: false, error: { kind: "bad-json" } });
  });

  test.each([
    { n: "1.5e-7", want: "map[$patch:1.5e-07]" },
    { n: "1e21", want: "map[$patch:1e+21]" },
    { n: "0.25", want: "map[$patch:0.25]" },
    { n: "null", want: "map[$patch:<nil>]" },
    { n: "true", want: "map[$patch:true]" },
    { n: "9223372036854775807", want: "map[$patch:9223372036854775807]" },
  ])("messages print $n as Go does", ({ n, want }) => {
    expect(apply("{}", `{"$patch":${n}}`)).toMatchObject({ ok: false, error: { message: expect.stringContaining(want) as string } });
  });
});

describe("text to text", () => {
  test("fields are printed sorted, also those that look like an index", () => {
    expect(apply('{"b":{"y":1,"x":2},"10":1,"9":2}', '{"a":1}')).toEqual({ ok: true, value: '{"10":1,"9":2,"a":1,"b":{"x":2,"y":1}}' });
    expect(apply('{"c":[{"b":1,"a":{"z":1,"y":2}}],"b":{"a":{"d":1,"c":1}}}', '{"a":1}')).toEqual({
      ok: true,
      value: '{"a":1,"b":{"a":{"c":1,"d":1}},"c":[{"a":{"y":2,"z":1},"b":1}]}',
    });
  });

  test.each(["<no json>", "[1]", "1", ""])("%s is not a valid document", (text) => {
    expect(apply(text, "{}")).toEqual({ ok: false, error: { kind: "bad-json", message: "invalid JSON document" } });
    expect(apply("{}", text).ok).toBe(false);
  });

  test("null is an empty document; so is empty text when a patch is created", () => {
    expect(apply("null", '{"a":1}')).toEqual({ ok: true, value: '{"a":1}' });
    expect(createTwoWayStrategicPatchText("", '{"a":1}', schema)).toEqual({ ok: true, value: '{"a":1}' });
  });

  test("every function has its text variant", () => {
    expect(createThreeWayStrategicPatchText({ original: '{"a":1}', modified: '{"b":1}', current: '{"a":1}' }, schema)).toEqual({
      ok: true,
      value: '{"a":null,"b":1}',
    });
    expect(sortMergeListsText('{"list":[2,1]}', schema)).toEqual({ ok: true, value: '{"list":[1,2]}' });
    expect(applyMergePatchText('{"b":1,"a":9007199254740993}', '{"b":null}')).toEqual({ ok: true, value: '{"a":9007199254740993}' });
    expect(createMergePatchText('{"a":9007199254740993}', '{"a":9007199254740992}')).toEqual({ ok: true, value: '{"a":9007199254740992}' });
    expect(createThreeWayMergePatchText({ original: '{"a":1}', modified: "", current: '{"a":1}' })).toEqual({
      ok: true,
      value: '{"a":null}',
    });
    expect(applyJsonPatchText('{"a":1}', '[{"op":"add","path":"/b","value":9007199254740993}]')).toEqual({
      ok: true,
      value: '{"a":1,"b":9007199254740993}',
    });
  });
});
