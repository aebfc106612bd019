/**
 * Events of either group. They are stored and checked as core/v1; writes through events.k8s.io have further rules.
 *
 * The metadata of core/v1 Events is not validated: programs of all ages write them.
 */
import { jsonEqual, type Json, type KubeObject } from "#kube";
import { eventCells } from "../cells/core.ts";
import { at, numberAt, objectAt, textAt } from "../draft.ts";
import type { KindRules, RulesByKind } from "../kind-rules.ts";
import { immutable, invalid, invalidEach, required, type Causes } from "../rules/causes.ts";
import { dnsSubdomain, qualifiedName } from "../rules/formats.ts";
import { internalStruct } from "../rules/internal-template.ts";
import { validateKubeFinalizers, validateObjectMeta } from "../rules/object-meta.ts";
import { eventToCore } from "../versions/event.ts";

const FIELDS = ["kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"] as const;

export const event: KindRules = {
  ownMeta: "none",
  createOnUpdate: true,
  validate: (object) => validateEvent(object, "reportingComponent"),
  fieldSelectors: {
    ...Object.fromEntries(FIELDS.map((name) => [`involvedObject.${name}`, (object: KubeObject) => textAt(object, "involvedObject", name)])),
    reason: (object) => textAt(object, "reason"),
    reportingComponent: (object) => textAt(object, "reportingComponent"),
    source: (object) => textAt(object, "source", "component") || textAt(object, "reportingComponent"),
    type: (object) => textAt(object, "type"),
  },
  cells: eventCells,
};

const newEvent: KindRules = {
  ownMeta: "none",
  createOnUpdate: true,
  validate: (object, previous) => {
    const core = eventToCore(object);
    const own = validateEvent(core, "reportingController");
    if (previous !== undefined) return own;
    const meta = [...validateObjectMeta(object, { namespaced: true, name: dnsSubdomain }), ...validateKubeFinalizers(object)];
    return [...own, ...meta, ...validateNew(core)];
  },
  validateUpdate: (next, previous) => validateKept(eventToCore(next), eventToCore(previous)),
  fieldSelectors: {
    ...Object.fromEntries(FIELDS.map((name) => [`regarding.${name}`, (object: KubeObject) => textAt(object, "regarding", name)])),
    reason: (object) => textAt(object, "reason"),
    reportingController: (object) => textAt(object, "reportingController"),
    type: (object) => textAt(object, "type"),
  },
  cells: (object, now) => eventCells(eventToCore(object), now),
};

/** `controller`: what the version of the request calls the reporting component. */
function validateEvent(object: KubeObject, controller: string): Causes {
  const [about, own] = [textAt(object, "involvedObject", "namespace"), object.metadata.namespace ?? ""];
  const strange = invalid("involvedObject.namespace", about, "does not match event.namespace");
  if (textAt(object, "eventTime") === "") return own === (about === "" ? "default" : about) ? [] : [strange];
  const reporter = textAt(object, "reportingComponent");
  return [
    ...(about === "" && own !== "default" && own !== "kube-system" ? [strange] : []),
    ...(reporter === "" ? [required(controller)] : []),
    ...invalidEach(controller, reporter, qualifiedName(reporter)),
    ...["reportingInstance", "action", "reason"].flatMap((name) => [
      ...(textAt(object, name) === "" ? [required(name)] : []),
      ...notLonger(object, name, 128),
    ]),
    ...notLonger(object, "message", 1_024),
  ];
}

function notLonger(object: KubeObject, name: string, max: number): Causes {
  return textAt(object, name).length > max ? [invalid(name, "", `can have at most ${max} characters`)] : [];
}

function validateNew(object: KubeObject): Causes {
  const type = textAt(object, "type");
  const old = ["firstTimestamp", "lastTimestamp", "count", "source"].filter((name) => isSet(object, name));
  return [
    ...validateSeries(object),
    ...(textAt(object, "eventTime") === "" ? [required("eventTime")] : []),
    ...(["Normal", "Warning"].includes(type) ? [] : [invalid("type", "", `has invalid value: ${type}`)]),
    ...old.map((name) => invalid(name, "", "needs to be unset")),
  ];
}

function isSet(object: KubeObject, name: string): boolean {
  if (name === "source") return textAt(object, name, "component") !== "" || textAt(object, name, "host") !== "";
  return name === "count" ? (numberAt(object, name) ?? 0) !== 0 : textAt(object, name) !== "";
}

function validateSeries(object: KubeObject): Causes {
  const series = objectAt(object, "series");
  if (series === undefined) return [];
  return [
    ...((numberAt(series, "count") ?? 0) < 2 ? [invalid("series.count", "", "should be at least 2")] : []),
    ...(textAt(series, "lastObservedTime") === "" ? [required("series.lastObservedTime")] : []),
  ];
}

/** In the server's order; of the reason it speaks twice. */
const KEPT = [
  ..."involvedObject reason message source firstTimestamp lastTimestamp count reason type eventTime action related".split(" "),
  ..."reportingController reportingInstance".split(" "),
];

function validateKept(next: KubeObject, previous: KubeObject): Causes {
  const moved = !jsonEqual(at(next, "series"), at(previous, "series"));
  return [
    ...(moved ? validateSeries(next) : []),
    ...KEPT.flatMap((name) => {
      const field = name === "reportingController" ? "reportingComponent" : name;
      return jsonEqual(at(next, field), at(previous, field)) ? [] : [immutable(name, shown(next, field))];
    }),
  ];
}

const STRUCTS: Readonly<Record<string, string>> = { involvedObject: "ObjectReference", related: "ObjectReference", source: "EventSource" };

/** The server shows its internal form: structs with capital letters, and texts that are never missing. */
function shown(object: KubeObject, name: string): Json {
  const struct = STRUCTS[name];
  if (struct === undefined) return at(object, name) ?? (TEXTS.has(name) ? "" : null);
  const value = objectAt(object, name);
  return value === undefined && name === "related" ? null : internalStruct(`io.k8s.api.core.v1.${struct}`, value ?? {});
}

const TEXTS = new Set(["reason", "message", "type", "action", "reportingComponent", "reportingInstance"]);

export const eventKinds: RulesByKind = { Event: newEvent };
