/**
 * Compiled clusters against the published CRDs of Cluster API and its providers, and what a cell keeps for itself against those of Cilium, on the
 * embedded API server with strict validation.
 *
 * The CRDs are part of Go modules. They are read from Go's module cache; nothing is fetched here.
 */
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { startEmbeddedCluster, type EmbeddedCluster } from "#embedded-cluster";
import * as kube from "#kube";
import { describeObject, fieldAt, pathOf, type Json, type Resource } from "#kube";
import { ownExampleObjects, publishedExampleObjects } from "../builders/example-clusters.ts";

const CACHE = process.env["GOMODCACHE"] ?? join(homedir(), "go/pkg/mod");
const CORE = "cluster-api@v1.14.2";
const infrastructure = (module: string, ...plurals: readonly string[]) =>
  plurals.map((plural) => `${module}/config/crd/bases/infrastructure.cluster.x-k8s.io_${plural}.yaml`);

const FILES = [
  ...["clusters", "machinedeployments", "machinehealthchecks"].map(
    (plural) => `${CORE}/core/config/crd/bases/cluster.x-k8s.io_${plural}.yaml`,
  ),
  `${CORE}/controlplane/kubeadm/config/crd/bases/controlplane.cluster.x-k8s.io_kubeadmcontrolplanes.yaml`,
  `${CORE}/bootstrap/kubeadm/config/crd/bases/bootstrap.cluster.x-k8s.io_kubeadmconfigtemplates.yaml`,
  ...infrastructure("cluster-api/test@v1.14.0/infrastructure/docker", "devclusters", "devmachinetemplates"),
  ...infrastructure("cluster-api-provider-aws/v2@v2.13.0", "awsclusters", "awsclusterstaticidentities", "awsmachinetemplates"),
  ...infrastructure("cluster-api-provider-gcp@v1.13.1", "gcpclusters", "gcpmachinetemplates"),
  ...infrastructure("cluster-api-provider-azure@v1.23.1", "azureclusters", "azuremachinetemplates"),
].map((file) => join(CACHE, "sigs.k8s.io", file));
const CILIUM = "github.com/cilium/cilium@v1.20.2/pkg/k8s/apis/cilium.io/client/crds";
FILES.push(...["v2/ciliumloadbalancerippools.yaml", "v2alpha1/ciliuml2announcementpolicies.yaml"].map((file) => join(CACHE, CILIUM, file)));
const missing = FILES.find((file) => !existsSync(file));

const resources = new Map(
  Object.values(kube).flatMap((value: unknown) => {
    const { group, kind, plural } = (value ?? {}) as Partial<Resource>;
    return group === undefined || kind === undefined || plural === undefined ? [] : [[`${group}/${kind}`, value as Resource] as const];
  }),
);

const objects = [...publishedExampleObjects().map(({ object }) => object), ...ownExampleObjects()];
const rows = objects.map((object) => ({ name: describeObject(object), object }));

describe.skipIf(missing !== undefined)(
  `compiled clusters and the published CRDs (skipped where ${missing ?? "nothing"} is missing)`,
  () => {
    let started: Promise<EmbeddedCluster> | undefined;
    const running = () => (started ??= startEmbeddedCluster({ crds: FILES }));
    afterAll(async () => (await started)?.close());

    test.for(rows)("$name is accepted, and not changed by a second apply", { timeout: 60_000 }, async ({ object }) => {
      const cluster = await running();
      const [group = "", kind] = [object.apiVersion.includes("/") ? object.apiVersion.split("/")[0] : "", object.kind];
      const resource = resources.get(`${group}/${kind}`);
      if (resource === undefined) throw new Error(`${kind} is not declared`);
      const path = `${pathOf(resource, { namespace: object.metadata.namespace, name: object.metadata.name })}?fieldManager=lattice&fieldValidation=Strict`;
      const apply = () => cluster.request("PATCH", path, object as unknown as Json, { "content-type": "application/apply-patch+yaml" });
      const [first, second] = [await apply(), await apply()];
      expect(first).toMatchObject({ code: 201 });
      expect(second).toMatchObject({ code: 200 });
      const version = (answer: { readonly body: unknown }) => fieldAt(answer.body, "metadata", "resourceVersion");
      expect(version(second)).toBe(version(first));
    });

    test("a field that the CRD does not have is refused", { timeout: 60_000 }, async () => {
      const cluster = await running();
      const object = {
        apiVersion: "infrastructure.cluster.x-k8s.io/v1beta2",
        kind: "DevCluster",
        metadata: { name: "a" },
        spec: { backend: { podman: {} } },
      };
      const path = `${pathOf(kube.devClusters, { namespace: "capi-cell", name: "a" })}?fieldManager=lattice&fieldValidation=Strict`;
      const answer = await cluster.request("PATCH", path, object, { "content-type": "application/apply-patch+yaml" });
      expect(answer.code).toBeGreaterThanOrEqual(400);
    });
  },
);
