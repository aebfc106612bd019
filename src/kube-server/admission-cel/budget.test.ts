/** The limits of one evaluation: cost before work, sizes of values, work without a cost in Kubernetes, and time. */
import { describe, expect, test } from "vitest";
import { expectOk } from "#base";
import type { Json } from "#kube";
import { CelFailure, Effort, Meter, type Run } from "#cel";
import { compile } from "./compile.ts";
import { jsonValue } from "./json-values.ts";

const COST = "operation cancelled: actual cost limit exceeded";
const WORK = "operation interrupted: the expression needs more work than one evaluation may do";
const LONG = "operation cancelled: a string may have at most 4194304 characters";

function run(text: string, object: Json = {}, effort = new Effort()): Run {
  const compiled = expectOk(compile(text, { returns: "anything" }).compiled);
  return compiled.run(new Map([["object", jsonValue(object)]]), { effort });
}

function valueOf(text: string, object: Json = {}): unknown {
  const { value } = run(text, object);
  return value instanceof CelFailure ? value.message : value;
}

const many = (length: number): Json => Array.from({ length }, (_, at) => at);
const keys = (length: number): Json => Object.fromEntries(Array.from({ length }, (_, at) => [`k${at}`, "v"]));
const nested = (depth: number): Json => {
  let value: Json = 1;
  for (let at = 0; at < depth; at++) value = [value];
  return value;
};
const object: Json = {
  list: many(100_000),
  data: keys(20_000),
  long: "ab".repeat(500_000),
  unicode: "aé😀".repeat(100_000),
  wide: "é".repeat(2_500_000),
  commas: ",".repeat(1_000_001),
  same: "a".repeat(200_000),
  inner: `${"a".repeat(50_000)}b${"a".repeat(50_000)}`,
  pattern: "(a{1,100}){1,10}[cd]",
  url: `http://a/?${"a=b&".repeat(100_000)}`,
};
const deep: Json = { deep: nested(60_000) };

describe("a call is charged before it is made", () => {
  test.each([
    { text: "sets.equivalent(lists.range(20000), lists.range(20000))", cost: 800_000_000 },
    { text: "sets.contains(lists.range(2000), lists.range(2000))", cost: 4_000_000 },
    { text: "sets.intersects(lists.range(2000), lists.range(2000))", cost: 4_000_000 },
    { text: "lists.range(10000).distinct()", cost: 200_000_000 },
    { text: "lists.range(10000).sort()", cost: 200_000_000 },
    { text: "lists.range(5000).map(i, string(i)).sort()", cost: 52_500_000 },
    { text: "lists.range(10000).sortBy(i, -i)", cost: 200_000_000 },
    { text: "lists.range(9223372036854775807)", cost: 9e18 },
    { text: "object.list.map(i, 'text').join(object.long)", cost: 1_000_000 },
    { text: "object.long.contains(object.inner)", cost: 1_000_000_000 },
    { text: "object.long.matches(object.inner)", cost: 2_500_000_000 },
    { text: "format.dns1123Label().validate(object.long).hasValue()", cost: 3_200_000 },
  ])("$text", ({ text, cost }) => {
    const made = run(text, object);
    expect(made.value).toMatchObject({ message: COST, fatal: true });
    expect(made.cost).toBeGreaterThanOrEqual(cost);
  });

  test.each([
    { text: "b'ab' + b'cd'", want: 1 },
    { text: "bytes('0123456789a')", want: 2 },
    { text: "string(b'0123456789a')", want: 2 },
    { text: "strings.quote('0123456789a')", want: 2 },
    { text: "b'ab' < b'cd'", want: 1 },
    { text: "[1, 2, 3].sum()", want: 13 },
    { text: "'0123456789a'.indexOf('a')", want: 1 },
    { text: "lists.range(10).reverse()", want: 42 },
    { text: "lists.range(10).slice(2, 5)", want: 35 },
    { text: "[[1], [2]].flatten()", want: 43 },
    { text: "['ab', 'cd'].join(',')", want: 11 },
    { text: "'c' in ['a', 'b', 'c']", want: 13 },
    { text: "'d' in ['a', 'b', 'c']", want: 13 },
    { text: "isIP('127.0.0.1')", want: 1 },
    { text: "ip.isCanonical('127.0.0.1')", want: 2 },
    { text: "cidr('10.0.0.0/8').containsIP('10.0.0.1')", want: 3 },
    { text: "cidr('10.0.0.0/8').containsCIDR(cidr('10.0.0.0/9'))", want: 5 },
    { text: "cidr('10.0.0.0/8').ip() == ip('10.0.0.0')", want: 4 },
    { text: "quantity('1') == quantity('1')", want: 3 },
  ])("$text costs $want, as on a real server", ({ text, want }) => {
    expect(run(text).cost).toBe(want);
  });
});

describe("a list that is a literal", () => {
  test.each([
    { text: "'c' in ['a', 'b', 'c']", want: true },
    { text: "'d' in ['a', 'b', 'c']", want: false },
    { text: "object.text + '/c' in ['a', 'b/c']", want: true },
    { text: "object.number in ['1', 'b']", want: false },
    { text: "['a', 'b'] + ['c'] == ['a', 'b', 'c']", want: true },
    { text: "['a', 'b'].map(x, x + 'c').size()", want: 2n },
    { text: "'a' in []", want: false },
    { text: "'a' in [?optional.none(), 'b']", want: false },
  ])("$text", ({ text, want }) => {
    expect(valueOf(text, { text: "b", number: 1 })).toEqual(want);
  });
});

describe("values are limited", () => {
  test.each([
    { text: "object.long.replace('', object.long)", want: LONG },
    { text: "object.long.replace('a', object.long)", want: LONG },
    { text: "'%s%s%s%s%s'.format([object.long, object.long, object.long, object.long, object.long])", want: LONG },
    { text: "object.long + object.long + object.long + object.long + object.long", want: COST },
    { text: "[object.long, object.long].join(object.long).size()", want: 3_000_000n },
    { text: "[object.long, object.long, object.long].join(object.long).size()", want: COST },
    { text: 'strings.quote(object.long.replace(\'a\', \'"""""\'))', want: LONG },
    { text: "bytes(object.wide).size()", want: "operation cancelled: a value of type bytes may have at most 4194304 bytes" },
    {
      text: "lists.range(11).map(i, object.list).flatten().size()",
      want: "operation cancelled: a list may have at most 1000000 items",
    },
    {
      text: "[object.list].map(a, a + a).map(a, a + a).map(a, a + a).map(a, a + a)[0].size()",
      want: "operation cancelled: a list may have at most 1000000 items",
    },
    { text: "(object.long + 'a').split('').size()", want: "operation cancelled: a list may have at most 1000000 items" },
    { text: "object.commas.split(',').size()", want: "operation cancelled: a list may have at most 1000000 items" },
  ])("$text", ({ text, want }) => {
    expect(valueOf(text, object)).toEqual(want);
  });
});

describe("work without a cost in Kubernetes is limited", () => {
  test.each([
    "lists.range(10000).all(i, object == object)",
    "lists.range(10000).all(i, object.list == object.list)",
    "lists.range(10000).all(i, object.data == object.data)",
    "lists.range(10000).all(i, (object.list + object.list).size() > 0)",
    "lists.range(10000).all(i, object.unicode.charAt(90000) != '')",
    "lists.range(10000).all(i, '%s'.format([object.data]) != '')",
    "lists.range(10000).all(i, url(object.url.substring(0, 4)) == null || true)",
    "lists.range(100).all(i, object.same.indexOf(object.inner) < 0)",
    "lists.range(100).all(i, object.same.lastIndexOf(object.inner) < 0)",
    "object.same.matches(object.pattern)",
    "object.same.find(object.pattern)",
    "lists.range(1000).all(i, !'a'.matches('(a{1,500}){1,2}' + string(i)))",
    `lists.range(300000).all(i, ${Array(500).fill("true").join(" && ")})`,
    "lists.range(300000).exists(i, [[1, 2].map(j, false)].size() > 5 || has(object.x))",
    "lists.range(50000).all(i, timestamp('2020-01-01T00:00:00Z').getHours('Europe/Berlin') >= 0)",
    "[url(object.url)].map(u, lists.range(100).all(i, u.getQuery().size() == 1))",
  ])("%s", (text) => {
    expect([COST, expect.stringContaining(WORK)]).toContainEqual(valueOf(text, object));
  });

  test("a search for a regular expression is charged for the time that it took", () => {
    let time = 0;
    const effort = new Effort({ monotonic: () => time });
    const meter = new Meter(1_000_000, effort);
    const slow = () => {
      time += 100;
      return true;
    };
    expect(meter.timed(1_000_000, slow)).toBe(true);
    expect(effort.used).toBeGreaterThanOrEqual(10_000_000);
    expect(meter.timed(5_000_000, slow)).toMatchObject({ message: expect.stringContaining(WORK) });
  });

  test("an evaluation that takes too long is interrupted", () => {
    let time = 0;
    const meter = new Meter(1_000_000, new Effort({ monotonic: () => time }));
    expect(meter.work(300_000)).toBeUndefined();
    time += 201;
    expect(meter.work(300_000)).toMatchObject({ message: "operation interrupted: the evaluation took longer than 200 ms", fatal: true });
    expect(meter.pay(1)).toMatchObject({ fatal: true });
  });

  test("processor time counts where it is available, so that a busy machine ends no evaluation", () => {
    let time = 0;
    const clock = { monotonic: () => (time += 1_000), processorTime: () => 5 };
    const meter = new Meter(1_000_000, new Effort(clock));
    expect([meter.work(300_000), meter.work(300_000)]).toEqual([undefined, undefined]);
  });

  test("values that are nested deeply are an error and not a crash", () => {
    expect(valueOf("object.deep == object.deep", deep)).toContain("nested too deeply");
    expect(valueOf("'%s'.format([object.deep])", deep)).toContain("nested too deeply");
    expect(valueOf("[object.deep].flatten(5000)", deep)).toContain("nested too deeply");
    expect(valueOf("[object.deep].indexOf(1)", deep)).toBe(COST);
    expect(valueOf(`${"!".repeat(400)}true`)).toBe(true);
  });
});

describe("loops take linear time", () => {
  test.each([
    "object.data.map(k, k.size()).all(n, n < 200)",
    "object.data.all(k, object.data[k].size() < 200)",
    "object.data.filter(k, k.size() > 1).size() == 20000",
    "object.data.transformList(k, v, v).size() == 20000",
    "object.data.transformMap(k, v, v).size() == 20000",
    "lists.range(10000).transformMapEntry(i, v, {string(v): v}).size() == 10000",
    "object.same.replace(object.inner, 'x') == object.same",
    "object.same.split(object.inner).size() == 1",
    "url(object.url).getQuery()['a'].size() == 100000",
  ])("%s", (text) => {
    expect(valueOf(text, object)).toBe(true);
  });

  test("an accumulator does not change the list that a variable holds", () => {
    expect(valueOf("optional.of([1]).optMap(l, [l + [2], l + [3], l]).value() == [[1, 2], [1, 3], [1]]")).toBe(true);
    expect(valueOf("optional.of([]).optMap(l, [l + [2], l]).value() == [[2], []]")).toBe(true);
    expect(valueOf("[[1]].map(a, a + [2]).map(b, b + b) == [[1, 2, 1, 2]]")).toBe(true);
    expect(valueOf("[3, 1].sortBy(i, i) == [1, 3] && [].sortBy(i, i) == []")).toBe(true);
    expect(valueOf("[1, 2].transformMap(i, v, [v]).transformMap(k, v, v + v) == {0: [1, 1], 1: [2, 2]}")).toBe(true);
  });
});
