import { describe, expect, test } from "vitest";
import { expectOk, ok, sensitive } from "#base";
import { latticeKinds } from "#crds";
import { startEmbeddedCluster } from "#embedded-cluster";
import { defineResource, describeObject, fieldAt, parseYaml, type ConfigMap, type KubeObject } from "#kube";
import { bundleSources } from "../../test/builders/bundle-sources.ts";
import { bootstrapManifests, type BootstrapManifestsInput } from "./bootstrap-manifests.ts";
import type { Bundle, BundleComponent } from "./bundle.ts";
import { clusterBundle, localClusterBundle } from "./cluster-bundle.ts";
import { readObjects } from "./component-objects.ts";
import { DEFERRED_OBJECTS, parseDeferredObjects } from "./deferred-objects.ts";
import { makeBundle } from "./make-bundle.ts";
import { webhookCertificateNeeds, type WebhookCertificate } from "./webhook-certificates.ts";

const made = expectOk(makeBundle(bundleSources(), { mirrors: [], variables: new Map() }));
const components = made.entries.map(({ name, version, file, images }): [string, BundleComponent] => [
  name,
  { name, version, images, objects: expectOk(readObjects(made.files.get(file) ?? "", file)).objects },
]);
const bundle: Bundle = { components: new Map(components) };

const inventoryCrd = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "providers.clusterctl.cluster.x-k8s.io" },
  spec: {
    group: "clusterctl.cluster.x-k8s.io",
    scope: "Namespaced",
    names: { plural: "providers", singular: "provider", kind: "Provider", listKind: "ProviderList" },
    versions: [
      {
        name: "v1alpha3",
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
      },
    ],
  },
};
const rbac: KubeObject[] = [
  { apiVersion: "v1", kind: "Namespace", metadata: { name: "lattice-system" } },
  { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "lattice-operator", namespace: "lattice-system" } },
];
const labels = { app: "lattice-operator" };
const deployment = Object.assign(
  { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "lattice-operator", namespace: "lattice-system" } },
  {
    spec: {
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: "operator", image: "lattice:1" }] } },
    },
  },
);
const docker = expectOk(clusterBundle(bundle, "docker", inventoryCrd));
const certificates: WebhookCertificate[] = webhookCertificateNeeds(docker.providers).map(({ namespace, secretName }) => ({
  namespace,
  secretName,
  certificate: `cert of ${secretName}`,
  key: sensitive("k"),
  ca: `ca of ${secretName}`,
}));
const parent = { cell: "hq", endpoint: "h:50051", bootstrap: "https://h:8443", caBundle: "PEM", csrToken: sensitive("token") };
const input: BootstrapManifestsInput = {
  cluster: "east",
  parent,
  operator: { rbac, deployment },
  bundle: docker,
  webhookCertificates: certificates,
};
const objectsOf = (stream: string) => expectOk(readObjects(stream, "stream")).objects;
const objects = objectsOf(expectOk(bootstrapManifests(input)));
const find = (kind: string, name: string) => objects.find((object) => object.kind === kind && object.metadata.name === name);

describe("the stream of a new cluster", () => {
  test("begins with CRDs and namespaces, and ends with the operator", () => {
    const ranks = objects.map(({ kind }) => (kind === "CustomResourceDefinition" ? 0 : kind === "Namespace" ? 1 : 2));
    expect(ranks).toEqual(ranks.toSorted((one, other) => one - other));
    expect(objects.at(-1)).toEqual(deployment);
    expect(objects.filter(({ kind }) => kind === "CustomResourceDefinition").slice(0, 8)).toEqual(
      latticeKinds.map(({ crd }) => expectOk(parseYaml(JSON.stringify(crd())))[0]),
    );
  });

  test("has the identity, and the configuration of the parent", () => {
    expect(find("ConfigMap", "lattice-identity")).toMatchObject({ data: { cluster: "east" }, metadata: { namespace: "lattice-system" } });
    const base64 = (text: string) => Buffer.from(text).toString("base64");
    expect(find("Secret", "lattice-parent-config")).toMatchObject({
      data: {
        cell: base64("hq"),
        endpoint: base64("h:50051"),
        bootstrap: base64("https://h:8443"),
        "ca.crt": base64("PEM"),
        "csr-token": base64("token"),
      },
    });
  });

  test("has the bindings that an upgrade by Cluster API wants, equal to those of kubeadm", () => {
    const bindings = ["kubeadm:cluster-admins", "kubeadm:apiserver-kubelet-client"].map((name) => find("ClusterRoleBinding", name));
    const of = (role: string, kind: string, name: string) => ({
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: role },
      subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind, name }],
    });
    expect(bindings).toMatchObject([
      of("cluster-admin", "Group", "kubeadm:cluster-admins"),
      of("system:kubelet-api-admin", "User", "kube-apiserver-kubelet-client"),
    ]);
  });

  test("has no configuration of a parent without one", () => {
    const { parent: _, ...alone } = input;
    expect(expectOk(bootstrapManifests(alone))).not.toContain("lattice-parent-config");
  });

  test("has Secrets of webhooks in place of cert-manager's objects, and their CA in CRDs", () => {
    expect(objects.filter(({ apiVersion }) => apiVersion.startsWith("cert-manager.io/"))).toEqual([]);
    expect(find("Secret", "capi-webhook-service-cert")).toMatchObject({
      type: "kubernetes.io/tls",
      metadata: { namespace: "capi-system" },
    });
    const crd = find("CustomResourceDefinition", "clusters.cluster.x-k8s.io");
    expect(fieldAt(crd, "spec", "conversion", "webhook", "clientConfig", "caBundle")).toBe(
      Buffer.from("ca of capi-webhook-service-cert").toString("base64"),
    );
    expect(crd?.metadata.annotations).toEqual({});
  });

  test("has the inventory of clusterctl with the versions of the bundle", () => {
    const map = find("ConfigMap", DEFERRED_OBJECTS);
    expect(expectOk(parseDeferredObjects(map as ConfigMap))).toMatchObject([
      { metadata: { name: "cluster-api", namespace: "capi-system" }, providerName: "cluster-api", type: "CoreProvider", version: "v1.0.0" },
      { metadata: { namespace: "capi-kubeadm-bootstrap-system" }, providerName: "kubeadm", type: "BootstrapProvider" },
      { metadata: { namespace: "capi-kubeadm-control-plane-system" }, providerName: "kubeadm", type: "ControlPlaneProvider" },
      { metadata: { namespace: "capd-system" }, providerName: "docker", type: "InfrastructureProvider" },
    ]);
  });

  test("has no object without a field of its own, which a second server-side apply would change", () => {
    expect(find("Namespace", "lattice-system")?.metadata.labels).toEqual({ "app.kubernetes.io/managed-by": "lattice" });
    expect(objects.filter((object) => Object.keys(object).length === 3 && object.metadata.labels === undefined)).toEqual([]);
  });

  test("has no object of a kind that it defines: kubectl could not resolve it", () => {
    const defined = objects
      .filter(({ kind }) => kind === "CustomResourceDefinition")
      .map((crd) => ({ group: fieldAt(crd, "spec", "group"), kind: fieldAt(crd, "spec", "names", "kind") }));
    expect(defined).toContainEqual({ group: "clusterctl.cluster.x-k8s.io", kind: "Provider" });
    const isDefined = ({ apiVersion, kind }: KubeObject) =>
      defined.some((one) => one.kind === kind && one.group === apiVersion.split("/")[0]);
    expect(objects.filter(isDefined)).toEqual([]);
  });

  test("permits the operator to apply the deferred objects, and no others", () => {
    expect(find("ClusterRole", DEFERRED_OBJECTS)).toMatchObject({
      rules: [{ apiGroups: ["clusterctl.cluster.x-k8s.io"], resources: ["providers"], verbs: ["create", "get", "patch"] }],
    });
    expect(find("ClusterRoleBinding", DEFERRED_OBJECTS)).toMatchObject({
      roleRef: { name: DEFERRED_OBJECTS },
      subjects: [{ kind: "ServiceAccount", name: "lattice-operator", namespace: "lattice-system" }],
    });
  });

  test("has no ConfigMap of deferred objects without any", () => {
    const stream = expectOk(bootstrapManifests({ ...input, bundle: localClusterBundle({ crds: [inventoryCrd], inventory: [] }) }));
    expect(stream).not.toContain(DEFERRED_OBJECTS);
  });

  test("is accepted twice by an API server, and then changes nothing any more", async () => {
    await using cluster = await startEmbeddedCluster({ controllers: false });
    const apply = async () => {
      const versions: (string | undefined)[] = [];
      for (const object of objects) {
        const [group = "", version = ""] = object.apiVersion.includes("/") ? object.apiVersion.split("/") : ["", object.apiVersion];
        const { kind, metadata } = object;
        const resource = defineResource({
          group,
          version,
          kind,
          plural: `${kind.toLowerCase()}s`,
          namespaced: metadata.namespace !== undefined,
        });
        const applied = await cluster.client.apply(resource, object, { fieldManager: "kubectl", force: true });
        expect([describeObject(object), applied.ok ? undefined : applied.error]).toEqual([describeObject(object), undefined]);
        versions.push(applied.ok ? applied.value.metadata.resourceVersion : undefined);
      }
      return versions;
    };
    await apply();
    const second = await apply();
    // conditions of CRDs are written after the first run
    expect(await apply()).toEqual(second);
  });
});

describe("webhook configurations", () => {
  const configuration = (annotations: Record<string, string>): KubeObject =>
    Object.assign(
      { apiVersion: "admissionregistration.k8s.io/v1", kind: "ValidatingWebhookConfiguration", metadata: { name: "v", annotations } },
      { webhooks: [{ name: "a", clientConfig: { service: { name: "s" } } }, { name: "b" }] },
    );
  const withObject = (object: KubeObject) => {
    const [first, ...rest] = docker.providers;
    const providers = first === undefined ? [] : [{ ...first, objects: [...first.objects, object] }, ...rest];
    return bootstrapManifests({ ...input, bundle: { ...docker, providers } });
  };

  test("get the CA of the Certificate that they name, and keep their other annotations", () => {
    const stream = expectOk(withObject(configuration({ "cert-manager.io/inject-ca-from": "capi-system/capi-serving-cert", other: "x" })));
    const found = objectsOf(stream).find(({ metadata }) => metadata.name === "v");
    expect(fieldAt(found, "webhooks")).toMatchObject([
      { clientConfig: { service: { name: "s" }, caBundle: expect.any(String) as string } },
      { name: "b" },
    ]);
    expect(found?.metadata.annotations).toEqual({ other: "x" });
  });
  test("are refused when they name a Certificate that is not there", () => {
    expect(withObject(configuration({ "cert-manager.io/inject-ca-from": "a/b" }))).toMatchObject({
      error: { kind: "manifests", message: expect.stringContaining("names a/b, and there is no such Certificate") as string },
    });
  });
});

describe("a stream is refused", () => {
  test("with deferred objects that are too large for the annotation of kubectl", () => {
    const many = Array.from({ length: 1_000 }, (_, index) =>
      Object.assign(
        { apiVersion: "clusterctl.cluster.x-k8s.io/v1alpha3", kind: "Provider", metadata: { name: `p${index}`, namespace: "capi-system" } },
        { providerName: "x".repeat(200) },
      ),
    );
    expect(bootstrapManifests({ ...input, bundle: { ...docker, inventory: [...docker.inventory, ...many] } })).toMatchObject({
      error: { kind: "manifests", message: expect.stringContaining("have more than 200000 characters") as string },
    });
  });

  const rows: { name: string; given: Partial<BootstrapManifestsInput>; want: string }[] = [
    {
      name: "with an object twice",
      given: { operator: { rbac: [...rbac, ...rbac], deployment } },
      want: "Namespace lattice-system is there twice",
    },
    {
      name: "with a namespace that does not exist",
      given: { operator: { rbac: rbac.slice(1), deployment } },
      want: "ServiceAccount lattice-system/lattice-operator: namespace lattice-system is not part of the manifests",
    },
    {
      name: "without a certificate of a webhook",
      given: { webhookCertificates: [] },
      want: "Certificate capi-system/capi-serving-cert: no certificate was issued for Secret capi-system/capi-webhook-service-cert",
    },
  ];
  test.each(rows)("$name", ({ given, want }) => {
    expect(bootstrapManifests({ ...input, ...given })).toEqual({ ok: false, error: { kind: "manifests", message: want } });
  });
});

describe("the part of a bundle for one cluster", () => {
  test("needs a bundle, except for provider local", () => {
    expect(clusterBundle(undefined, "aws", inventoryCrd)).toMatchObject({
      error: { kind: "missing", message: expect.stringContaining("clusters of provider aws need a bundle") as string },
    });
    const local = localClusterBundle({ crds: [inventoryCrd], inventory: [] });
    const stream = objectsOf(expectOk(bootstrapManifests({ ...input, bundle: local })));
    expect(stream.map(({ kind }) => kind)).not.toContain("DaemonSet");
    expect(stream.filter(({ kind }) => kind === "CustomResourceDefinition")).toHaveLength(9);
  });
  test("names the component that is missing", () => {
    expect(clusterBundle(bundle, "aws", inventoryCrd)).toMatchObject({
      error: {
        message: "the bundle has no component infrastructure-aws, which clusters of provider aws need; it has infrastructure-docker",
      },
    });
  });
  test("has the CRD of the inventory once, also when a component brings it", () => {
    const core = bundle.components.get("cluster-api");
    const withCrd = new Map(bundle.components);
    if (core !== undefined) withCrd.set("cluster-api", { ...core, objects: [...core.objects, inventoryCrd] });
    expect(clusterBundle({ components: withCrd }, "docker", inventoryCrd)).toMatchObject(
      ok({ inventory: [{ kind: "Provider" }, {}, {}, {}] }),
    );
  });
});
