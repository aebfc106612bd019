/** Rules in CEL on custom resources. */
import { expect } from "vitest";
import { area } from "../contract.ts";
import { CRDS, object, Things, things, v1 } from "./definitions.ts";

const integer = { type: "integer" };
const string = { type: "string" };
const rules = (...list: readonly object[]) => ({ "x-kubernetes-validations": list });

export const celRules = area("CEL rules", {
  "a rule that fails reports its message, or the rule": async (api) => {
    const made = await things(
      api,
      object(
        { min: integer, max: integer },
        rules({ rule: "self.min <= self.max", message: "min is above max" }, { rule: "self.max < 100" }),
      ),
    );
    (await made.post("a", { min: 1, max: 2 })).gives(201);
    (await made.post("b", { min: 3, max: 2 })).refuses(
      422,
      "Invalid",
      `Thing.${made.group} "b" is invalid: spec: Invalid value: min is above max`,
      {
        causes: [["FieldValueInvalid", "spec", "Invalid value: min is above max"]],
      },
    );
    (await made.post("c", { min: 3, max: 200 })).refuses(
      422,
      "Invalid",
      `Thing.${made.group} "c" is invalid: spec: Invalid value: failed rule: self.max < 100`,
    );
  },

  "messageExpression computes the message": async (api) => {
    const made = await things(
      api,
      object({ size: { ...string, maxLength: 5, ...rules({ rule: "self.size() % 2 == 0", messageExpression: "'odd: ' + self" }) } }),
    );
    (await made.post("a", { size: "abc" })).refuses(
      422,
      "Invalid",
      `Thing.${made.group} "a" is invalid: spec.size: Invalid value: "abc": odd: abc`,
    );
  },

  "a rule can set the field path and the reason": async (api) => {
    const made = await things(
      api,
      object(
        { a: string, b: string },
        rules({ rule: "has(self.a) || has(self.b)", message: "one of them", reason: "FieldValueRequired", fieldPath: ".a" }),
      ),
    );
    (await made.post("a", {})).refuses(422, "Invalid", `Thing.${made.group} "a" is invalid: spec.a: Required value: one of them`);
  },

  "a rule with oldSelf is evaluated on updates, not on creation": async (api) => {
    const made = await things(api, object({ size: { ...integer, ...rules({ rule: "self >= oldSelf", message: "may only grow" }) } }));
    await made.post("a", { size: 2 });
    (await api.mergePatch(`${made.path}/a`, { spec: { size: 3 } })).gives(200);
    (await api.mergePatch(`${made.path}/a`, { spec: { size: 1 } })).refuses(
      422,
      "Invalid",
      `Thing.${made.group} "a" is invalid: spec.size: Invalid value: 1: may only grow`,
    );
  },

  "a rule with optionalOldSelf is also evaluated on creation": async (api) => {
    const made = await things(
      api,
      object({
        name: {
          ...string,
          ...rules({
            rule: "!oldSelf.hasValue() ? self == 'first' : self != 'first'",
            optionalOldSelf: true,
            message: "first, then another",
          }),
        },
      }),
    );
    (await made.post("a", { name: "other" })).gives(422);
    (await made.post("a", { name: "first" })).gives(201);
    (await api.mergePatch(`${made.path}/a`, { spec: { name: "second" } })).gives(200);
  },

  "an unchanged value that already broke a rule is accepted with a warning": async (api) => {
    const made = await things(api, object({ size: integer, colour: string }));
    await made.post("a", { size: 100, colour: "red" });
    await api.mergePatch(made.definition, {
      spec: { versions: [v1(object({ size: { ...integer, ...rules({ rule: "self < 10", message: "too big" }) }, colour: string }))] },
    });
    await api.until(
      () => made.post("probe", { size: 50 }),
      ({ status }) => status === 422,
    );
    (await api.mergePatch(`${made.path}/a`, { spec: { colour: "blue" } })).gives(200).warns("spec.size: Invalid value: 100: too big");
    (await api.mergePatch(`${made.path}/a`, { spec: { size: 50 } })).refuses(
      422,
      "Invalid",
      `Thing.${made.group} "a" is invalid: spec.size: Invalid value: 50: too big`,
    );
  },

  "rules at the root can read name and generateName": async (api) => {
    const made = new Things(api);
    await made.define([v1(object({}), {}, rules({ rule: "self.metadata.name.startsWith('ok-')", message: "names begin with ok-" }))]);
    (await made.post("ok-a", {})).gives(201);
    (await made.post("a", {})).refuses(422, "Invalid", `Thing.${made.group} "a" is invalid: <nil>: Invalid value: names begin with ok-`);
  },

  "macros work on lists and maps": async (api) => {
    const list = { type: "array", maxItems: 10, items: object({ name: { ...string, maxLength: 10 }, n: integer }) };
    const made = await things(
      api,
      object(
        { list, map: { type: "object", maxProperties: 5, additionalProperties: { ...string, maxLength: 10 } } },
        rules(
          { rule: "!has(self.list) || self.list.all(x, x.n > 0)", message: "all positive" },
          { rule: "!has(self.list) || self.list.exists_one(x, x.name == 'main')", message: "one main" },
          { rule: "!has(self.map) || self.map.all(k, k.startsWith('x'))", message: "keys start with x" },
        ),
      ),
    );
    (await made.post("a", { list: [{ name: "main", n: 1 }], map: { x1: "y" } })).gives(201);
    (
      await made.post("b", {
        list: [
          { name: "main", n: 0 },
          { name: "main", n: 1 },
        ],
        map: { y: "y" },
      })
    ).refuses(422, "Invalid", expect.stringContaining("is invalid: ["), {
      causes: [
        ["FieldValueInvalid", "spec", "Invalid value: all positive"],
        ["FieldValueInvalid", "spec", "Invalid value: one main"],
        ["FieldValueInvalid", "spec", "Invalid value: keys start with x"],
      ],
    });
  },

  "libraries: quantities, urls, addresses, regular expressions, sets, formats, versions": async (api) => {
    const text = { ...string, maxLength: 60 };
    const made = await things(
      api,
      object(
        { q: text, u: text, ip: text, s: text, v: text },
        rules(
          { rule: "!has(self.q) || (isQuantity(self.q) && quantity(self.q).isGreaterThan(quantity('1Gi')))", message: "q" },
          { rule: "!has(self.u) || (isURL(self.u) && url(self.u).getHost() == 'example.test')", message: "u" },
          { rule: "!has(self.ip) || (isIP(self.ip) && cidr('10.0.0.0/8').containsIP(self.ip))", message: "ip" },
          { rule: "!has(self.s) || (self.s.find('[0-9]+') == '42' && sets.contains([1, 2], [1]))", message: "s" },
          { rule: "!has(self.v) || (isSemver(self.v) && semver(self.v).major() == 1)", message: "v" },
        ),
      ),
    );
    (await made.post("a", { q: "2Gi", u: "https://example.test/x", ip: "10.1.2.3", s: "ab42", v: "1.2.3" })).gives(201);
    const answer = await made.post("b", { q: "1Mi", u: "https://other.test", ip: "11.0.0.1", s: "none", v: "2.0.0" });
    expect((answer.gives(422).at("details.causes") as readonly { message: string }[]).map(({ message }) => message)).toEqual(
      ["q", "u", "ip", "s", "v"].map((name) => `Invalid value: ${name}`),
    );
  },

  "a runtime error rejects the object with the error": async (api) => {
    const made = await things(api, object({ a: integer, b: integer }, rules({ rule: "self.a / self.b > 0" })));
    (await made.post("a", { a: 1, b: 0 })).gives(422);
    (await made.post("b", { a: 1 })).refuses(422, "Invalid", expect.stringContaining("no such key: b"));
  },

  "a rule that does not compile is rejected with the position of the error": async (api) => {
    const made = new Things(api);
    const answer = await api.post(
      CRDS,
      made.body([v1(object({ size: { ...integer, ...rules({ rule: "self.foo > 1" }, { rule: "self +" }, { rule: "self" }) } }))]),
    );
    answer.gives(422, { reason: "Invalid" });
    const causes = answer.at("details.causes") as readonly { field: string; message: string }[];
    expect(causes[0]?.field).toBe("spec.validation.openAPIV3Schema.properties[spec].properties[size].x-kubernetes-validations[0].rule");
    expect(causes[0]?.message).toContain(
      "compilation failed: ERROR: <input>:1:5: type 'int' does not support field selection\n | self.foo > 1\n | ....^",
    );
    expect(causes[2]?.message).toContain("must evaluate to a bool");
  },

  "a rule whose estimated cost is too high is rejected": async (api) => {
    const made = new Things(api);
    const deep = { type: "array", items: { type: "array", items: string } };
    const answer = await api.post(
      CRDS,
      made.body([v1(object({ list: { ...deep, ...rules({ rule: "self.all(a, a.all(b, self.all(c, c.all(d, d != b))))" }) } }))]),
    );
    answer.gives(422, { reason: "Invalid" });
    expect(answer.textAt("message")).toContain("exceeds budget");
  },

  "reserved names are escaped with underscores": async (api) => {
    const made = await things(
      api,
      object(
        { namespace: string, "my-field": string },
        rules(
          { rule: "self.__namespace__ == 'x'", message: "x" },
          { rule: "!has(self.my__dash__field) || self.my__dash__field == 'y'", message: "y" },
        ),
      ),
    );
    (await made.post("a", { namespace: "x", "my-field": "y" })).gives(201);
    (await made.post("b", { namespace: "x", "my-field": "z" })).refuses(
      422,
      "Invalid",
      `Thing.${made.group} "b" is invalid: spec: Invalid value: y`,
    );
  },
});
