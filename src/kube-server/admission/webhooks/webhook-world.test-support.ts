/** A server with a webhook beside it, and short ways to make configurations. Only for tests. */
import type { Json, JsonObject } from "#kube";
import { realServer, type TestServer } from "../../rest/server.test-support.ts";
import { requestOf, startWebhook, type Heard, type Reply, type TestWebhook } from "../../webhook-client/webhook.test-support.ts";

export type Review = ReturnType<typeof requestOf>;
/** What a hook says to a review; undefined is "yes". */
export type Says = (review: Review) => Reply | JsonObject | undefined;

export type World = TestServer & {
  readonly webhook: TestWebhook;
  /** What each path says. */
  readonly says: Map<string, Says>;
  /** The paths that were called since this was last asked. */
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
  const says = new Map<string, Says>();
  const webhook = await startWebhook((heard) => replyTo(heard, says));
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
    says,
    hook,
    called: () => webhook.heard.splice(0).map(({ path }) => path.slice(1).replace(/\?.*/, "")),
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

function replyTo(heard: Heard, says: ReadonlyMap<string, Says>): Reply {
  const review = requestOf(heard);
  const said = says.get(heard.path.slice(1).replace(/\?.*/, ""))?.(review) ?? {};
  if (isReply(said)) return said;
  const response: JsonObject = { uid: review.uid, allowed: true, ...said };
  return { body: { apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", response } };
}

function isReply(said: Reply | JsonObject): said is Reply {
  return "body" in said || "silent" in said || "cut" in said || (typeof said["status"] === "number" && said["status"] > 99);
}

export const messageOf = (body: Json): unknown => (body as JsonObject)["message"];
