/** Watch events as lines of text, in the form that was asked for. */
import type { KubeObject } from "#kube";
import { apiVersionOf } from "#kube";
import { printOnce, type Call } from "./core.ts";
import { partialOf, tableOf, type IncludeObject } from "./table.ts";
import type { Failure } from "./status.ts";

export type WatchEventType = "ADDED" | "MODIFIED" | "DELETED";

export interface EventWriter {
  event(type: WatchEventType, object: KubeObject): string;
  bookmark(revision: number, initialEnd: boolean): string;
  failure(failure: Failure): string;
}

export function eventWriter(call: Call, include: IncludeObject): EventWriter {
  const { output, target } = call;
  const { type } = target;
  let columnsSent = false;
  const shown = (object: KubeObject): string => {
    if (output.transform === undefined) return printOnce(call.core.printed, object);
    if (output.transform !== "Table") return JSON.stringify(partialOf(object, type, output.version));
    const request = { type, output, include, now: call.core.clock.now(), withColumns: !columnsSent };
    columnsSent = true;
    return JSON.stringify(tableOf([object], { resourceVersion: object.metadata.resourceVersion ?? "" }, request));
  };
  return {
    event: (eventType, object) => `{"type":"${eventType}","object":${shown(object)}}\n`,
    bookmark(revision, initialEnd) {
      const annotations = initialEnd ? { annotations: { "k8s.io/initial-events-end": "true" } } : {};
      const metadata = { resourceVersion: String(revision), ...annotations };
      const { kind } = type.resource;
      const object = bookmarkObject(call, { kind, apiVersion: apiVersionOf(type.resource), metadata });
      return `{"type":"BOOKMARK","object":${JSON.stringify(object)}}\n`;
    },
    failure: (failure) => `{"type":"ERROR","object":${JSON.stringify(failure)}}\n`,
  };
}

type Marker = { readonly kind: string; readonly apiVersion: string; readonly metadata: Readonly<Record<string, unknown>> };

function bookmarkObject({ output }: Call, marker: Marker): unknown {
  if (output.transform === undefined) return marker;
  const apiVersion = `meta.k8s.io/${output.version}`;
  if (output.transform !== "Table") return { kind: "PartialObjectMetadata", apiVersion, metadata: marker.metadata };
  const { resourceVersion } = marker.metadata;
  const row = { cells: [], object: { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1", metadata: marker.metadata } };
  return { kind: "Table", apiVersion, metadata: { resourceVersion }, columnDefinitions: null, rows: [row] };
}
