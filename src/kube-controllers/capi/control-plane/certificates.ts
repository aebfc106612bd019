/** The authorities of a new cluster, as Secrets `<cluster>-ca`, `-etcd`, `-proxy`, `-sa`, and a kubeconfig where the infrastructure has an endpoint. */
import { createPublicKey } from "node:crypto";
import { err, map, ok, reveal, sensitive, type Result } from "#base";
import { formatYaml, secrets, type KubeObject } from "#kube";
import type { KubeError } from "#kube-client";
import { createCertificateAuthority, createSigningKey, issueCertificate, loadCertificateAuthority } from "#pki";
import type { CapiWork } from "../capi-work.ts";
import { CAPI_SECRET_TYPE, CLUSTER_LABEL, kubeconfigSecret } from "../names.ts";
import { controllerRef, numberAt, refAt, textAt, type CapiObject } from "../objects.ts";
import { secretObject, secretText } from "../secret-data.ts";
import { createOnce } from "../writes.ts";

const YEAR_MS = 365 * 24 * 3_600_000;
const AUTHORITIES: readonly (readonly [purpose: string, commonName: string])[] = [
  ["ca", "kubernetes"],
  ["etcd", "etcd-ca"],
  ["proxy", "front-proxy-ca"],
];

/** Creates the Secrets that do not exist; existing ones are never changed. */
export async function ensureCertificates(work: CapiWork, cluster: CapiObject, controlPlane: CapiObject): Promise<Result<void, KubeError>> {
  for (const purpose of ["ca", "etcd", "proxy", "sa"]) {
    const name = `${cluster.metadata.name}-${purpose}`;
    if (work.caches.secrets.get({ namespace: cluster.metadata.namespace, name }) !== undefined) continue;
    const made = pairOf(work, purpose);
    if (!made.ok) return err({ kind: "invalid", message: made.error });
    const created = await createSecret(work, { cluster, controlPlane, name, data: made.value });
    if (!created.ok) return created;
  }
  return ok(undefined);
}

function pairOf({ clock }: CapiWork, purpose: string): Result<Record<string, string>, string> {
  if (purpose === "sa") {
    const key = reveal(createSigningKey().pem);
    const certificate = createPublicKey(key).export({ type: "spki", format: "pem" }).toString();
    return ok({ "tls.crt": certificate, "tls.key": key });
  }
  const commonName = AUTHORITIES.find(([name]) => name === purpose)?.[1] ?? purpose;
  const authority = createCertificateAuthority({ commonName, ...validity(clock.now(), 10) });
  if (!authority.ok) return err(authority.error.message);
  return ok({ "tls.crt": authority.value.certificate, "tls.key": reveal(authority.value.key) });
}

const validity = (now: number, years: number) => ({ notBefore: new Date(now - 300_000), notAfter: new Date(now + years * YEAR_MS) });

type NewSecret = {
  readonly cluster: KubeObject;
  readonly controlPlane: CapiObject;
  readonly name: string;
  readonly data: Readonly<Record<string, string>>;
};

async function createSecret(work: CapiWork, { cluster, controlPlane, name, data }: NewSecret): Promise<Result<boolean, KubeError>> {
  const { namespace } = cluster.metadata;
  const metadata = {
    name,
    ...(namespace === undefined ? {} : { namespace }),
    labels: { [CLUSTER_LABEL]: cluster.metadata.name },
    ownerReferences: [controllerRef(controlPlane)],
  };
  return createOnce(work.client, secrets, secretObject({ metadata, type: CAPI_SECRET_TYPE, data }));
}

/**
 * True: there is a kubeconfig. False: there is none, and none is made, because the infrastructure has no endpoint: its creator provides the
 * kubeconfig, as for a child behind a tunnel.
 */
export async function ensureKubeconfig(work: CapiWork, cluster: CapiObject, controlPlane: CapiObject): Promise<Result<boolean, KubeError>> {
  const { namespace } = cluster.metadata;
  const name = kubeconfigSecret(cluster.metadata.name);
  if (work.caches.secrets.get({ namespace, name }) !== undefined) return ok(true);
  const infrastructure = work.caches.resolve(namespace, refAt(cluster, "spec", "infrastructureRef"));
  const host = textAt(infrastructure, "spec", "controlPlaneEndpoint", "host");
  const port = numberAt(infrastructure, "spec", "controlPlaneEndpoint", "port");
  if (host === undefined || port === undefined) return ok(false);
  const text = await kubeconfigText(work, cluster, `https://${host}:${port}`);
  if (!text.ok) return text;
  return map(await createSecret(work, { cluster, controlPlane, name, data: { value: text.value } }), () => true);
}

async function kubeconfigText(work: CapiWork, cluster: CapiObject, server: string): Promise<Result<string, KubeError>> {
  const { name, namespace } = cluster.metadata;
  const secret = await work.client.get(secrets, { namespace, name: `${name}-ca` });
  if (!secret.ok) return secret;
  const [certificate, key] = [secretText(secret.value, "tls.crt") ?? "", secretText(secret.value, "tls.key") ?? ""];
  const authority = loadCertificateAuthority({ certificate, key: sensitive(key) });
  if (!authority.ok) return err({ kind: "invalid", message: `Secret ${name}-ca: ${authority.error.message}` });
  const subject = { commonName: "kubernetes-admin", organizations: ["system:masters"], usages: ["client" as const] };
  const issued = issueCertificate(authority.value, { ...subject, ...validity(work.clock.now(), 1) });
  if (!issued.ok) return err({ kind: "invalid", message: issued.error.message });
  const base64 = (text: string) => Buffer.from(text).toString("base64");
  const user = `${name}-admin`;
  return ok(
    formatYaml({
      apiVersion: "v1",
      kind: "Config",
      clusters: [{ name, cluster: { server, "certificate-authority-data": base64(certificate) } }],
      contexts: [{ name: `${user}@${name}`, context: { cluster: name, user } }],
      "current-context": `${user}@${name}`,
      users: [
        {
          name: user,
          user: { "client-certificate-data": base64(issued.value.certificate), "client-key-data": base64(reveal(issued.value.key)) },
        },
      ],
    }),
  );
}
