/**
 * Reads the fields of one entry and collects all mistakes, so that one error reports them together. Messages name fields, never values:
 * many of them are secrets.
 */
import { dirname, resolve } from "node:path";
import { field, isJsonObject, type Json, type JsonObject } from "#kube";

export type FieldReader = {
  fault(what: string): void;
  /** Empty text is absence, as in Go. */
  text(name: string): string | undefined;
  flag(name: string): boolean;
  /** The path of a file; relative to the kubeconfig's folder. */
  path(name: string, kubeconfig: string): string | undefined;
  base64Pem(name: string): string | undefined;
  items(name: string): readonly Json[];
  texts(name: string): readonly string[];
  map(name: string): JsonObject;
  object(name: string): FieldReader | undefined;
  objects(name: string): readonly FieldReader[];
};

/** `where` is the prefix of every message in `faults`. */
export function fieldReader(value: Json, where: string, faults: string[]): FieldReader {
  const fault = (what: string) => void faults.push(`${where}${what}`);
  if (!isJsonObject(value)) fault("must be a map of fields");
  // `null` is absence, as in Go
  const get = (name: string): Json | undefined => field(value, name) ?? undefined;
  const expect = <T extends Json>(name: string, is: (found: Json) => found is T, what: string): T | undefined => {
    const found = get(name);
    if (found === undefined || is(found)) return found;
    fault(`${name} must be ${what}`);
    return undefined;
  };
  const text = (name: string) => expect(name, isText, "text; put it in quotes") || undefined;
  const items = (name: string) => expect(name, isList, "a list") ?? [];
  const below = (name: string, found: Json) => fieldReader(found, `${where}${name}: `, faults);
  return {
    fault,
    text,
    flag: (name) => expect(name, isFlag, "true or false") ?? false,
    path(name, kubeconfig) {
      const path = text(name);
      return path === undefined ? undefined : resolve(dirname(kubeconfig), path);
    },
    base64Pem(name) {
      const encoded = text(name);
      if (encoded === undefined) return undefined;
      const pem = Buffer.from(encoded, "base64").toString("utf8");
      if (pem.includes("-----BEGIN ")) return pem;
      fault(`${name} must be PEM, encoded in base64`);
      return undefined;
    },
    items,
    texts(name) {
      const found = items(name);
      if (!found.every(isText)) fault(`${name} must be a list of text; put its items in quotes`);
      return found.filter(isText);
    },
    map: (name) => expect(name, isJsonObject, "a map") ?? {},
    object(name) {
      const found = get(name);
      return found === undefined ? undefined : below(name, found);
    },
    objects: (name) => items(name).map((item) => below(name, item)),
  };
}

const isText = (value: Json): value is string => typeof value === "string";
const isFlag = (value: Json): value is boolean => typeof value === "boolean";
const isList = (value: Json): value is readonly Json[] => Array.isArray(value);
