/** Watch events as lines of text, in the requested form. */
import { apiVersionOf, type JsonObject, type KubeObject } from "#kube";
import type { ResourceType } from "../resource-type.ts";
import { printOnce, type RequestContext } from "../protocol/core.ts";
import { asObject } from "../protocol/managed-kinds.ts";
import { partialOf, tableOf, type IncludeObject } from "../protocol/table.ts";
import type { Failure } from "../protocol/status.ts";

export type WatchEventType = "ADDED" | "MODIFIED" | "DELETED";

export interface EventWriter {
  event(type: WatchEventType, object: KubeObject): string;
  bookmark(revision: number, initialEnd: boolean): string;
  failure(failure: Failure): string;
}

export function eventWriter(call: RequestContext, include: IncludeObject): EventWriter {
  const { output, target } = call;
  const { type } = target;
  let columnsSent = false;
  const shown = (object: KubeObject, cells?: typeof withoutNullCells): string => {
    if (output.transform === undefined) return printOnce(call.core.printed, object);
    if (output.transform !== "Table") return JSON.stringify(partialOf(object, type, output.version));
    const request = { type, output, include, now: call.core.clock.now(), withColumns: !columnsSent };
    columnsSent = true;
    return JSON.stringify(tableOf([object], { resourceVersion: object.metadata.resourceVersion ?? "" }, request), cells);
  };
  return {
    event: (eventType, object) => `{"type":"${eventType}","object":${shown(object)}}\n`,
    bookmark(revision, initialEnd) {
      const annotations = initialEnd ? { annotations: { "k8s.io/initial-events-end": "true" } } : {};
      const metadata = { resourceVersion: String(revision), ...annotations };
      return `{"type":"BOOKMARK","object":${shown(emptyObject(type, metadata), withoutNullCells)}}\n`;
    },
    failure: (failure) => `{"type":"ERROR","object":${JSON.stringify(failure)}}\n`,
  };
}

/** The name of a bookmark is absent; Go writes its cell as an empty text. */
function withoutNullCells(name: string, value: unknown): unknown {
  return name === "cells" && Array.isArray(value) ? value.map((cell: unknown) => cell ?? "") : value;
}

/** `spec.replicas` is optional here, but always present in the internal types of a real server. */
const WITH_REPLICAS = new Set(["apps/deployments", "apps/replicasets", "apps/statefulsets"]);

/** A bookmark is an object with only a resourceVersion, and the fields that Go always writes. */
function emptyObject(type: ResourceType, metadata: JsonObject): KubeObject {
  const spec = WITH_REPLICAS.has(type.collection) ? { spec: { replicas: 0 } } : {};
  const marker = { kind: type.resource.kind, apiVersion: apiVersionOf(type.resource), metadata, ...spec };
  const decoded = type.custom ? undefined : type.decode(marker);
  return decoded?.ok === true ? decoded.value.object : asObject(marker);
}
