export { hasPlaceholders, renderText, type Origin, type Rendered, type TemplateProblem, type Value } from "./templates/index.ts";
