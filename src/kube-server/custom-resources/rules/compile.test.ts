/** Compile errors of expressions, with cel-go's messages. Every row was checked against kube-apiserver 1.36.3. */
import { describe, expect, test } from "vitest";
import { parseExpression } from "#cel";
import { crdOfSpec, refusalsOf } from "../widget.test-support.ts";

const FIELDS = {
  s: { type: "string" },
  i: { type: "integer" },
  d: { type: "number" },
  b: { type: "boolean" },
  l: { type: "array", maxItems: 10, items: { type: "string", maxLength: 10 } },
  m: { type: "object", maxProperties: 10, additionalProperties: { type: "integer" } },
  o: { type: "object", properties: { x: { type: "string" } } },
  ios: { "x-kubernetes-int-or-string": true },
  ts: { type: "string", format: "date-time" },
};

/** ANTLR's list of the tokens that can start an expression. */
const AN_EXPRESSION = "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";

const ROWS: readonly (readonly [rule: string, want: string])[] = [
  ["self.s ==", "ERROR: <input>:1:10: Syntax error: mismatched input '<EOF>' expecting an expression"],
  ["self.s == 'a", "ERROR: <input>:1:11: Syntax error: token recognition error at: ''a'"],
  ['self.s == "a', "ERROR: <input>:1:11: Syntax error: token recognition error at: '\"a'"],
  ["self.s = 'a'", "ERROR: <input>:1:8: Syntax error: token recognition error at: '= '"],
  ["self.s &", "ERROR: <input>:1:8: Syntax error: token recognition error at: '&'"],
  ["self.s && ", "ERROR: <input>:1:11: Syntax error: mismatched input '<EOF>' expecting an expression"],
  ["(self.s", "ERROR: <input>:1:8: Syntax error: missing ')' at '<EOF>'"],
  ["self.s)", "ERROR: <input>:1:7: Syntax error: extraneous input ')' expecting <EOF>"],
  ["[1,2", "ERROR: <input>:1:5: Syntax error: mismatched input '<EOF>' expecting {']', ','}"],
  ["{1:2", "ERROR: <input>:1:5: Syntax error: mismatched input '<EOF>' expecting {'}', ','}"],
  ["{'a' 1}", "ERROR: <input>:1:6: Syntax error: missing ':' at '1'"],
  ["self.l.all(x, x", "ERROR: <input>:1:16: Syntax error: missing ')' at '<EOF>'"],
  ["self.", "ERROR: <input>:1:6: Syntax error: no viable alternative at input '.'"],
  ["self..s", "ERROR: <input>:1:6: Syntax error: no viable alternative at input '..'"],
  ["self.s + ", "ERROR: <input>:1:10: Syntax error: mismatched input '<EOF>' expecting an expression"],
  ["#", "ERROR: <input>:1:1: Syntax error: token recognition error at: '#'"],
  ["self.s == 'a' 'b'", "ERROR: <input>:1:15: Syntax error: extraneous input ''b'' expecting <EOF>"],
  ["1 2", "ERROR: <input>:1:3: Syntax error: extraneous input '2' expecting <EOF>"],
  ["a b c", "ERROR: <input>:1:3: Syntax error: mismatched input 'b' expecting <EOF>"],
  ["if(true)", "ERROR: <input>:1:1: reserved identifier: if"],
  ["for", "ERROR: <input>:1:1: reserved identifier: for"],
  ["self.namespace == 'x'", "ERROR: <input>:1:5: undefined field 'namespace'"],
  [
    "self.s.size(",
    "ERROR: <input>:1:13: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', ')', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}",
  ],
  [
    "self.s.size(,)",
    "ERROR: <input>:1:13: Syntax error: extraneous input ',' expecting {'[', '{', '(', ')', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}",
  ],
  ["true ? 1", "ERROR: <input>:1:9: Syntax error: mismatched input '<EOF>' expecting ':'"],
  ["true ? 1 :", "ERROR: <input>:1:11: Syntax error: mismatched input '<EOF>' expecting an expression"],
  [
    "self.l[",
    "ERROR: <input>:1:8: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', '?', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}",
  ],
  ["self.l[0", "ERROR: <input>:1:9: Syntax error: missing ']' at '<EOF>'"],
  ["self.l.all(1, true)", "ERROR: <input>:1:12: argument must be a simple name"],
  ["self.l.all(x)", "ERROR: <input>:1:11: undeclared reference to 'all' (in container '')"],
  ["has(self)", "ERROR: <input>:1:5: invalid argument to has() macro"],
  ["has(self.s, 1)", "ERROR: <input>:1:4: undeclared reference to 'has' (in container '')"],
  ["self.l.exists_one(x.y, true)", "ERROR: <input>:1:20: argument must be a simple name"],
  ["self.l.map(x)", "ERROR: <input>:1:11: undeclared reference to 'map' (in container '')"],
  ["'\\q'", "ERROR: <input>:1:1: Syntax error: token recognition error at: ''\\q'"],
  ["0xZZ", "ERROR: <input>:1:2: Syntax error: extraneous input 'xZZ' expecting <EOF>"],
  ["9999999999999999999", "ERROR: <input>:1:1: invalid int literal"],
  ["1.5.5", "ERROR: <input>:1:4: Syntax error: extraneous input '.5' expecting <EOF>"],
  ["1e", "ERROR: <input>:1:2: Syntax error: extraneous input 'e' expecting <EOF>"],
  ["b'a", "ERROR: <input>:1:2: Syntax error: token recognition error at: ''a'"],
  ["r'a", "ERROR: <input>:1:2: Syntax error: token recognition error at: ''a'"],
  ["`a`", "ERROR: <input>:1:1: Syntax error: mismatched input '`a`' expecting an expression"],
  ["self.`a`", "ERROR: <input>:1:6: unsupported syntax: '`'"],
  ["$x", "ERROR: <input>:1:1: Syntax error: token recognition error at: '$'"],
  ["self.s == 'a' || ", "ERROR: <input>:1:18: Syntax error: mismatched input '<EOF>' expecting an expression"],
  ["self.s ? ", "ERROR: <input>:1:10: Syntax error: mismatched input '<EOF>' expecting an expression"],
  ["a.b.c{x: 1}", "ERROR: <input>:1:6: undeclared reference to 'a.b.c' (in container '')"],
  ["self in", "ERROR: <input>:1:8: Syntax error: mismatched input '<EOF>' expecting an expression"],
  ["self.s == 'äö' + 1 + ü", "ERROR: <input>:1:22: Syntax error: token recognition error at: 'ü'"],
  [" \n self.s ==\n  5 +", "ERROR: <input>:3:6: Syntax error: mismatched input '<EOF>' expecting an expression"],
  ["foo(1)", "ERROR: <input>:1:4: undeclared reference to 'foo' (in container '')"],
  ["self.foo(1)", "ERROR: <input>:1:9: undeclared reference to 'foo' (in container '')"],
  ["self.l.all(x, x == 1)", "ERROR: <input>:1:17: found no matching overload for '_==_' applied to '(string, int)'"],
  ["self.l.filter(x, 1)", "ERROR: <input>:1:14: found no matching overload for '_?_:_' applied to '(int, list(string), list(string))'"],
  ["self.s.matches('(')", "ERROR: <input>:1:16: invalid matches argument"],
  ["duration('x')", "ERROR: <input>:1:10: invalid duration argument"],
  ["timestamp('x')", "ERROR: <input>:1:11: invalid timestamp argument"],
  ["[1, 'a']", "ERROR: <input>:1:5: expected type 'int' but found 'string'"],
  ["{'a': 1, 'b': 'c'}", "ERROR: <input>:1:15: expected type 'int' but found 'string'"],
  ["self.i + 1.5", "ERROR: <input>:1:8: found no matching overload for '_+_' applied to '(int, double)'"],
  ["self.d + 1 > 0.0", "ERROR: <input>:1:8: found no matching overload for '_+_' applied to '(double, int)'"],
  ["self.i == 'a'", "ERROR: <input>:1:8: found no matching overload for '_==_' applied to '(int, string)'"],
  ["self.l == self.m", "ERROR: <input>:1:8: found no matching overload for '_==_' applied to '(list(string), map(string, int))'"],
  ["self.x.y", "ERROR: <input>:1:5: undefined field 'x'"],
  ["self.s.y", "ERROR: <input>:1:7: type 'string' does not support field selection"],
  ["self.i.y", "ERROR: <input>:1:7: type 'int' does not support field selection"],
  ["self.m.foo > 'a'", "ERROR: <input>:1:12: found no matching overload for '_>_' applied to '(int, string)'"],
  ["self.?s.orValue('a') == 5", "ERROR: <input>:1:22: found no matching overload for '_==_' applied to '(string, int)'"],
  ["self.ts > '2020'", "ERROR: <input>:1:9: found no matching overload for '_>_' applied to '(timestamp, string)'"],
  ["size(self.i)", "ERROR: <input>:1:5: found no matching overload for 'size' applied to '(int)'"],
  ["self.b + self.b", "ERROR: <input>:1:8: found no matching overload for '_+_' applied to '(bool, bool)'"],
  ["!self.s", "ERROR: <input>:1:1: found no matching overload for '!_' applied to '(string)'"],
  ["-self.s", "ERROR: <input>:1:1: found no matching overload for '-_' applied to '(string)'"],
  ["self.s && self.b", "ERROR: <input>:1:5: expected type 'bool' but found 'string'"],
  ["self.b ? 1 : 'a'", "ERROR: <input>:1:8: found no matching overload for '_?_:_' applied to '(bool, int, string)'"],
  ["self.b && (self.b ? 1 : 2)", "ERROR: <input>:1:19: expected type 'bool' but found 'int'"],
  ["self.l[self.s]", "ERROR: <input>:1:7: found no matching overload for '_[_]' applied to '(list(string), string)'"],
  ["self.m[1]", "ERROR: <input>:1:7: found no matching overload for '_[_]' applied to '(map(string, int), int)'"],
  ["string(self.l)", "ERROR: <input>:1:7: found no matching overload for 'string' applied to '(list(string))'"],
  ["int(self.b)", "ERROR: <input>:1:4: found no matching overload for 'int' applied to '(bool)'"],
  ["self.l.map(x, x + 1)", "ERROR: <input>:1:17: found no matching overload for '_+_' applied to '(string, int)'"],
  ["self.l.exists(x, x.startsWith(1))", "ERROR: <input>:1:30: found no matching overload for 'startsWith' applied to 'string.(int)'"],
  ["self.l.sum() > 1", "ERROR: <input>:1:11: found no matching overload for 'sum' applied to 'list(string).()'"],
  ["self.l.max() == 1", "ERROR: <input>:1:14: found no matching overload for '_==_' applied to '(string, int)'"],
  [
    "quantity('1') > quantity('2')",
    "ERROR: <input>:1:15: found no matching overload for '_>_' applied to '(kubernetes.Quantity, kubernetes.Quantity)'",
  ],
  ["ip('1').family() == 'a'", "ERROR: <input>:1:18: found no matching overload for '_==_' applied to '(int, string)'"],
  ["unknown", "ERROR: <input>:1:1: undeclared reference to 'unknown' (in container '')"],
  ["cel.bind(x, 1, x == 1)", "ERROR: <input>:1:1: undeclared reference to 'cel' (in container '')"],
  ["self.m.all(k, v, v > 'a')", "ERROR: <input>:1:20: found no matching overload for '_>_' applied to '(int, string)'"],
  [
    "sets.contains(self.l, [1])",
    "ERROR: <input>:1:14: found no matching overload for 'sets.contains' applied to '(list(string), list(int))'",
  ],
  ["math.greatest(1,2) == 2", "ERROR: <input>:1:1: undeclared reference to 'math' (in container '')"],
  ["base64.decode('a') == b'a'", "ERROR: <input>:1:1: undeclared reference to 'base64' (in container '')"],
  ["Foo{a: 1}", "ERROR: <input>:1:4: undeclared reference to 'Foo' (in container '')"],
];

function refusal(rule: string): string {
  return refusalsOf(crdOfSpec(FIELDS, { "x-kubernetes-validations": [{ rule, message: "m" }] })).join("\n");
}

describe("a rule that does not compile", () => {
  test.each(ROWS)("%s: %s", (rule, want) => {
    expect(refusal(rule)).toContain(want.replace("an expression", AN_EXPRESSION));
  });

  test("is shown with its line and a caret", () => {
    expect(refusal(" \n self.s ==\n  5 +")).toContain("\n |   5 +\n | .....^");
  });

  test("is shown with wide dots under characters beyond ASCII", () => {
    expect(refusal("self.s == 'äö' + 1 + ü")).toContain("\n | ...........．．........＾");
  });

  test("lists every error in the order of the text", () => {
    const lines = refusal("cel.bind(x, 1, x == 1)")
      .split("\n")
      .filter((line) => line.includes("ERROR"));
    expect(lines.map((line) => /<input>:1:(\d+)/.exec(line)?.[1])).toEqual(["1", "9", "10", "16"]);
  });
});

describe("the parser", () => {
  const depths = [
    { name: "a sum of 250", given: `${"1 + ".repeat(249)}1 > 0`, want: true },
    { name: "a sum of 251, because it is itself one side of a relation", given: `${"1 + ".repeat(250)}1 > 0`, want: false },
    { name: "a product of 5,000", given: `${"1 * ".repeat(4_999)}1`, want: false },
    { name: "251 relations", given: `${"true == ".repeat(250)}true`, want: true },
    { name: "252 relations", given: `${"true == ".repeat(251)}true`, want: false },
    { name: "sums inside sums, on the left", given: `${"(".repeat(20)}1${`${" + 1".repeat(20)})`.repeat(20)} > 0`, want: false },
    { name: "sums inside sums, on the right", given: `${"1 + ".repeat(130)}(${"1 + ".repeat(110)}1) > 0`, want: true },
    { name: "selections", given: `a${".b".repeat(251)}`, want: false },
    { name: "5,001 times not", given: `${"!".repeat(5_001)}true`, want: true },
    { name: "optional values that double with every step", given: `optional.of(1)${".optMap(x, x)".repeat(40)}`, want: false },
  ];
  test.each(depths)("has the depth limit of the real one: $name", ({ given, want }) => {
    expect(parseExpression(given).ok).toBe(want);
  });

  test("reports errors of the whole expression at line -1", () => {
    const deep = parseExpression(`${"1 + ".repeat(5_000)}1`);
    expect(deep).toEqual({ ok: false, error: "ERROR: <input>:-1:0: max recursion depth exceeded" });
    const long = parseExpression(`[${"1,".repeat(60_000)}1]`);
    expect(long).toEqual({ ok: false, error: "ERROR: <input>:-1:0: expression code point size exceeds limit: size: 120003, limit 100000" });
  });

  test.each([
    ["brackets", "(".repeat(400) + "1" + ")".repeat(400)],
    ["lists", "[".repeat(400) + "]".repeat(400)],
    ["conditions", "true ? 1 : ".repeat(400) + "1"],
  ])("refuses %s nested too deep instead of overflowing the stack", (_, text) => {
    const parsed = parseExpression(text);
    expect(parsed.ok ? "" : parsed.error).toContain("expression recursion limit exceeded: 250");
  });

  test("does not count a long chain of && as depth", () => {
    expect(parseExpression(Array.from({ length: 1_000 }, () => "true").join(" && ")).ok).toBe(true);
  });
});
