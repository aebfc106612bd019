/** Objects with certificates of webhooks, as they are read and patched: the Secret of the server, and `caBundle` of its clients. */
import { andThen, base64OfText, bytesOfBase64, ok, reveal, textOfBytes, type Result } from "#base";
import type { WebhookClient } from "#bundle";
import {
  customResourceDefinitions,
  field,
  fieldAt,
  mutatingWebhookConfigurations,
  validatingWebhookConfigurations,
  type Json,
  type KubeObject,
  type Resource,
} from "#kube";
import type { PatchBody } from "#kube-client";
import type { KeyPairPem } from "#pki";

export const CLIENT_RESOURCES: Readonly<Record<WebhookClient["kind"], Resource>> = {
  CustomResourceDefinition: customResourceDefinitions,
  MutatingWebhookConfiguration: mutatingWebhookConfigurations,
  ValidatingWebhookConfiguration: validatingWebhookConfigurations,
};

/** cert-manager has taken over: it writes the Secret, and the bundles of objects with its annotation. */
export function isManagedElsewhere({ metadata: { annotations = {} } }: KubeObject): boolean {
  return Object.hasOwn(annotations, "cert-manager.io/inject-ca-from") || Object.hasOwn(annotations, "cert-manager.io/certificate-name");
}

/** The text under a key of a Secret; undefined: there is none that can be read. */
export function secretText(secret: KubeObject, key: string): string | undefined {
  return textOf(fieldAt(secret, "data", key));
}

/** All bundles of one object as PEM; empty: a webhook without one. None: it has no webhook. */
export function bundlesOf(object: KubeObject): readonly string[] {
  return webhooksOf(object).map((webhook) => textOf(fieldAt(webhook, "clientConfig", "caBundle")) ?? "");
}

/** All bundles of the object at once; other fields stay as they are. */
export function bundlePatch(object: KubeObject, trust: string): PatchBody {
  const clientConfig = { caBundle: base64OfText(trust) };
  if (object.kind === "CustomResourceDefinition") return { type: "merge", patch: { spec: { conversion: { webhook: { clientConfig } } } } };
  const webhooks = webhooksOf(object).map((webhook) => ({ name: field(webhook, "name") ?? "", clientConfig }));
  return { type: "strategic", patch: { webhooks } };
}

export function certificatePatch({ certificate, key }: KeyPairPem, trust: string): PatchBody {
  const texts = { "tls.crt": certificate, "tls.key": reveal(key), "ca.crt": trust };
  const data = Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, base64OfText(text)]));
  return { type: "merge", patch: { data } };
}

function webhooksOf(object: KubeObject): readonly Json[] {
  if (object.kind === "CustomResourceDefinition") {
    const webhook = fieldAt(object, "spec", "conversion", "webhook");
    return webhook === undefined ? [] : [webhook];
  }
  const webhooks = field(object, "webhooks");
  return Array.isArray(webhooks) ? webhooks : [];
}

function textOf(value: Json | undefined): string | undefined {
  const text: Result<string, unknown> = typeof value === "string" ? andThen(bytesOfBase64(value), textOfBytes) : ok("");
  return typeof value === "string" && text.ok ? text.value : undefined;
}
