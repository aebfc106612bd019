/** Generated names. */
import { expect } from "vitest";
import { area } from "../contract.ts";
import { configMap } from "./objects.ts";

export const names = area("generated names", {
  "a generated name is the prefix and five letters without vowels": async (api) => {
    const made = await api.post("configmaps", { metadata: { generateName: "work-" } });
    made.gives(201).has("metadata.generateName", "work-");
    expect(made.textAt("metadata.name")).toMatch(/^work-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
  },

  "each one is another": async (api) => {
    const made = await Promise.all(Array.from({ length: 12 }, () => api.post("configmaps", { metadata: { generateName: "a-" } })));
    expect(new Set(made.map((answer) => answer.gives(201).textAt("metadata.name"))).size).toBe(12);
  },

  "a name that is given counts, and the prefix stays": async (api) => {
    (await api.post("configmaps", { metadata: { name: "mine", generateName: "a-" } })).gives(201, {
      metadata: { name: "mine", generateName: "a-" },
    });
  },

  "a long prefix is cut so that the name fits": async (api) => {
    const made = await api.post("configmaps", { metadata: { generateName: "p".repeat(70) } });
    expect(made.gives(201).textAt("metadata.name")).toMatch(/^p{58}.{5}$/);
    made.has("metadata.generateName", "p".repeat(70));
  },

  "a bad prefix is refused under its own name": async (api) => {
    const answer = await api.post("configmaps", { metadata: { generateName: "Bad_" } });
    answer.gives(422, { reason: "Invalid" });
    expect((answer.at("details.causes") as readonly { field: string }[]).map(({ field }) => field)).toEqual([
      "metadata.generateName",
      "metadata.name",
    ]);
  },

  "apply takes no generated name": async (api) => {
    (await api.apply("one", "configmaps/a", { apiVersion: "v1", kind: "ConfigMap", metadata: { generateName: "a-" } })).gives(400);
  },

  "PUT keeps the prefix it is not told": async (api) => {
    const made = await api.post("configmaps", { metadata: { generateName: "a-" } });
    const name = made.textAt("metadata.name");
    (await api.put(`configmaps/${name}`, configMap(name, { x: "1" }))).gives(200).has("metadata.generateName", undefined);
  },
});
