export { MOST_PROBLEMS } from "./budget.ts";
export { literal, renderText } from "./render.ts";
export {
  fields,
  lookUp,
  missing,
  scopeOf,
  withNamespace,
  type FoundValue,
  type MissingName,
  type TemplateNamespace,
  type TemplateScope,
} from "./scope.ts";
export { hasPlaceholders, type Part, type Placeholder, type Template, type TemplateProblem } from "./template.ts";
export { isSensitive, joined, plain, secret, type ExternalReference, type Origin, type Rendered, type Value } from "./value.ts";
