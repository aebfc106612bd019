/**
 * A transport around ScriptedApi's that answers with `managedFields`, which the scripted API leaves out: one entry per field
 * manager that applied the object, saying which labels it set. Enough for code that asks "who set this label?".
 */
import { ok, type Result } from "#base";
import { field, fieldAt, isJsonObject, parseJson, type Json, type JsonObject } from "#kube";
import type { KubeError, Transport, TransportAnswer, TransportRequest } from "#kube-client";

export function withManagedFields(inner: Transport): Transport {
  const labels = new Map<string, { readonly manager: string; readonly names: readonly string[] }>();
  return {
    close: () => inner.close(),
    async send(request, signal) {
      const answer = await inner.send(request, signal);
      if (!answer.ok || isWatch(request)) return answer;
      if (answer.value.code < 300) note(labels, request);
      return ok({ ...answer.value, body: rewritten(answer.value, (json) => decorate(labels, json)) });
    },
  };
}

type Applied = Map<string, { readonly manager: string; readonly names: readonly string[] }>;

function isWatch(request: TransportRequest): boolean {
  return request.path.includes("watch=");
}

function note(labels: Applied, request: TransportRequest): void {
  const body = parseJson(request.body ?? "null");
  const isApply = Object.values(request.headers).some((value) => value.startsWith("application/apply-patch"));
  if (!isApply || !body.ok) return;
  const manager = new URL(request.path, "http://api").searchParams.get("fieldManager") ?? "";
  const found = fieldAt(body.value, "metadata", "labels");
  labels.set(idOf(body.value), { manager, names: isJsonObject(found) ? Object.keys(found) : [] });
}

function idOf(object: Json): string {
  return [field(object, "kind"), fieldAt(object, "metadata", "namespace"), fieldAt(object, "metadata", "name")].map(String).join("/");
}

function decorate(labels: Applied, json: Json): Json {
  const items = field(json, "items");
  if (Array.isArray(items)) return { ...(json as JsonObject), items: items.map((item: Json) => decorate(labels, item)) };
  const applied = labels.get(idOf(json));
  if (applied === undefined || !isJsonObject(json)) return json;
  const owned = Object.fromEntries(applied.names.map((name) => [`f:${name}`, {}]));
  const entry = { manager: applied.manager, operation: "Apply", fieldsV1: { "f:metadata": { "f:labels": owned } } };
  return { ...json, metadata: { ...(json["metadata"] as JsonObject), managedFields: [entry] } };
}

async function* rewritten(answer: TransportAnswer, change: (json: Json) => Json): AsyncIterable<Result<Uint8Array, KubeError>> {
  let text = "";
  for await (const piece of answer.body) {
    if (!piece.ok) return yield piece;
    text += new TextDecoder().decode(piece.value);
  }
  const parsed = parseJson(text);
  yield ok(new TextEncoder().encode(parsed.ok ? JSON.stringify(change(parsed.value)) : text));
}
