/** From one version of a custom resource to another by conversion None: apiVersion is rewritten and nothing else. */
import { field, type JsonObject } from "#kube";

export function rewriteVersion<T extends JsonObject>(object: T, apiVersion: string): T {
  return field(object, "apiVersion") === apiVersion ? object : { ...object, apiVersion };
}
