/** Rules of custom resources on large objects: the author of the CRD wrote the rules, the author of the object chooses the sizes. */
import { expect, test } from "vitest";
import type { Json, JsonObject } from "#kube";
import { IN_DOUBT } from "../../builders/api-server/exchange.ts";
import { startMeasuredApiServer, type MeasuredApiServer } from "../../builders/attacks/measured-api-server.ts";

const CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

type Attack = {
  readonly name: string;
  readonly schema: JsonObject;
  readonly spec: Json;
  /** The spec of an update of the created object. */
  readonly next?: Json;
  readonly want: string;
};

const text = (maxLength: number): JsonObject => ({ type: "string", maxLength });
const rules = (...all: readonly string[]): JsonObject => ({ "x-kubernetes-validations": all.map((rule) => ({ rule })) });
const object = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({ type: "object", properties, ...more });
const keys = (count: number): Json => Object.fromEntries(Array.from({ length: count }, (_, at) => [`key-${at}`, "value"]));
const numbered = (count: number): readonly Json[] => Array.from({ length: count }, (_, at) => ({ name: `n-${at}`, value: at }));
const doubled = `[[1]]${".map(a, a + a)".repeat(40)}[0].size() > 0`;

/** As costly as a CRD may be on 6,000 items. */
const COSTLY = `[1, 2, 3].all(a, [1, 2, 3].all(b, [1, 2, 3].all(c, ${"self.value >= 0 && ".repeat(10)} true)))`;

const ATTACKS: readonly Attack[] = [
  {
    name: "lookups",
    schema: object(
      { data: { type: "object", maxProperties: 10_000, additionalProperties: text(10) } },
      rules("self.data.all(k, self.data[k].size() < 200)", "self.data.map(k, k.size()).all(n, n < 200)"),
    ),
    spec: { data: keys(10_000) },
    want: "201",
  },
  {
    name: "doublings",
    schema: object({}, rules(doubled)),
    spec: {},
    want: "a list may have at most 1000000 items",
  },
  {
    name: "patterns",
    schema: object({ text: text(100_000) }, rules("!self.text.matches('(a{1,100}){1,10}[cd]')")),
    spec: { text: "a".repeat(100_000) },
    want: "operation interrupted: the expression needs more work than one evaluation may do",
  },
  {
    name: "searches",
    schema: object(
      { text: text(200_000), part: text(100_100) },
      rules("self.text.indexOf(self.part) < 0 && self.text.lastIndexOf(self.part) < 0"),
    ),
    spec: { text: "a".repeat(200_000), part: `${"a".repeat(50_000)}b${"a".repeat(50_000)}` },
    want: "201",
  },
  {
    name: "items",
    schema: object({
      items: {
        type: "array",
        maxItems: 5_000,
        items: object({ name: text(10), value: { type: "integer" } }, rules("[1, 2, 3].map(i, i * self.value).all(i, i >= 0)")),
      },
    }),
    spec: { items: numbered(5_000) },
    want: "201",
  },
  {
    name: "budgets",
    schema: object({
      items: {
        type: "array",
        maxItems: 6_000,
        items: object({ name: text(10), value: { type: "integer" } }, rules(...Array<string>(10).fill(COSTLY))),
      },
    }),
    spec: { items: numbered(6_000) },
    want: "validation failed due to running out of cost budget, no further validation rules will be run",
  },
  {
    name: "transitions",
    schema: object({
      items: {
        type: "array",
        maxItems: 5_000,
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["name"],
        items: object({ name: text(10), value: { type: "integer" } }, { ...rules("self.value >= oldSelf.value"), required: ["name"] }),
      },
    }),
    spec: { items: numbered(5_000) },
    next: { items: numbered(5_000).toReversed() },
    want: "200",
  },
  {
    name: "comparisons",
    schema: object(
      { items: { type: "array", maxItems: 3_000, items: object({ name: text(10), value: { type: "integer" } }) } },
      rules("self.items.filter(i, self == self && self.items == self.items).size() >= 0"),
    ),
    spec: { items: numbered(3_000) },
    want: "operation interrupted: ",
  },
];

function definition({ name, schema }: Attack): JsonObject {
  const names = { plural: name, singular: name.slice(0, -1), kind: `K${name}`, listKind: `K${name}List` };
  const openAPIV3Schema = object({ spec: schema });
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${name}.attack.test` },
    spec: {
      group: "attack.test",
      scope: "Cluster",
      names,
      versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema } }],
    },
  };
}

async function send(server: MeasuredApiServer, method: string, path: string, body: Json): Promise<string> {
  const answer = await server.exchange.request({ method, path, body });
  return answer === IN_DOUBT ? answer : `${answer.code} ${JSON.stringify(answer.body["message"])}`;
}

test("rules on large objects are evaluated or rejected within the limits", { timeout: 120_000 }, async () => {
  await using server = await startMeasuredApiServer({ controllers: false });
  for (const attack of ATTACKS) expect(await send(server, "POST", CRDS, definition(attack)), attack.name).toContain("201");
  for (const attack of ATTACKS) {
    const path = `/apis/attack.test/v1/${attack.name}`;
    const body = (spec: Json, version?: string): Json => ({
      apiVersion: "attack.test/v1",
      kind: `K${attack.name}`,
      metadata: { name: "large", ...(version === undefined ? {} : { resourceVersion: version }) },
      spec,
    });
    await server.process.reset();
    const created = await server.exchange.request({ method: "POST", path, body: body(attack.spec) });
    if (created === IN_DOUBT) throw new Error(`${attack.name}: no answer`);
    const version = (created.body["metadata"] as JsonObject | undefined)?.["resourceVersion"];
    const answer =
      attack.next === undefined
        ? `${created.code} ${JSON.stringify(created.body["message"])}`
        : await send(server, "PUT", `${path}/large`, body(attack.next, typeof version === "string" ? version : ""));
    expect(answer, attack.name).toContain(attack.want);
    await server.process.expectWithinLimits(`rules of custom resources: ${attack.name}`);
  }
});
