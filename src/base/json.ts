/** The types of JSON values. */
export type JsonPrimitive = string | number | boolean | null;
/** A JSON value. It is never mutated. */
export type Json = JsonPrimitive | readonly Json[] | JsonObject;
/** A JSON object; `undefined` is an absent field. */
export type JsonObject = { readonly [field: string]: Json | undefined };
