/** A server, a webhook, and functions that create configurations. Only for tests. */
import type { Json, JsonObject } from "#kube";
import { realServer, type TestServer } from "../../rest/server.test-support.ts";
import { requestOf, startWebhook, type ReceivedRequest, type Reply, type TestWebhook } from "../../webhook-client/webhook.test-support.ts";

export type Review = ReturnType<typeof requestOf>;
/** The response of a hook to a review; undefined allows the request. */
export type Respond = (review: Review) => Reply | JsonObject | undefined;

export type World = TestServer & {
  readonly webhook: TestWebhook;
  /** The response function of each path. */
  readonly responses: Map<string, Respond>;
  /** The paths that were called since the last call of this function. */
  readonly called: () => readonly string[];
  readonly configure: (kind: "Mutating" | "Validating", name: string, hooks: readonly JsonObject[]) => Promise<void>;
  readonly hook: (path: string, more?: JsonObject) => JsonObject;
  readonly close: () => Promise<void>;
};

export const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
export const configMap = (name: string, more: JsonObject = {}): JsonObject => ({ metadata: { name }, data: { a: "1" }, ...more });

export function patchOf(...operations: readonly JsonObject[]): JsonObject {
  return { allowed: true, patchType: "JSONPatch", patch: Buffer.from(JSON.stringify(operations)).toString("base64") };
}

export async function startWorld(): Promise<World> {
  const responses = new Map<string, Respond>();
  const webhook = await startWebhook((received) => replyTo(received, responses));
  const server = realServer();
  const hook = (path: string, more: JsonObject = {}): JsonObject => ({
    name: `${path}.lattice.test`,
    admissionReviewVersions: ["v1"],
    sideEffects: "None",
    clientConfig: { url: `${webhook.url}/${path}`, caBundle: webhook.caBundle },
    rules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["*"], resources: ["configmaps"] }],
    ...more,
  });
  return {
    ...server,
    webhook,
    responses,
    hook,
    called: () => webhook.received.splice(0).map(({ path }) => path.slice(1).replace(/\?.*/, "")),
    async configure(kind, name, hooks) {
      const url = `/apis/admissionregistration.k8s.io/v1/${kind.toLowerCase()}webhookconfigurations`;
      const made = await server.ask("POST", url, { body: { metadata: { name }, webhooks: hooks } });
      if (made.status !== 201) throw new Error(`the configuration was refused: ${JSON.stringify(made.body)}`);
    },
    async close() {
      server.server.close();
      await webhook.close();
    },
  };
}

function replyTo(received: ReceivedRequest, responses: ReadonlyMap<string, Respond>): Reply {
  const review = requestOf(received);
  const reply = responses.get(received.path.slice(1).replace(/\?.*/, ""))?.(review) ?? {};
  if (isReply(reply)) return reply;
  const response: JsonObject = { uid: review.uid, allowed: true, ...reply };
  return { body: { apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", response } };
}

function isReply(reply: Reply | JsonObject): reply is Reply {
  return "body" in reply || "silent" in reply || "cut" in reply || (typeof reply["status"] === "number" && reply["status"] > 99);
}

export const messageOf = (body: Json): unknown => (body as JsonObject)["message"];
