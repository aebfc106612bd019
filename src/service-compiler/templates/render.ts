/** A template filled in. All that is wrong with it is told at once, each with its place. */
import { err, ok, type Result } from "#base";
import { lookUp, type Found, type Scope } from "./scope.ts";
import { parseTemplate, placesIn, type Placeholder, type Template, type TemplateProblem } from "./template.ts";
import { isSensitive, joined, plain, type Origin, type Rendered, type Value } from "./value.ts";

export function renderText(text: string, scope: Scope): Result<Rendered, readonly TemplateProblem[]> {
  const template = parseTemplate(text);
  return template.ok ? fill(text, template.value, scope) : template;
}

/** A text that is taken as it is. */
export function literal(text: string): Rendered {
  return { value: plain(text), origins: [] };
}

function fill(text: string, template: Template, scope: Scope): Result<Rendered, readonly TemplateProblem[]> {
  const values: Value[] = [];
  const origins: Origin[] = [];
  const problems: TemplateProblem[] = [];
  let places: ReturnType<typeof placesIn> | undefined;
  const problemAt = (offset: number, message: string) => (places ??= placesIn(text))(offset, message);
  for (const part of template) {
    if (typeof part === "string") {
      values.push(plain(part));
      continue;
    }
    const found = lookUp(scope, part.path);
    if (found.ok) {
      values.push(found.value.value);
      origins.push(originOf(part, found.value));
    } else problems.push({ ...problemAt(part.offset, `\${${part.text}}: ${found.error.message}`), resource: found.error.resource });
  }
  if (problems.length > 0) return err(problems);
  const value = values.length === 0 ? plain("") : joined(values);
  if (value === undefined) return err([problemAt(0, MIXED)]);
  return ok({ value, origins });
}

const MIXED = "this mixes a value of External Secrets with one from a Secret; give each a variable or file of its own";

function originOf({ text }: Placeholder, { value, source }: Found): Origin {
  return { placeholder: text, source, sensitive: isSensitive(value) };
}
