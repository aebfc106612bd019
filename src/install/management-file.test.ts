import { expect, test } from "vitest";
import type { KubeObject } from "#kube";
import { checkManagementCluster } from "./management-file.ts";

const cluster = (name: string, spec: object = { endpoints: { host: "10.0.0.1" } }) =>
  ({ apiVersion: "lattice.dev/v1alpha1", kind: "LatticeCluster", metadata: { name }, spec }) as unknown as KubeObject;
const other = (kind: string, name: string): KubeObject => ({ apiVersion: "v1", kind, metadata: { name } });

const rows: readonly { readonly name: string; readonly given: readonly KubeObject[]; readonly want: object }[] = [
  {
    name: "one cluster with endpoints",
    given: [cluster("mgmt")],
    want: { ok: true, value: { cluster: { metadata: { name: "mgmt" } }, beside: [] } },
  },
  {
    name: "namespaces are applied before Secrets",
    given: [other("Secret", "aws"), cluster("mgmt"), other("Namespace", "capa-system")],
    want: { ok: true, value: { beside: [{ object: { kind: "Namespace" } }, { object: { kind: "Secret" } }] } },
  },
  { name: "no cluster", given: [other("Secret", "aws")], want: { ok: false, error: expect.stringContaining("has no LatticeCluster") } },
  {
    name: "two clusters",
    given: [cluster("a"), cluster("b")],
    want: { ok: false, error: expect.stringContaining("2 LatticeClusters (a, b)") },
  },
  {
    name: "no endpoints",
    given: [cluster("mgmt", {})],
    want: { ok: false, error: expect.stringContaining("spec.endpoints of LatticeCluster mgmt is missing") },
  },
  {
    name: "a parent",
    given: [cluster("mgmt", { endpoints: {}, cellRef: "other" })],
    want: { ok: false, error: "spec.cellRef of LatticeCluster mgmt is other: a management cluster has no parent; remove it" },
  },
  {
    name: "the name of the bootstrap cluster",
    given: [cluster("boot")],
    want: { ok: false, error: expect.stringContaining("the name boot is used") },
  },
  {
    name: "another kind",
    given: [cluster("mgmt"), other("Service", "web")],
    want: { ok: false, error: expect.stringContaining("Service web is not applied") },
  },
];

test.each(rows)("$name", ({ given, want }) => expect(checkManagementCluster(given, { bootstrap: "boot" })).toMatchObject(want));
