import fc from "fast-check";
import { expect, test } from "vitest";
import { equal, Meter, type CelValue } from "#cel";
import type { Attributes } from "../protocol/admission-port.ts";
import { jsonValue } from "./json-values.ts";
import { RequestMap } from "./request-map.ts";
import { admissionRequest, matchedAsRequested } from "./request.ts";

const resource = { group: "apps", version: "v1", kind: "Deployment", plural: "deployments", namespaced: true };

const requests: fc.Arbitrary<Attributes> = fc
  .record({
    name: fc.constantFrom("", "web"),
    namespace: fc.constantFrom(undefined, "", "shop"),
    subresource: fc.constantFrom(undefined, "scale"),
    operation: fc.constantFrom("CREATE", "UPDATE", "DELETE", "CONNECT"),
    dryRun: fc.boolean(),
    collection: fc.constantFrom("apps/deployments", "/namespaces"),
  })
  .map(({ collection, ...given }) => {
    const user = { name: "alice", uid: "", groups: ["a"] };
    return {
      ...given,
      type: { resource, collection },
      kind: resource,
      user,
      options: () => ({ kind: "UpdateOptions" }),
    } as unknown as Attributes;
  });

const FIELDS = ["name", "namespace", "operation", "kind", "subResource", "userInfo", "dryRun", "options", "nope", "__proto__"];

test("has the fields of the whole request", () => {
  fc.assert(
    fc.property(requests, (attributes) => {
      const matched = matchedAsRequested(attributes);
      const whole = jsonValue(admissionRequest(attributes, matched)) as RequestMap;
      const same = (a: CelValue, b: CelValue) => equal(a, b, new Meter(1_000_000));
      const map = new RequestMap(attributes, matched);
      for (const name of FIELDS) {
        const [got, want] = [map.get(name), whole.get(name)];
        expect(got === undefined || want === undefined ? got === want : same(got, want)).toBe(true);
      }
      expect([map.size, map.keys(), map.get(1n)]).toEqual([whole.size, whole.keys(), whole.get(1n)]);
      expect(same(map, whole)).toBe(true);
    }),
  );
});
