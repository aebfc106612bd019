/** The end states of workloads, compared with the real controller manager's: statuses, conditions, revisions, Pods, events. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { expectOk } from "#base";
import { defineResource, type Json, type JsonObject, type KubeObject } from "#kube";
import { eventually, sharedPlane } from "./harness/index.ts";
import { endState } from "./workloads/end-state.ts";
import { actorIn, STORIES, type Story } from "./workloads/stories.ts";
import { embeddedWorld, realWorld, type World } from "./workloads/worlds.ts";

let real: World;
let embedded: World;

beforeAll(async () => {
  real = await realWorld(sharedPlane().kubeconfigPath);
  embedded = await embeddedWorld();
});

afterAll(async () => {
  await Promise.all([real.close(), embedded.close()]);
});

const namespaces = defineResource<KubeObject>({ group: "", version: "v1", kind: "Namespace", plural: "namespaces", namespaced: false });

async function makeEmbeddedNamespace(name: string): Promise<void> {
  expectOk(await embedded.client.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name } }));
}

/** The state when it no longer changes: counters come a moment after what they count. */
async function play(world: World, story: Story, namespace: string): Promise<Json> {
  await story.act(actorIn(world, namespace));
  let before = "";
  return eventually(
    `a state that stays (${world.name})`,
    async () => {
      const state = await endState(world.client, namespace);
      const text = JSON.stringify(state);
      if (text === before) return state;
      before = text;
      return undefined;
    },
    { everyMs: 1_500 },
  );
}

describe("workloads end as with the real controller manager", () => {
  for (const story of STORIES) {
    test(story.name, async () => {
      const namespace = await sharedPlane().makeNamespace("workloads");
      const comparable = (state: Json) => (story.ignoreEvents === undefined ? state : { ...(state as JsonObject), events: null });
      await makeEmbeddedNamespace(namespace);
      const [ours, theirs] = await Promise.all([play(embedded, story, namespace), play(real, story, namespace)]);
      expect(comparable(ours)).toEqual(comparable(theirs));
    });
  }
});
