/** A mutating webhook for the measurement: it writes the fields of written-fields.ts, and records what each review contains at them. */
import { fieldAt, isJsonObject, type Json, type JsonObject } from "#kube";
import type { HookHost, Review } from "../../contracts/client/hook-host.ts";
import { eventually, uniqueName } from "../harness/index.ts";
import { DEPLOYMENT } from "./owned-manifest.ts";
import type { PatchServer } from "./patch-servers.ts";
import { ownersIn, textOf, valuesIn } from "./written-fields.ts";

export type SeenReview = {
  readonly operation: string;
  /** The field manager of the request, from its options. */
  readonly manager: string;
  readonly object: ReturnType<typeof valuesIn>;
  readonly oldObject: ReturnType<typeof valuesIn>;
  /** The managers in the object of the review: after the request was merged, before any webhook. */
  readonly owners: ReturnType<typeof ownersIn>;
};

export type MeasuringWebhook = {
  /** The reviews since the last call. */
  taken(): readonly SeenReview[];
  /** From now on, the object becomes what this returns. */
  change(how: (object: JsonObject) => JsonObject): void;
  /** Resolves when the server calls it for Deployments of this namespace. */
  register(namespace: string): Promise<void>;
  /** Resolves when the server no longer calls it. */
  unregister(): Promise<void>;
};

const REGISTRATION = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations";

export function measuringWebhook(server: PatchServer, host: HookHost, first: (object: JsonObject) => JsonObject): MeasuringWebhook {
  let change = first;
  let seen: SeenReview[] = [];
  let probes = 0;
  const hook = host.add((review) => {
    const { request } = review;
    if (request["name"] !== DEPLOYMENT) probes += 1;
    else seen.push(seenIn(request));
    return answer(review, change);
  });
  const configuration = uniqueName("measuring");
  let namespaceOfHook = "";
  const probe = () => {
    const body = { ...PROBE, metadata: { name: "probe" } };
    return server.request({ method: "POST", path: `/apis/apps/v1/namespaces/${namespaceOfHook}/deployments?dryRun=All`, body });
  };
  return {
    taken() {
      const taken = seen;
      seen = [];
      return taken;
    },
    change(how) {
      change = how;
    },
    async register(namespace) {
      namespaceOfHook = namespace;
      const body = { metadata: { name: configuration }, webhooks: [webhookOf(hook.clientConfig, namespace)] };
      const made = await server.request({ method: "POST", path: REGISTRATION, body });
      if (made.code !== 201) throw new Error(made.text);
      await eventually("the server calls the webhook", async () => {
        const before = probes;
        await probe();
        return probes > before || undefined;
      });
    },
    async unregister() {
      await server.request({ method: "DELETE", path: `${REGISTRATION}/${configuration}` });
      await eventually("the server does not call the webhook", async () => {
        const before = probes;
        await probe();
        return probes === before || undefined;
      });
    },
  };
}

const PROBE = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  spec: {
    selector: { matchLabels: { app: "probe" } },
    template: { metadata: { labels: { app: "probe" } }, spec: { containers: [{ name: "web", image: "example.test/probe" }] } },
  },
};

function webhookOf(clientConfig: object, namespace: string): JsonObject {
  return {
    name: "measuring.patch-mode.test",
    clientConfig: clientConfig as JsonObject,
    rules: [{ operations: ["CREATE", "UPDATE"], apiGroups: ["apps"], apiVersions: ["v1"], resources: ["deployments"] }],
    namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": namespace } },
    sideEffects: "None",
    admissionReviewVersions: ["v1"],
    reinvocationPolicy: "IfNeeded",
    timeoutSeconds: 5,
  };
}

function seenIn(request: JsonObject): SeenReview {
  const object = request["object"] ?? null;
  return {
    operation: textOf(request["operation"]),
    manager: textOf(fieldAt(request["options"], "fieldManager") ?? "a client without fieldManager"),
    object: valuesIn(object),
    oldObject: valuesIn(request["oldObject"]),
    owners: ownersIn(object),
  };
}

function answer({ apiVersion, kind, request }: Review, change: (object: JsonObject) => JsonObject): Json {
  const object = request["object"];
  const changed = isJsonObject(object) ? change(object) : {};
  const operations = [
    ["metadata", "labels"],
    ["metadata", "annotations"],
    ["spec", "template"],
  ].map((path) => ({
    op: "add",
    path: `/${path.join("/")}`,
    value: fieldAt(changed, ...path) ?? {},
  }));
  const patch = Buffer.from(JSON.stringify(operations)).toString("base64");
  return { apiVersion, kind, response: { uid: request["uid"] ?? null, allowed: true, patchType: "JSONPatch", patch } };
}
