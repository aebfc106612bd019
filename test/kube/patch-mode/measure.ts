/** One step of a tool, measured: its exit, the review, and the stored Deployment before and after. */
import { fieldAt, type Json } from "#kube";
import { eventually, type Ran } from "../harness/index.ts";
import type { MeasuringWebhook, SeenReview } from "./measuring-webhook.ts";
import { DEPLOYMENT } from "./owned-manifest.ts";
import type { PatchServer } from "./patch-servers.ts";
import { ownersIn, valuesIn } from "./written-fields.ts";

export type MeasuredStep = {
  readonly step: string;
  /** "" if the tool ended with 0. */
  readonly error: string;
  readonly reviews: readonly SeenReview[];
  readonly values: ReturnType<typeof valuesIn>;
  readonly owners: ReturnType<typeof ownersIn>;
  readonly generationRaised: boolean;
  readonly specChanged: boolean;
};

export type Measure = (step: string, act: () => Promise<Ran>) => Promise<MeasuredStep>;

export function measureIn(server: PatchServer, namespace: string, webhook: MeasuringWebhook): Measure {
  return async (step, act) => {
    const before = await settled(server, namespace);
    webhook.taken();
    const ran = await act();
    const after = await settled(server, namespace);
    return {
      step,
      error: ran.code === 0 ? "" : ran.stderr.trim(),
      reviews: webhook.taken(),
      values: valuesIn(after),
      owners: ownersIn(after),
      generationRaised: generationOf(after) > generationOf(before),
      specChanged: JSON.stringify(fieldAt(before, "spec")) !== JSON.stringify(fieldAt(after, "spec")),
    };
  };
}

/** null: not there yet. Waits until the controller manager has seen the last change, so that its writes are not mixed into a step. */
async function settled(server: PatchServer, namespace: string): Promise<Json> {
  const seen = await eventually("the Deployment is observed", async () => {
    const answer = await server.request({ path: `/apis/apps/v1/namespaces/${namespace}/deployments/${DEPLOYMENT}` });
    if (answer.code === 404) return { object: null };
    const object = answer.json();
    return fieldAt(object, "status", "observedGeneration") === generationOf(object) ? { object } : undefined;
  });
  return seen.object;
}

const generationOf = (object: Json) => Number(fieldAt(object, "metadata", "generation") ?? 0);
