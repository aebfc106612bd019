/** The port for conversion webhooks. */
import type { Result } from "#base";
import type { Json, JsonObject } from "#kube";

/** Sends one ConversionReview. The returned objects are not checked yet; the error is printed after "failed: ". */
export interface ConversionWebhook {
  convert(objects: readonly JsonObject[], desiredApiVersion: string): Promise<Result<readonly Json[], string>>;
}
