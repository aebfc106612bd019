export { adaptTypes, type Adaptations, type FieldIndex } from "./adapt-types.ts";
export { typesFrom } from "./read-open-api.ts";
