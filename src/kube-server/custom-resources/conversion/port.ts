/** Whoever converts custom resources from outside. */
import type { Result } from "#base";
import type { Json, JsonObject } from "#kube";

/** One ConversionReview, there and back. What comes back is not looked at yet; the error is told behind "failed: ". */
export interface ConversionWebhook {
  convert(objects: readonly JsonObject[], desiredApiVersion: string): Promise<Result<readonly Json[], string>>;
}
