/** Watches: events, their order, and where they start. */
import { expect } from "vitest";
import { fieldAt } from "#kube";
import type { ApiResponse } from "../client/api-response.ts";
import { titleOf } from "../client/watch.ts";
import { area } from "../contract.ts";
import { configMap } from "./objects.ts";

const version = (answer: ApiResponse) => answer.textAt("metadata.resourceVersion");

export const watch = area("watch", {
  "below /watch/ only GET is allowed, and a second prefix is a 404": async (api) => {
    await api.created("configmaps", configMap("a"));
    const collection = `/api/v1/watch/namespaces/${api.namespace}/configmaps`;
    const message = "the server does not allow this method on the requested resource";
    for (const [method, path] of [
      ["POST", collection],
      ["PUT", `${collection}/a`],
      ["PATCH", `${collection}/a`],
      ["DELETE", `${collection}/a`],
      ["DELETE", collection],
    ] as const)
      (await api.send(method, path, method === "DELETE" ? undefined : configMap("a"))).refuses(405, "MethodNotAllowed", message);
    (await api.get(`/api/v1/watch/watch/namespaces/${api.namespace}/configmaps`)).gives(404);
    (await api.get("configmaps/a")).gives(200);
  },

  "a watch from a version delivers all later events in order": async (api) => {
    const made = await api.created("secrets", { metadata: { name: "a" } });
    await api.created("secrets", { metadata: { name: "b" } });
    await api.mergePatch("secrets/a", { data: { x: "MQ==" } });
    await api.delete("secrets/b");
    const watch = await api.watch(`secrets?watch=1&resourceVersion=${version(made)}`);
    await watch.shows("ADDED b", "MODIFIED a", "DELETED b");
  },

  "a watch delivers events as they happen": async (api) => {
    const list = await api.get("secrets");
    const watch = await api.watch(`secrets?watch=true&resourceVersion=${version(list)}`);
    await api.created("secrets", { metadata: { name: "a" } });
    await watch.shows("ADDED a");
    await api.mergePatch("secrets/a", { data: { x: "MQ==" } });
    await watch.shows("MODIFIED a");
    await api.delete("secrets/a");
    await watch.shows("DELETED a");
  },

  "a watch without a version starts with the existing objects": async (api) => {
    await api.created("secrets", { metadata: { name: "a" } });
    await api.created("secrets", { metadata: { name: "b" } });
    const watch = await api.watch("secrets?watch=1");
    const events = await watch.shows("ADDED a", "ADDED b");
    expect(fieldAt(events[0]?.object, "kind")).toBe("Secret");
  },

  "the DELETED event has the version of the deletion": async (api) => {
    const made = await api.created("secrets", { metadata: { name: "a" } });
    await api.delete("secrets/a");
    const watch = await api.watch(`secrets?watch=1&resourceVersion=${version(made)}`);
    const [event] = await watch.shows("DELETED a");
    expect(Number(fieldAt(event?.object, "metadata", "resourceVersion"))).toBeGreaterThan(Number(version(made)));
  },

  "writes that change nothing cause no event": async (api) => {
    const made = await api.created("configmaps", configMap("a", { x: "1" }));
    const watch = await api.watch(`configmaps?watch=1&resourceVersion=${version(made)}&fieldSelector=metadata.name%21%3Dkube-root-ca.crt`);
    await api.put("configmaps/a", configMap("a", { x: "1" }));
    await api.mergePatch("configmaps/a", { data: { x: "1" } });
    await api.mergePatch("configmaps/a", { data: { x: "2" } });
    const [event] = await watch.shows("MODIFIED a");
    expect(fieldAt(event?.object, "data", "x")).toBe("2");
  },

  "an object that starts to match a selector is ADDED, one that no longer matches is DELETED in its former state": async (api) => {
    const list = await api.get("secrets");
    const watch = await api.watch(`secrets?watch=1&labelSelector=l%3D1&resourceVersion=${version(list)}`);
    await api.created("secrets", { metadata: { name: "a", labels: { l: "0" } } });
    await api.mergePatch("secrets/a", { metadata: { labels: { l: "1" } } });
    await watch.shows("ADDED a");
    const left = await api.mergePatch("secrets/a", { metadata: { labels: { l: "2" } } });
    const [event] = await watch.shows("DELETED a");
    expect(fieldAt(event?.object, "metadata", "labels", "l")).toBe("1");
    expect(fieldAt(event?.object, "metadata", "resourceVersion")).toBe(version(left));
  },

  "a field selector watches one object": async (api) => {
    const list = await api.get("secrets");
    const watch = await api.watch(`secrets?watch=1&fieldSelector=metadata.name%3Db&resourceVersion=${version(list)}`);
    await api.created("secrets", { metadata: { name: "a" } });
    await api.created("secrets", { metadata: { name: "b" } });
    await watch.shows("ADDED b");
  },

  "the /watch/ path works for one object and for a list": async (api) => {
    const made = await api.created("secrets", { metadata: { name: "a" } });
    const one = await api.watch(`/api/v1/watch/namespaces/${api.namespace}/secrets/a?resourceVersion=${version(made)}`);
    await api.created("secrets", { metadata: { name: "b" } });
    await api.delete("secrets/a");
    await one.shows("DELETED a");
    const all = await api.watch(`/api/v1/watch/namespaces/${api.namespace}/secrets?resourceVersion=${version(made)}`);
    await all.shows("ADDED b", "DELETED a");
  },

  "a watch from a future version stays open without events": async (api) => {
    const watch = await api.watch("secrets?watch=1&resourceVersion=999999999999&timeoutSeconds=1");
    await api.created("secrets", { metadata: { name: "a" } });
    expect((await watch.rest()).map(titleOf)).toEqual([]);
  },

  "initial events end with a bookmark": async (api) => {
    await api.created("secrets", { metadata: { name: "a" } });
    const watch = await api.watch("secrets?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true");
    await watch.shows("ADDED a");
    const mark = await watch.next();
    expect(mark).toMatchObject({
      type: "BOOKMARK",
      object: { kind: "Secret", metadata: { annotations: { "k8s.io/initial-events-end": "true" } } },
    });
  },

  "a bookmark is an empty object of its kind": async (api) => {
    const from = "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=1";
    const first = async (collection: string, accept = "application/json") => {
      const answer = await api.get(`${collection}?${from}&labelSelector=none%3Dhere`, { accept });
      return JSON.parse(answer.text.split("\n")[0] ?? "") as unknown;
    };
    const template = { metadata: {}, spec: { containers: null } };
    expect(await first("apps/v1/deployments")).toMatchObject({
      type: "BOOKMARK",
      object: { kind: "Deployment", spec: { replicas: 0, selector: null, template, strategy: {} }, status: {} },
    });
    expect(await first("pods")).toMatchObject({ object: { kind: "Pod", spec: { containers: null }, status: {} } });
    expect(await first("configmaps", "application/json;as=Table;g=meta.k8s.io;v=v1")).toMatchObject({
      type: "BOOKMARK",
      object: { columnDefinitions: [{ name: "Name" }, { name: "Data" }, { name: "Age" }], rows: [{ cells: ["", 0, "<unknown>"] }] },
    });
  },

  "sendInitialEvents needs resourceVersionMatch": async (api) => {
    (await api.get("secrets?watch=1&sendInitialEvents=true")).refuses(422, "Invalid", expect.stringContaining("sendInitialEvents"));
    (await api.get("secrets?sendInitialEvents=true&resourceVersionMatch=NotOlderThan")).gives(422, { reason: "Invalid" });
  },

  "timeoutSeconds ends the watch without an event": async (api) => {
    const list = await api.get("secrets");
    const watch = await api.watch(`secrets?watch=1&timeoutSeconds=1&resourceVersion=${version(list)}`);
    expect(await watch.rest()).toEqual([]);
  },

  "a finalizer turns one deletion into three events": async (api) => {
    const made = await api.created("secrets", { metadata: { name: "a", finalizers: ["example.test/f"] } });
    await api.delete("secrets/a");
    await api.mergePatch("secrets/a", { metadata: { finalizers: null } });
    const watch = await api.watch(`secrets?watch=1&resourceVersion=${version(made)}`);
    const events = await watch.shows("MODIFIED a", "DELETED a");
    expect(fieldAt(events[0]?.object, "metadata", "deletionTimestamp")).toBeDefined();
  },

  "a watch can be requested as Tables": async (api) => {
    await api.created("configmaps", configMap("a", { x: "1" }, { labels: { l: "1" } }));
    const answer = await api.get("configmaps?watch=1&labelSelector=l&timeoutSeconds=1", {
      accept: "application/json;as=Table;g=meta.k8s.io;v=v1",
    });
    const event = JSON.parse(answer.text.split("\n")[0] ?? "") as unknown;
    expect(event).toMatchObject({
      type: "ADDED",
      object: {
        kind: "Table",
        columnDefinitions: [{ name: "Name" }, { name: "Data" }, { name: "Age" }],
        rows: [{ cells: ["a", 1, expect.any(String)] }],
      },
    });
  },

  "a watch can be requested as PartialObjectMetadata": async (api) => {
    await api.created("configmaps", configMap("a", { x: "1" }, { labels: { l: "1" } }));
    const answer = await api.get("configmaps?watch=1&labelSelector=l&timeoutSeconds=1", {
      accept: "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
    });
    const event = JSON.parse(answer.text.split("\n")[0] ?? "") as unknown;
    expect(event).toMatchObject({
      type: "ADDED",
      object: { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1", metadata: { name: "a" } },
    });
  },

  "the response of a watch is a stream of JSON lines": async (api) => {
    const answer = await api.get("secrets?watch=1&timeoutSeconds=1");
    expect(answer.contentType).toBe("application/json");
    expect(answer.headers["transfer-encoding"]).toEqual(["chunked"]);
  },

  "a watch of all namespaces delivers their events": async (api) => {
    const list = await api.get("/api/v1/secrets?limit=1");
    const watch = await api.watch(`/api/v1/secrets?watch=1&labelSelector=mine%3D${api.id}&resourceVersion=${version(list)}`);
    await api.created("secrets", { metadata: { name: "a", labels: { mine: api.id } } });
    await watch.shows("ADDED a");
  },
});
