/** Renders one file of a container: text with templates, or bytes. */
import { bytesOfBase64, err, ok, textOfBytes, type Result } from "#base";
import { literal, renderText, type Origin, type TemplateScope, type TemplateProblem, type Value } from "../templates/index.ts";
import type { ContainerSpec } from "./render-service.ts";

export type FileSpec = NonNullable<ContainerSpec["files"]>[string];

export type RenderedFile = {
  readonly content: { readonly kind: "text"; readonly value: Value } | { readonly kind: "bytes"; readonly bytes: Uint8Array };
  readonly origins: readonly Origin[];
  readonly mode: number;
};

export type RenderProblem =
  | { readonly kind: "template"; readonly problems: readonly TemplateProblem[] }
  | { readonly kind: "mount"; readonly message: string };

export function renderFile(
  file: FileSpec,
  scope: TemplateScope,
  readFile: (path: string) => Result<Uint8Array, string>,
): Result<RenderedFile, RenderProblem> {
  const mode = Number.parseInt(file.mode, 8);
  if (file.binaryContent !== undefined) {
    const bytes = bytesOfBase64(file.binaryContent);
    return bytes.ok ? ok({ content: { kind: "bytes", bytes: bytes.value }, origins: [], mode }) : mount(`binaryContent ${bytes.error}`);
  }
  const text = textOf(file, readFile);
  if (!text.ok) return text;
  if (typeof text.value !== "string") return ok({ content: { kind: "bytes", bytes: text.value }, origins: [], mode });
  const rendered = file.noExpand ? ok(literal(text.value)) : renderText(text.value, scope);
  if (!rendered.ok) return err({ kind: "template", problems: rendered.error });
  const { value, origins } = rendered.value;
  return ok({ content: { kind: "text", value }, origins, mode });
}

function mount(message: string): Result<never, RenderProblem> {
  return err({ kind: "mount", message });
}

/** A source that is not text is used as bytes. */
function textOf(
  { content, source }: FileSpec,
  readFile: (path: string) => Result<Uint8Array, string>,
): Result<string | Uint8Array, RenderProblem> {
  if (content !== undefined) return ok(content);
  if (source === undefined) return mount("it has no content");
  const bytes = readFile(source);
  if (!bytes.ok) return mount(`source: ${bytes.error}`);
  const text = textOfBytes(bytes.value);
  return ok(text.ok ? text.value : bytes.value);
}
