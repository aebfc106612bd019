/** The end states of workloads, compared with the real controller manager's: statuses, conditions, revisions, Pods, events. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { expectOk } from "#base";
import { defineResource, type Json, type JsonObject, type KubeObject } from "#kube";
import { eventually, sharedPlane } from "./harness/index.ts";
import { endState } from "./workloads/end-state.ts";
import { actorIn, STORIES } from "./workloads/stories.ts";
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

type State = { readonly ours: Json; readonly theirs: Json };

/** Compares the states until they are equal and stable: counters are updated later than the objects that they count. */
async function agreed(states: () => Promise<State>): Promise<void> {
  let before = "";
  await eventually(
    "both reach the same state, and stay there",
    async () => {
      const { ours, theirs } = await states();
      expect(ours).toEqual(theirs);
      const [last, now] = [before, JSON.stringify(ours)];
      before = now;
      return last === now || undefined;
    },
    { everyMs: 1_500 },
  );
}

describe("workloads reach the same state as with the real controller manager", () => {
  for (const story of STORIES) {
    test(story.name, async () => {
      const namespace = await sharedPlane().makeNamespace("workloads");
      await makeEmbeddedNamespace(namespace);
      await Promise.all([embedded, real].map((world) => story.act(actorIn(world, namespace))));
      const stateOf = async ({ client }: World): Promise<Json> => {
        const state = await endState(client, namespace);
        return story.ignoreEvents === undefined ? state : { ...(state as JsonObject), events: null };
      };
      await agreed(async () => ({ ours: await stateOf(embedded), theirs: await stateOf(real) }));
    });
  }
});
