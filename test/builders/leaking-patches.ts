/** A Deployment of another owner and a service that patches it, with values to search for in all that can be read. */
import type { FixtureObject } from "#embedded-cluster";
import { RECORD_ANNOTATION } from "#workload-patch";
import { latticeService, secret, secretBindings } from "./lattice-objects.ts";

/** With characters that JSON and URLs escape. */
export const CORE = "c4n4ryVa1ue";
export const CANARY = `${CORE}"/p@ss ü`;
/** A plain value that the owner of the Deployment has in it. */
export const OWNERS_CORE = "0wnersVa1ue";
export const OWNERS = `${OWNERS_CORE}"/x`;

export const PASSWORD = "${resources.db.password}";
const BOUND = "${secrets.stripe.key}";
const SOURCES = { LEVEL: PASSWORD, MIXED: `x${BOUND}y`, B: BOUND, REF: BOUND, DB_PASSWORD: PASSWORD };
const URLS = { URL: "${resources.db.connection_string}", CACHE: "${resources.cache.url_with_auth}" };
const FILES = {
  "/etc/text": { content: `a\n${PASSWORD} ${BOUND}\n` },
  "/etc/bytes": { binaryContent: Buffer.from([0, 1, 2, 255]).toString("base64") },
};
export const main = { variables: { ...SOURCES, ...URLS }, files: FILES };
const resources = { db: { type: "postgres", id: "main-db" }, cache: { type: "redis", params: { auth: true } } };

const secure = {
  allowPrivilegeEscalation: false,
  runAsNonRoot: true,
  capabilities: { drop: ["ALL"] },
  seccompProfile: { type: "RuntimeDefault" },
};
export const ownersEnv = [
  { name: "LEVEL", value: "info" },
  { name: "DB_PASSWORD", value: OWNERS },
  { name: "REF", valueFrom: { configMapKeyRef: { name: "own", key: "ref", optional: true } } },
];

/** As its owner writes it: with plain values. */
export function deployment(namespace: string, container: object = {}, name = "nginx"): FixtureObject {
  const spec = {
    serviceAccountName: "nginx",
    initContainers: [{ name: "migrate", image: "nginx:1", env: ownersEnv, securityContext: secure }],
    containers: [{ name: "main", image: "nginx:1", env: ownersEnv, args: ["--key", OWNERS], securityContext: secure, ...container }],
  };
  const template = { metadata: { labels: { app: name } }, spec };
  const metadata = { name, namespace };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata,
    spec: { replicas: 1, selector: { matchLabels: { app: name } }, template },
  };
}

/** LatticeService NAMESPACE/web, with sensitive values in every field that accepts templates. */
export const patching = (namespace: string, spec: object = {}) =>
  latticeService(`${namespace}/web`, {
    workloadRef: { kind: "Deployment", name: "nginx", namespace },
    containers: { main, migrate: main },
    resources,
    ...spec,
  });

/** Refuses the patched Deployment with a message that quotes it. */
export function quotingPolicy(namespace: string): readonly FixtureObject[] {
  const value = "object.spec.template.spec.containers[0].args[1]";
  const [apiVersion, metadata] = ["admissionregistration.k8s.io/v1", { name: "quoting" }];
  const rules = [{ apiGroups: ["apps"], apiVersions: ["v1"], operations: ["CREATE", "UPDATE"], resources: ["deployments"] }];
  const validation = {
    expression: `!has(object.metadata.annotations) || !("${RECORD_ANNOTATION}" in object.metadata.annotations)`,
    messageExpression: `"denied with " + ${value}`,
  };
  const namespaceSelector = { matchLabels: { "kubernetes.io/metadata.name": namespace } };
  return [
    {
      apiVersion,
      kind: "ValidatingAdmissionPolicy",
      metadata,
      spec: { matchConstraints: { resourceRules: rules, namespaceSelector }, validations: [validation] },
    },
    {
      apiVersion,
      kind: "ValidatingAdmissionPolicyBinding",
      metadata,
      spec: { policyName: "quoting", validationActions: ["Deny"] },
    },
  ];
}

/** The Secrets that the service uses, and what binds them. */
export function secretsOf(namespace: string): readonly FixtureObject[] {
  return [
    secret(`${namespace}/stripe`, { key: CANARY }),
    secret(`${namespace}/postgres-main-db`, { password: CANARY }),
    secret(`${namespace}/redis-cache`, { password: CANARY }),
    secretBindings(`${namespace}/all`, { bindings: { stripe: { secretRef: { name: "stripe" } } } }),
  ];
}
