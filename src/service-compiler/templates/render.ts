/** Renders a template within the budget of its service. All its mistakes are reported, each with its position. */
import { err, ok, type Result } from "#base";
import { MOST_PROBLEMS, MOST_RENDERED_BYTES, NOT_RENDERED, sizeOfValue } from "./budget.ts";
import { lookUp, type FoundValue, type MissingName, type TemplateScope } from "./scope.ts";
import { hasPlaceholders, parseTemplate, placesIn, type Placeholder, type Template, type TemplateProblem } from "./template.ts";
import { isSensitive, joined, plain, type Origin, type Rendered, type Value } from "./value.ts";

export function renderText(text: string, scope: TemplateScope): Result<Rendered, readonly TemplateProblem[]> {
  if (scope.budget.isExceeded && hasPlaceholders(text)) return err([{ message: NOT_RENDERED, line: 1, column: 1, repeated: true }]);
  const template = parseTemplate(text);
  return template.ok ? fill(text, template.value, scope) : template;
}

/** A text without expansion. */
export function literal(text: string): Rendered {
  return { value: plain(text), origins: [] };
}

function fill(text: string, template: Template, scope: TemplateScope): Result<Rendered, readonly TemplateProblem[]> {
  let places: ReturnType<typeof placesIn> | undefined;
  const problemAt = (offset: number, message: string) => (places ??= placesIn(text))(offset, message);
  const parts = lookUpAll(template, scope, problemAt);
  if (!parts.ok) return parts;
  const { values, origins } = parts.value;
  const value = values.length === 0 ? plain("") : joined(values);
  if (value === undefined) return err([problemAt(0, MIXED)]);
  return ok({ value, origins });
}

type Parts = { readonly values: readonly Value[]; readonly origins: readonly Origin[] };
type ProblemAt = (offset: number, message: string) => TemplateProblem;

/** Stops at the first part that exceeds the budget, before anything is joined. */
function lookUpAll(template: Template, scope: TemplateScope, problemAt: ProblemAt): Result<Parts, readonly TemplateProblem[]> {
  const { budget } = scope;
  const count = template.reduce((sum, part) => sum + (typeof part === "string" ? 0 : 1), 0);
  // a text without placeholders cannot grow
  if (count === 0) return ok({ values: template.flatMap((part) => (typeof part === "string" ? [plain(part)] : [])), origins: [] });
  const refused = budget.takePlaceholders(count);
  if (refused !== undefined) return err([{ ...problemAt(0, refused), exceeded: true }]);
  const values: Value[] = [];
  const origins: Origin[] = [];
  const problems: TemplateProblem[] = [];
  let bytes = 0;
  for (const part of template) {
    const found: Result<FoundValue, MissingName> =
      typeof part === "string" ? ok({ value: plain(part), source: "" }) : lookUp(scope, part.path);
    if (found.ok) {
      bytes += sizeOfValue(found.value.value, MOST_RENDERED_BYTES);
      if (bytes > MOST_RENDERED_BYTES) break;
      values.push(found.value.value);
      if (typeof part !== "string") origins.push(originOf(part, found.value));
    } else if (typeof part !== "string") {
      problems.push({ ...problemAt(part.offset, `\${${part.text}}: ${found.error.message}`), resource: found.error.resource });
      if (problems.length >= MOST_PROBLEMS) break;
    }
  }
  if (problems.length > 0) return err(problems);
  const tooLarge = budget.takeValue(bytes);
  return tooLarge === undefined ? ok({ values, origins }) : err([{ ...problemAt(0, tooLarge), exceeded: true }]);
}

const MIXED = "this mixes a value of External Secrets with one from a Secret; give each a variable or file of its own";

function originOf({ text }: Placeholder, { value, source }: FoundValue): Origin {
  return { placeholder: text, source, sensitive: isSensitive(value) };
}
