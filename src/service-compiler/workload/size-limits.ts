/** A ConfigMap or Secret holds at most one MiB of values. More is a compile error, so that the API server does not refuse it later. */
import { fieldAt, isJsonObject, type KubeObject } from "#kube";
import type { CompileError } from "../errors.ts";
import type { CompiledEnv } from "./env.ts";
import type { CompiledFiles } from "./files.ts";

const MOST_BYTES = 1_048_576;

type Config = { readonly env: CompiledEnv; readonly files: CompiledFiles };

export function tooLarge(configs: ReadonlyMap<string, Config>): readonly CompileError[] {
  return [...configs].flatMap(([container, { env, files }]) => [
    ...[env.objects.open, env.objects.closed].flatMap((object) => {
      const { key: variable, size } = largest(object);
      return size <= MOST_BYTES ? [] : [{ kind: "template-variable" as const, container, variable, message: complaint(object, size) }];
    }),
    ...[files.objects.open, files.objects.closed].flatMap((object) => {
      const { key, size } = largest(object);
      const path = files.mounts.find(({ subPath }) => subPath === key)?.["mountPath"];
      const at = typeof path === "string" ? path : key;
      return size <= MOST_BYTES ? [] : [{ kind: "invalid-file-mount" as const, container, path: at, message: complaint(object, size) }];
    }),
  ]);
}

function complaint(object: KubeObject | undefined, size: number): string {
  return `the ${object?.kind ?? "object"} for it would hold ${size} bytes, and may hold ${MOST_BYTES}; this is the largest part of it`;
}

/** The key with the largest value, and the size of all values. */
function largest(object: KubeObject | undefined): { readonly key: string; readonly size: number } {
  const data = fieldAt(object, "data");
  const texts = Object.entries(isJsonObject(data) ? data : {}).filter((entry): entry is [string, string] => typeof entry[1] === "string");
  const bytesOf = object?.kind === "Secret" ? decodedLength : counterFor(texts);
  let [key, most, size] = ["", -1, 0];
  for (const [name, text] of texts) {
    const bytes = bytesOf(text);
    size += bytes;
    if (bytes > most) [key, most] = [name, bytes];
  }
  return { key, size };
}

/** A UTF-16 code unit is at most three bytes: texts within that bound need no exact count. */
function counterFor(texts: readonly (readonly [string, string])[]): (text: string) => number {
  const characters = texts.reduce((sum, [, text]) => sum + text.length, 0);
  return characters * 3 <= MOST_BYTES ? (text) => text.length : (text) => new TextEncoder().encode(text).byteLength;
}

function decodedLength(base64: string): number {
  const padding = base64.endsWith("==") ? 2 : base64.endsWith("=") ? 1 : 0;
  return (base64.length * 3) / 4 - padding;
}
