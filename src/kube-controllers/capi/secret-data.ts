/** Data of Secrets: base64 to text and back. */
import { andThen, base64OfText, bytesOfBase64, textOfBytes } from "#base";
import type { KubeObject } from "#kube";
import { textAt, type CapiObject } from "./objects.ts";

export function secretText(secret: KubeObject, key: string): string | undefined {
  const raw = textAt(secret, "data", key);
  if (raw === undefined) return undefined;
  const text = andThen(bytesOfBase64(raw), textOfBytes);
  return text.ok ? text.value : undefined;
}

export type SecretDraft = {
  readonly metadata: KubeObject["metadata"];
  readonly type: string;
  readonly data: Readonly<Record<string, string>>;
};

export function secretObject({ metadata, type, data }: SecretDraft): CapiObject {
  const encoded = Object.fromEntries(Object.entries(data).map(([key, value]) => [key, base64OfText(value)]));
  return Object.assign({ apiVersion: "v1", kind: "Secret", metadata }, { type, data: encoded });
}
