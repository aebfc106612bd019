import { describe, expect, test } from "vitest";
import { err, ok, sensitive } from "#base";
import { fieldAt, type KubeObject } from "#kube";
import type { KubeWriter } from "#kube-client";
import { NOON, timeOf } from "../../../test/builders/observed-child.ts";
import { decoded } from "../../../test/builders/two-clusters.ts";
import { SettlingClock } from "../../../test/builders/settling-clock.ts";
import { isKubeconfigDue, ownKubeconfigSecret, writeOwnKubeconfig } from "./own-kubeconfig.ts";

const DAY_MS = 86_400_000;
const server = { url: "https://10.96.0.1:443", ca: "CA" };
const token = { token: sensitive("T"), issuedAt: NOON, expiresAt: NOON + 90 * DAY_MS };
const secret = ownKubeconfigSecret("prod", server, token);

describe("isKubeconfigDue", () => {
  const without: KubeObject = { ...secret, metadata: { ...secret.metadata, annotations: {} } };
  const rows: { name: string; given: Parameters<typeof isKubeconfigDue>; want: boolean }[] = [
    { name: "there is none", given: [undefined, server, NOON], want: true },
    { name: "one of the parent, without an expiry", given: [without, server, NOON], want: true },
    { name: "a new one", given: [secret, server, NOON], want: false },
    { name: "before half of its life", given: [secret, server, NOON + 44 * DAY_MS], want: false },
    { name: "at half of its life", given: [secret, server, NOON + 45 * DAY_MS], want: true },
    { name: "another address", given: [secret, { ...server, url: "https://10.96.0.2:443" }, NOON], want: true },
    { name: "another authority", given: [secret, { ...server, ca: "NEW" }, NOON], want: true },
  ];
  test.each(rows)("$name: $want", ({ given, want }) => {
    expect(isKubeconfigDue(...given)).toBe(want);
  });
});

describe("the kubeconfig of a cluster that owns itself", () => {
  test("has the name of the Cluster, as Cluster API needs it, and when its token expires", () => {
    expect(secret).toMatchObject({
      type: "Opaque",
      metadata: {
        name: "prod-kubeconfig",
        namespace: "capi-prod",
        labels: { "cluster.x-k8s.io/cluster-name": "prod" },
        annotations: { "lattice.dev/token-expires": timeOf(NOON + 90 * DAY_MS) },
      },
    });
    const text = decoded(fieldAt(secret, "data", "value"));
    expect(text).toMatch(/clusters:\n {2}- name: prod\n/);
    expect(text).toContain(`certificate-authority-data: ${btoa("CA")}`);
  });

  test("trusts the authorities of the system where the operator does", () => {
    const text = decoded(fieldAt(ownKubeconfigSecret("prod", { ...server, ca: "" }, token), "data", "value"));
    expect(text).not.toContain("certificate-authority-data");
  });

  const issued = (status: object) => ({
    create: () => Promise.resolve(ok({ apiVersion: "v1", kind: "TokenRequest", metadata: { name: "x" }, status })),
  });
  const failure = { kind: "forbidden", message: "no" } as const;
  const good = { token: "T", expirationTimestamp: timeOf(NOON) };
  test.each([
    { name: "a refused token", client: { create: () => Promise.resolve(err(failure)) }, want: err(failure) },
    { name: "a response without a token", client: issued({}), want: { ok: false, error: { kind: "server-error" } } },
    { name: "a response without an expiry", client: issued({ token: "T" }), want: { ok: false, error: { kind: "server-error" } } },
    { name: "a refused write", client: { ...issued(good), apply: () => Promise.resolve(err(failure)) }, want: err(failure) },
    { name: "a shorter life than requested", client: { ...issued(good), apply: () => Promise.resolve(ok(secret)) }, want: ok(NOON) },
  ])("$name is returned", async ({ client, want }) => {
    const context = { client: client as unknown as KubeWriter, clock: new SettlingClock(), signal: new AbortController().signal };
    expect(await writeOwnKubeconfig({ cluster: "prod", server, home: "lattice-system" }, context)).toMatchObject(want);
  });
});
