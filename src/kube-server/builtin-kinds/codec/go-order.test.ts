/** Fields as Go writes them. */
import { expect, test } from "vitest";
import { inGoOrder } from "./go-order.ts";
import { goTypeOf } from "./go-types.ts";

const pod = goTypeOf("io.k8s.api.core.v1.Pod");

test.each([
  {
    name: "fields of structs are where they are declared, at every depth",
    given: { spec: { dnsPolicy: "ClusterFirst", restartPolicy: "Always", containers: [{ image: "i", name: "c" }] } },
    want: '{"spec":{"containers":[{"name":"c","image":"i"}],"restartPolicy":"Always","dnsPolicy":"ClusterFirst"}}',
  },
  {
    name: "maps are sorted",
    given: { metadata: { labels: { b: "2", a: "1" }, name: "x" } },
    want: '{"metadata":{"name":"x","labels":{"a":"1","b":"2"}}}',
  },
  {
    name: "what has another form, or no name in Go, stays as it came",
    given: { spec: { unknown: 1, containers: "x" }, metadata: null },
    want: '{"metadata":null,"spec":{"containers":"x","unknown":1}}',
  },
])("$name", ({ given, want }) => {
  expect(JSON.stringify(inGoOrder(pod, given))).toBe(want);
});
