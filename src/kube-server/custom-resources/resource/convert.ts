/**
 * From one version of a custom resource to another. Strategy None rewrites apiVersion and nothing else; Webhook asks somebody
 * outside, through a port that the server fills.
 */
import { err, ok, type Result } from "#base";
import { field, isJsonObject, type Json, type JsonObject } from "#kube";
import { text } from "../crd/json-access.ts";

/** One ConversionReview, there and back: the objects in the wanted version and in the same order. */
export interface ConversionWebhook {
  convert(objects: readonly JsonObject[], desiredApiVersion: string): Promise<Result<readonly JsonObject[], string>>;
}

export function rewriteVersion<T extends JsonObject>(object: T, apiVersion: string): T {
  return field(object, "apiVersion") === apiVersion ? object : { ...object, apiVersion };
}

/**
 * What a webhook gave back, checked: it may change anything but the identity of an object; of metadata only labels and
 * annotations are taken.
 */
export function acceptConverted(original: JsonObject, converted: Json | undefined, apiVersion: string): Result<JsonObject, string> {
  if (!isJsonObject(converted)) return err("conversion webhook returned an object that is none");
  const kind = text(original, "kind");
  const given = `${text(converted, "apiVersion")}, Kind=${text(converted, "kind")}`;
  if (given !== `${apiVersion}, Kind=${kind}`) return err(`invalid groupVersion (expected ${apiVersion}, Kind=${kind}, received ${given})`);
  const [before, after] = [field(original, "metadata"), field(converted, "metadata")];
  for (const name of ["name", "namespace", "uid"]) {
    if (field(before, name) !== field(after, name)) {
      return err(`must have the same ${name}: ${text(before, name)} != ${text(after, name)}`);
    }
  }
  return ok({ ...converted, metadata: withLabelsOf(before, after) });
}

function withLabelsOf(before: Json | undefined, after: Json | undefined): JsonObject {
  const kept = Object.entries(isJsonObject(before) ? before : {}).filter(([name]) => name !== "labels" && name !== "annotations");
  const taken = ["labels", "annotations"].flatMap((name): [string, Json][] => {
    const value = field(after, name);
    return value === undefined ? [] : [[name, value]];
  });
  return Object.fromEntries([...kept, ...taken]);
}
