/** What happens to a Deployment whose fields a webhook writes, with each tool of its owner: the steps of the measurement. */
import { fieldAt, isJsonObject, type Json, type JsonObject } from "#kube";
import type { Ran } from "../harness/index.ts";
import type { Measure, MeasuredStep } from "./measure.ts";
import type { MeasuringWebhook } from "./measuring-webhook.ts";
import { DEPLOYMENT, FIRST, ownedManifest, type OwnerValues } from "./owned-manifest.ts";
import { kubectl, type OwnerTool, type ToolContext } from "./owner-tools.ts";
import { withNewerFields, withoutWrittenFields } from "./written-fields.ts";

export type ScenarioInput = {
  readonly tool: OwnerTool;
  readonly context: ToolContext;
  readonly webhook: MeasuringWebhook;
  readonly measure: Measure;
};

export type Scenario = { readonly name: string; readonly run: (input: ScenarioInput) => Promise<readonly MeasuredStep[]> };

const MORE: OwnerValues = { ...FIRST, replicas: 2 };
const OTHER_LEVEL: OwnerValues = { ...MORE, level: "warn" };

export const SCENARIOS: readonly Scenario[] = [
  { name: "the webhook is there from the start", run: fromTheStart },
  { name: "the Deployment exists before the webhook", run: existing },
  { name: "kubectl rollout undo, after Lattice has changed its value", run: undone },
  { name: "detached by a write of Lattice", run: (input) => detached(input, restoreByWrite) },
  { name: "detached by two writes, the second returns managedFields", run: (input) => detached(input, restoreByTwoWrites) },
  { name: "detached in the webhook", run: (input) => detached(input, restoreInWebhook) },
];

async function fromTheStart({ tool, context, webhook, measure }: ScenarioInput): Promise<readonly MeasuredStep[]> {
  await webhook.register(context.namespace);
  const steps = [
    await measure("install", () => tool.install(context, FIRST)),
    await measure("again, unchanged", () => tool.upgrade(context, FIRST)),
    await measure("upgrade of another field", () => tool.upgrade(context, MORE)),
    await measure("upgrade of a changed field", () => tool.upgrade(context, OTHER_LEVEL)),
    await measure("rollback", () => tool.rollback(context, MORE)),
  ];
  await webhook.unregister();
  return steps;
}

async function existing({ tool, context, webhook, measure }: ScenarioInput): Promise<readonly MeasuredStep[]> {
  await tool.install(context, FIRST);
  await webhook.register(context.namespace);
  const steps = [
    await measure("write of an annotation by Lattice", () => trigger(context, "1")),
    await measure("again, unchanged", () => tool.upgrade(context, FIRST)),
    await measure("upgrade of a changed field", () => tool.upgrade(context, OTHER_LEVEL)),
  ];
  await webhook.unregister();
  return steps;
}

/** The template of the earlier ReplicaSet has the earlier value of Lattice, not the value of the tool. */
async function undone({ tool, context, webhook, measure }: ScenarioInput): Promise<readonly MeasuredStep[]> {
  await webhook.register(context.namespace);
  await measure("install", () => tool.install(context, FIRST));
  webhook.change(withNewerFields);
  const steps = [
    await measure("write of an annotation by Lattice", () => trigger(context, "2")),
    await measure("kubectl rollout undo", () => kubectl(context, ["rollout", "undo", `deployment/${DEPLOYMENT}`])),
  ];
  await webhook.unregister();
  return steps;
}

async function detached(input: ScenarioInput, restore: (input: ScenarioInput) => Promise<Ran>): Promise<readonly MeasuredStep[]> {
  const { tool, context, webhook, measure } = input;
  await tool.install(context, FIRST);
  await webhook.register(context.namespace);
  await trigger(context, "1");
  const restored = await measure("restore", () => restore(input));
  if (restored.reviews.length > 0) await webhook.unregister();
  return [restored, await measure("upgrade of a restored field", () => tool.upgrade(context, OTHER_LEVEL))];
}

async function restoreByWrite({ context, webhook }: ScenarioInput): Promise<Ran> {
  await webhook.unregister();
  return write(context, "PUT", restoredObject(await live(context)));
}

async function restoreByTwoWrites(input: ScenarioInput): Promise<Ran> {
  const managed = fieldAt(await live(input.context), "metadata", "managedFields") ?? [];
  const restored = await restoreByWrite(input);
  if (restored.code !== 0) return restored;
  const entries = (Array.isArray(managed) ? managed : []).filter((entry) => fieldAt(entry, "manager") !== "lattice");
  return write(input.context, "PATCH", { metadata: { managedFields: entries } });
}

function restoreInWebhook({ context, webhook }: ScenarioInput): Promise<Ran> {
  webhook.change(restoredObject);
  return trigger(context, "2");
}

const restoredObject = (object: JsonObject): JsonObject => withoutWrittenFields(object, ownedManifest(FIRST));

/** Makes an existing Deployment pass the webhook. */
export function trigger(context: ToolContext, digest: string): Promise<Ran> {
  return write(context, "PATCH", { metadata: { annotations: { "lattice.dev/patch-requested": digest } } });
}

const pathOf = (namespace: string) => `/apis/apps/v1/namespaces/${namespace}/deployments/${DEPLOYMENT}`;

/** Without its version: the controller manager writes the status meanwhile. */
async function live({ server, namespace }: ToolContext): Promise<JsonObject> {
  const object: Json = (await server.request({ path: pathOf(namespace) })).json();
  if (!isJsonObject(object)) throw new Error("the server answered without an object");
  const { resourceVersion: _version, ...metadata } = (object["metadata"] ?? {}) as JsonObject;
  return { ...object, metadata };
}

async function write({ server, namespace }: ToolContext, method: "PUT" | "PATCH", body: JsonObject): Promise<Ran> {
  const contentType = method === "PUT" ? "application/json" : "application/merge-patch+json";
  const { code, text } = await server.request({ method, path: `${pathOf(namespace)}?fieldManager=lattice`, contentType, body });
  return { code: code === 200 ? 0 : 1, stdout: "", stderr: code === 200 ? "" : text };
}
