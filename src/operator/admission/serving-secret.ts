/** Secret `lattice-admission-certificate`: the serving certificate of the webhook, which the leader writes and every replica reads. */
import { base64OfText, err, ok, reveal, sensitive, type Result } from "#base";
import type { KubeObject } from "#kube";
import type { KeyPairPem } from "#pki";
import { secretText } from "../webhooks/webhook-objects.ts";

export const ADMISSION_AUTHORITY_SECRET = "lattice-admission-ca";
export const ADMISSION_CERTIFICATE_SECRET = "lattice-admission-certificate";

export type StoredServing = KeyPairPem & {
  /** The authorities that clients trusted when it was issued, as PEM. */
  readonly trust: string;
};

export function servingSecret(home: string, { certificate, key }: KeyPairPem, trust: string): KubeObject {
  const texts = { "tls.crt": certificate, "tls.key": reveal(key), "ca.crt": trust };
  const data = Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, base64OfText(text)]));
  const metadata = { name: ADMISSION_CERTIFICATE_SECRET, namespace: home, labels: { "app.kubernetes.io/managed-by": "lattice" } };
  return { apiVersion: "v1", kind: "Secret", metadata, type: "kubernetes.io/tls", data } as KubeObject;
}

/** An error names the key, never a value. */
export function readServing(secret: KubeObject): Result<StoredServing, string> {
  const [certificate, key] = [secretText(secret, "tls.crt"), secretText(secret, "tls.key")];
  if (certificate === undefined || key === undefined) {
    const missing = certificate === undefined ? "tls.crt" : "tls.key";
    return err(`Secret ${ADMISSION_CERTIFICATE_SECRET}, ${missing}: is missing or is not text in base64`);
  }
  return ok({ certificate, key: sensitive(key), trust: secretText(secret, "ca.crt") ?? "" });
}
