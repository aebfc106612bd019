export { adaptTypes, type Adaptations, type FieldIndex } from "./adapt-types.ts";
export { describedTypes } from "./described-types.ts";
