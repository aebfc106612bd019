/** Expressions on a request: the names that they may use, their values, and their cost. */
import { describe, expect, test } from "vitest";
import type { JsonObject, KubeObject } from "#kube";
import { BOOL, DYN, STRING } from "#cel";
import type { Access, Decision } from "../protocol/auth-port.ts";
import { Pace, runAtOnce } from "../pace.ts";
import { configMaps, namespaces } from "../rest/types.test-support.ts";
import type { User } from "../protocol/request.ts";
import type { Attributes } from "../protocol/admission-port.ts";
import { activationOf, type ActivationInput } from "./activation.ts";
import { compile } from "./compile.ts";
import type { Declared } from "./environment.ts";
import { evaluate, MATCH_BUDGET, POLICY_BUDGET } from "./evaluate.ts";
import { aggregate, compileMatchConditions, meetsConditions } from "./match-conditions.ts";
import { matchedAsRequested } from "./request.ts";
import { compileVariables } from "./variables.ts";

const user: User = { name: "alice", uid: "u-1", groups: ["devs"], extra: new Map([["scopes", ["a"]]]) };
const object = {
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "c" },
  data: { a: "1" },
  n: 3,
  f: 1.5,
  list: [1, 2],
} as unknown as KubeObject;

function attributes(more: Partial<Attributes> = {}): Attributes {
  return {
    operation: "CREATE",
    type: configMaps,
    kind: configMaps.resource,
    subresource: undefined,
    namespace: "default",
    name: "c",
    user,
    dryRun: false,
    options: () => ({ kind: "CreateOptions" }),
    object,
    old: undefined,
    warn: () => {},
    ...more,
  };
}

function input(more: Partial<ActivationInput> = {}): ActivationInput {
  const given = more.attributes ?? attributes();
  return { attributes: given, matched: matchedAsRequested(given), object: given.object, old: given.old, ...more };
}

const ALL: Declared = { withParams: true, withAuthorizer: true };

function run(text: string, more: Partial<ActivationInput> = {}): unknown {
  const outcome = evaluate(compile(text, { ...ALL, returns: "anything" }), activationOf(input(more)), POLICY_BUDGET);
  return outcome.kind === "value" ? outcome.value : outcome.message;
}

describe("names", () => {
  test.each([
    { text: "object.data.a", want: "1" },
    { text: "object.n + 1", want: 4n },
    { text: "object.f", want: 1.5 },
    { text: "object.list[1]", want: 2n },
    { text: "object.list[5]", want: "expression 'object.list[5]' resulted in error: index out of bounds: 5" },
    { text: "object.list.size() + object.data.size()", want: 3n },
    { text: "object.data.all(k, k == 'a')", want: true },
    { text: "oldObject == null && params == null && namespaceObject == null", want: true },
    { text: "object.nope", want: "expression 'object.nope' resulted in error: no such key: nope" },
    { text: "object.data[1]", want: "expression 'object.data[1]' resulted in error: no such overload" },
    { text: "request.operation + request.namespace + request.name", want: "CREATEdefaultc" },
    { text: "request.kind.kind + request.requestResource.resource", want: "ConfigMapconfigmaps" },
    { text: "request.userInfo.username + request.userInfo.groups[0] + request.userInfo.extra['scopes'][0]", want: "alicedevsa" },
    { text: "request.dryRun", want: false },
    { text: "request.options.kind", want: "CreateOptions" },
    { text: "has(request.subResource)", want: false },
  ])("$text", ({ text, want }) => {
    expect(run(text)).toEqual(want);
  });

  test("namespaceObject has no owners, and the namespace of a request for a Namespace is its own name", () => {
    const namespace = {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name: "n", labels: { a: "b" }, ownerReferences: [], managedFields: [] },
    } as unknown as KubeObject;
    expect(run("namespaceObject.metadata.labels['a']", { namespace })).toBe("b");
    const given = attributes({ type: namespaces, kind: namespaces.resource, namespace: undefined, name: "n" });
    expect(run("request.namespace", { attributes: given })).toBe("n");
    expect(run("has(request.uid)", { attributes: given })).toContain("undefined field 'uid'");
  });

  test("a subresource and a user without name and groups have the fields that Go encodes", () => {
    const anonymous = { name: "", uid: "", groups: [] };
    expect(run("request.subResource", { attributes: attributes({ subresource: "status", name: "", user: anonymous }) })).toBe("status");
    expect(run("has(request.userInfo.groups) || has(request.name)", { attributes: attributes({ user: anonymous, name: "" }) })).toBe(false);
  });
});

describe("compilation refuses", () => {
  const problem = (text: string, returns = [BOOL], declared: Declared = {}): string | undefined => {
    const { compiled } = compile(text, { ...declared, returns });
    return compiled.ok ? undefined : compiled.error.detail;
  };
  test.each([
    { text: "1 +", want: "compilation failed: ERROR: <input>:1:4: Syntax error" },
    { text: "foo", want: "undeclared reference to 'foo'" },
    { text: "params.x == 1", want: "undeclared reference to 'params'" },
    { text: "authorizer.path('/')", want: "undeclared reference to 'authorizer'" },
    { text: "variables.x == 1", want: "undeclared reference to 'variables'" },
    { text: "request.nope == 1", want: "undefined field 'nope'" },
    { text: "object.x", want: "must evaluate to bool but got dyn" },
    { text: "null", want: "must evaluate to bool but got null_type" },
    { text: "[timestamp('2020-01-01T00:00:00Z')]", want: "must evaluate to bool but got list(google.protobuf.Timestamp)" },
  ])("$text", ({ text, want }) => {
    expect(problem(text)).toContain(want);
  });
  test("a result of none of the accepted types, and an expression that cannot be run", () => {
    expect(problem("1", [BOOL, STRING])).toBe("must evaluate to one of [bool string] but got int");
    expect(compile("int('x') == 1", { returns: [BOOL] }).compiled).toMatchObject({ ok: false, error: { kind: "internal" } });
    expect(run("1 +")).toContain("compilation error: compilation failed");
  });
});

describe("the authorizer", () => {
  const asked: (Access & { readonly user: string })[] = [];
  const authorize = (who: User, access: Access): Decision => {
    asked.push({ ...access, user: who.name });
    return { allowed: access.verb === "get", reason: `verb ${access.verb}` };
  };
  const ask = (text: string): unknown => run(text, { authorize });
  test.each([
    { text: "authorizer.path('/x').check('get').allowed()", want: true },
    { text: "authorizer.path(' ').check('get').allowed()", want: "path must not be empty" },
    { text: "authorizer.group('').resource(' ').check('get').allowed()", want: "resource must not be empty" },
    { text: "authorizer.requestResource.check('create').reason()", want: "verb create" },
    { text: "authorizer.requestResource.check('get').errored() || authorizer.requestResource.check('get').error() != ''", want: false },
    { text: "authorizer.serviceAccount('ns', 'UPPER').path('/').check('get').allowed()", want: "Invalid service account name" },
    { text: "authorizer.serviceAccount('N', 'sa').path('/').check('get').allowed()", want: "Invalid service account namespace" },
    { text: "authorizer.requestResource == authorizer.requestResource", want: "no such overload" },
    { text: "dyn(1).check('get').allowed()", want: "no such overload" },
  ])("$text", ({ text, want }) => {
    const value = ask(text);
    expect(typeof value === "string" ? value.replace(/^.* resulted in error: /, "").replace(/: check.*/, "") : value).toEqual(want);
  });
  test("receives the attributes that the expression set", () => {
    asked.length = 0;
    ask("authorizer.group('apps').resource('deployments').subresource('scale').namespace('n').name('d').check('get').allowed()");
    ask("authorizer.serviceAccount('n', 's').group('').resource('pods').fieldSelector('a=b').labelSelector('c').check('list').allowed()");
    expect(asked).toEqual([
      {
        kind: "resource",
        verb: "get",
        group: "apps",
        version: "*",
        resource: "deployments",
        subresource: "scale",
        namespace: "n",
        name: "d",
        user: "alice",
      },
      {
        kind: "resource",
        verb: "list",
        group: "",
        version: "*",
        resource: "pods",
        subresource: undefined,
        namespace: undefined,
        name: "",
        user: "system:serviceaccount:n:s",
      },
    ]);
  });
});

describe("variables", () => {
  const declared = compileVariables(
    [
      { name: "n", expression: "object.n" },
      { name: "double", expression: "variables.n * 2" },
      { name: "texts", expression: "['a']" },
      { name: "map", expression: "{'a': 1}" },
      { name: "broken", expression: "object.nope" },
      { name: "wrong", expression: "nope" },
    ],
    ALL,
  );
  const value = (text: string, budget = POLICY_BUDGET) =>
    evaluate(compile(text, { ...ALL, returns: "anything", variables: declared.types }), activationOf(input(), declared.valuesOf), budget);
  test.each([
    { text: "variables.double", want: { kind: "value", value: 6n } },
    { text: "variables.double + variables.double", want: { kind: "value", value: 12n } },
    { text: "variables.texts[0]", want: { kind: "value", value: "a" } },
    { text: "variables.map.a + variables.map['a']", want: { kind: "value", value: 2n } },
    { text: "variables.exists(name, name == 'n')", want: { kind: "failed" } },
    {
      text: "variables.broken",
      want: { kind: "failed", message: expect.stringContaining('composited variable "broken" fails to evaluate: no such key: nope') },
    },
    { text: "variables.wrong", want: { kind: "failed", message: expect.stringContaining('composited variable "wrong" fails to compile') } },
    { text: "variables.nope", want: { kind: "failed", message: expect.stringContaining("undefined field 'nope'") } },
    { text: "variables == variables", want: { kind: "value", value: true } },
    { text: "dyn(variables)['nope']", want: { kind: "failed", message: expect.stringContaining("no such key: nope") } },
    { text: "dyn(variables)[1]", want: { kind: "failed" } },
  ])("$text", ({ text, want }) => {
    expect(value(text)).toMatchObject(want);
  });
  test("have the cost of their expressions, once", () => {
    const budget = (text: string): number => {
      const outcome = value(text);
      return outcome.kind === "spent" ? 0 : POLICY_BUDGET - outcome.budget;
    };
    expect(budget("variables.double")).toBeGreaterThan(budget("variables.n"));
    expect(value("variables.double", 2)).toEqual({ kind: "spent", message: expect.stringContaining("running out of cost budget") });
    expect(declared.types.get("texts")).toMatchObject({ kind: "list" });
    expect(declared.types.get("wrong")).toBe(DYN);
  });
});

describe("variables share the limits of the expression that reads them", () => {
  const heavy = (count: number, expression: string) => {
    const named = Array.from({ length: count }, (_, at) => ({ name: `v${at}`, expression }));
    return compileVariables(named, ALL);
  };
  const message = (declared: ReturnType<typeof heavy>, text: string, more: Partial<ActivationInput> = {}): string => {
    const compiled = compile(text, { ...ALL, returns: "anything", variables: declared.types });
    const outcome = evaluate(compiled, activationOf(input(more), declared.valuesOf), POLICY_BUDGET);
    return outcome.kind === "value" ? "" : outcome.message;
  };

  test("an expression cannot do the work of many evaluations by reading many variables", () => {
    const declared = heavy(9, "lists.range(100000).all(i, i >= 0)");
    const text = Array.from({ length: 9 }, (_, at) => `variables.v${at}`).join(" && ");
    expect(message(declared, text)).toContain("the expression needs more work than one evaluation may do");
    expect(message(declared, "variables.v0")).toBe("");
  });

  test("a variable that costs too much fails like any other error, and is not evaluated again", () => {
    const declared = heavy(1, "sets.equivalent(lists.range(1000), lists.range(1000))");
    expect(message(declared, "variables.v0 || true")).toBe("");
    expect(message(declared, "variables.v0")).toContain("actual cost limit exceeded");
  });

  test("variables that read each other are nested only so deeply", () => {
    const named = Array.from({ length: 2_000 }, (_, at) => ({ name: `v${at}`, expression: at === 0 ? "1" : `variables.v${at - 1}` }));
    expect(message(compileVariables(named, ALL), "variables.v1999")).toContain("nested too deeply");
  });

  test("a variable with the value null is evaluated once", () => {
    const declared = heavy(1, "lists.range(100000).all(i, i >= 0) ? null : null");
    expect(message(declared, "[1, 2, 3, 4, 5, 6, 7, 8, 9].all(i, variables.v0 == null)")).toBe("");
  });

  test("a request without remaining time evaluates nothing more", () => {
    const pace = new Pace({ monotonic: () => 0 });
    pace.count(300_000_000);
    expect(message(heavy(0, ""), "true", { pace })).toBe(
      "validation failed: the expressions of this request need more work than one request may do (200000000 steps), no further validation rules will be run",
    );
  });
});

describe("match conditions", () => {
  const meets = (expressions: readonly string[], policy: "Fail" | "Ignore" = "Fail", more: Partial<ActivationInput> = {}) =>
    runAtOnce(
      meetsConditions(
        compileMatchConditions(
          expressions.map((expression) => ({ expression })),
          { withAuthorizer: true },
        ),
        activationOf(input(more)),
        policy,
      ),
    );
  const allow = { authorize: () => ({ allowed: true, reason: "" }) };
  test.each([
    { name: "all must hold", given: ["true", "true"], want: { ok: true, value: true } },
    { name: "a false one decides", given: ["object.nope == 1", "false"], want: { ok: true, value: false } },
    {
      name: "one that fails is an error",
      given: ["object.nope == 1", "true"],
      want: { ok: false, error: "expression 'object.nope == 1' resulted in error: no such key: nope" },
    },
    {
      name: "several that fail are reported together",
      given: ["object.a == 1", "object.b == 1"],
      want: { ok: false, error: expect.stringMatching(/^\[expression .*no such key: a, expression .*no such key: b\]$/) },
    },
  ])("$name", ({ given, want }) => {
    expect(meets(given)).toEqual(want);
  });
  test("under Ignore a failure is no match", () => {
    expect(meets(["object.nope == 1"], "Ignore")).toEqual({ ok: true, value: false });
  });
  test("have a separate budget", () => {
    const many = Array.from({ length: 10 }, () => "authorizer.path('/').check('get').allowed()");
    expect(MATCH_BUDGET).toBe(2_500_000);
    expect(meets(many, "Fail", allow)).toMatchObject({ ok: false, error: expect.stringContaining("running out of cost budget") });
    expect(meets(many, "Ignore", allow)).toEqual({ ok: true, value: false });
    const text = "[1, 2, 3].all(x, authorizer.path('/').check('get').allowed())";
    expect(meets([text], "Fail", allow)).toMatchObject({ error: expect.stringContaining("actual cost limit exceeded") });
  });
  test("the same error twice is reported once", () => {
    expect(aggregate(["a", "a"])).toBe("a");
  });
});

test("params is the object that the policy refers to", () => {
  const params = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "p" }, data: { max: "3" } } as unknown as KubeObject;
  expect(run("params.data.max", { params })).toBe("3");
  expect((object as unknown as JsonObject)["n"]).toBe(3);
});
