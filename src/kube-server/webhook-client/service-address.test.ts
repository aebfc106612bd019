/** The address of a Service in a cluster without a network. */
import { expect, test } from "vitest";
import { err, expectOk, ok } from "#base";
import type { KubeObject } from "#kube";
import { createMemoryStore } from "../store/memory-store.ts";
import { resolveFromStore } from "./service-address.ts";

const metadata = { name: "hook", namespace: "default" };
const service = (spec: object) => ({
  collection: "/services",
  key: "default/hook",
  object: { apiVersion: "v1", kind: "Service", metadata, spec },
});
const slice = (address: string, ready = true) => ({
  collection: "discovery.k8s.io/endpointslices",
  key: "default/hook-1",
  object: {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: { name: "hook-1", namespace: "default", labels: { "kubernetes.io/service-name": "hook" } },
    ports: [{ name: "https", port: 8443 }],
    endpoints: [{ addresses: [address], conditions: { ready } }],
  },
});
const endpoints = (ip: string) => ({
  collection: "/endpoints",
  key: "default/hook",
  object: { apiVersion: "v1", kind: "Endpoints", metadata, subsets: [{ addresses: [{ ip }], ports: [{ name: "https", port: 9443 }] }] },
});
const served = service({ type: "ClusterIP", clusterIP: "10.0.0.9", ports: [{ name: "https", port: 443 }] });

test.each([
  { name: "one that does not exist", given: [], want: err('service "hook" not found') },
  {
    name: "one with an external name",
    given: [service({ type: "ExternalName", externalName: "localhost" })],
    want: ok({ host: "localhost", port: 443 }),
  },
  { name: "one without an address", given: [service({ clusterIP: "None" })], want: err('cannot route to service with ClusterIP "None"') },
  {
    name: "one without the port",
    given: [service({ clusterIP: "10.0.0.9", ports: [{ port: 80 }] })],
    want: err('no service port 443 found for service "hook"'),
  },
  { name: "one without endpoints", given: [served], want: err('no endpoints available for service "hook"') },
  { name: "one with an endpoint on this machine", given: [served, slice("127.0.0.1")], want: ok({ host: "127.0.0.1", port: 8443 }) },
  {
    name: "one whose endpoint is not ready",
    given: [served, slice("127.0.0.1", false)],
    want: err('no endpoints available for service "hook"'),
  },
  { name: "one whose endpoint is elsewhere", given: [served, slice("10.1.1.1")], want: err('no endpoints available for service "hook"') },
  { name: "one with old Endpoints", given: [served, endpoints("::1")], want: ok({ host: "::1", port: 9443 }) },
])("$name", ({ given, want }) => {
  const store = createMemoryStore();
  for (const { object, ...place } of given)
    expectOk(store.write({ ...place, expected: undefined, object: () => object as unknown as KubeObject }));
  expect(resolveFromStore(store)({ namespace: "default", name: "hook", port: 443 })).toEqual(want);
});
