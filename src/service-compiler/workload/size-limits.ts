/** A ConfigMap or Secret holds one MiB. Files that do not fit are an error here, and not a refusal of the API server later. */
import { fieldAt, isJsonObject, type KubeObject } from "#kube";
import type { CompileError } from "../errors.ts";
import type { CompiledEnv } from "./env.ts";
import type { CompiledFiles } from "./files.ts";

const MOST_BYTES = 1_048_576;

type Config = { readonly env: CompiledEnv; readonly files: CompiledFiles };

export function tooLarge(configs: ReadonlyMap<string, Config>): readonly CompileError[] {
  return [...configs].flatMap(([container, { env, files }]) => [
    ...[env.objects.open, env.objects.closed].flatMap((object) => {
      const [variable, size] = largest(object);
      return size <= MOST_BYTES ? [] : [{ kind: "template-variable" as const, container, variable, message: complaint(object, size) }];
    }),
    ...[files.objects.open, files.objects.closed].flatMap((object) => {
      const [key, size] = largest(object);
      const path = files.mounts.find(({ subPath }) => subPath === key)?.["mountPath"];
      const at = typeof path === "string" ? path : key;
      return size <= MOST_BYTES ? [] : [{ kind: "invalid-file-mount" as const, container, path: at, message: complaint(object, size) }];
    }),
  ]);
}

function complaint(object: KubeObject | undefined, size: number): string {
  return `the ${object?.kind ?? "object"} for it would hold ${size} bytes, and may hold ${MOST_BYTES}; this is the largest part of it`;
}

/** The key with most in it, and the size of all. */
function largest(object: KubeObject | undefined): readonly [string, number] {
  const data = fieldAt(object, "data");
  const sizes = Object.entries(isJsonObject(data) ? data : {}).map(
    ([key, text]) => [key, bytesOf(text, object?.kind === "Secret")] as const,
  );
  const [first = ["", 0] as const] = sizes.toSorted(([, a], [, b]) => b - a);
  return [first[0], sizes.reduce((sum, [key, size]) => sum + key.length + size, 0)];
}

function bytesOf(text: unknown, encoded: boolean): number {
  if (typeof text !== "string") return 0;
  // at most three bytes a character: most texts need no counting
  if (encoded) return Math.floor((text.length * 3) / 4);
  return text.length * 3 <= MOST_BYTES / 4 ? text.length : new TextEncoder().encode(text).byteLength;
}
