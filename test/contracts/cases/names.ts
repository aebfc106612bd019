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

  "generated names differ": async (api) => {
    const made = await Promise.all(Array.from({ length: 12 }, () => api.post("configmaps", { metadata: { generateName: "a-" } })));
    expect(new Set(made.map((answer) => answer.gives(201).textAt("metadata.name"))).size).toBe(12);
  },

  "a given name is used, and generateName stays": async (api) => {
    (await api.post("configmaps", { metadata: { name: "mine", generateName: "a-" } })).gives(201, {
      metadata: { name: "mine", generateName: "a-" },
    });
  },

  "a long prefix is truncated so that the name fits": async (api) => {
    const made = await api.post("configmaps", { metadata: { generateName: "p".repeat(70) } });
    expect(made.gives(201).textAt("metadata.name")).toMatch(/^p{58}.{5}$/);
    made.has("metadata.generateName", "p".repeat(70));
  },

  "an invalid prefix is rejected with the paths of generateName and name": async (api) => {
    const answer = await api.post("configmaps", { metadata: { generateName: "Bad_" } });
    answer.gives(422, { reason: "Invalid" });
    expect((answer.at("details.causes") as readonly { field: string }[]).map(({ field }) => field)).toEqual([
      "metadata.generateName",
      "metadata.name",
    ]);
  },

  "apply does not accept generateName": async (api) => {
    (await api.apply("one", "configmaps/a", { apiVersion: "v1", kind: "ConfigMap", metadata: { generateName: "a-" } })).gives(400);
  },

  "PUT without generateName keeps it": async (api) => {
    const made = await api.post("configmaps", { metadata: { generateName: "a-" } });
    const name = made.textAt("metadata.name");
    (await api.put(`configmaps/${name}`, configMap(name, { x: "1" }))).gives(200).has("metadata.generateName", undefined);
  },
});
