/** An `events.k8s.io/v1` Event as data. The API allows only `series` to change afterwards, and requires a count of at least 2 in it. */
import { keyText, keyOf, type KubeEvent, type KubeObject } from "#kube";
import { safeText } from "../safe-text.ts";

/** The contents of an event about an object. */
export type EventNote = {
  readonly regarding: KubeObject;
  readonly type: "Normal" | "Warning";
  /** CamelCase, for machines. */
  readonly reason: string;
  readonly note: string;
};

export type Reporter = {
  /** "lattice.dev/cluster": the reporting controller. */
  readonly controller: string;
  /** The reporting instance: this process. */
  readonly instance: string;
};

/** Same object, same reason, same note: one event with a count. */
export function identityOf({ regarding, type, reason, note }: EventNote): string {
  return JSON.stringify([regardingId(regarding), type, reason, note]);
}

export function regardingId(object: KubeObject): string {
  return `${object.kind}/${keyText(keyOf(object))}/${object.metadata.uid ?? ""}`;
}

/** Events are in the namespace of their object; for cluster-scoped objects that is `default`. */
export function eventOf(note: EventNote, reporter: Reporter, at: number, serial: number): KubeEvent {
  const { apiVersion, kind, metadata } = note.regarding;
  const { name, namespace, uid } = metadata;
  return {
    apiVersion: "events.k8s.io/v1",
    kind: "Event",
    metadata: {
      name: `${name.slice(0, 200)}.${at.toString(16)}${serial.toString(16).padStart(4, "0")}`,
      namespace: namespace ?? "default",
    },
    eventTime: microTime(at),
    reportingController: reporter.controller,
    reportingInstance: reporter.instance.slice(0, 128),
    action: "Reconcile",
    reason: note.reason.slice(0, 128),
    type: note.type,
    note: safeText(note.note),
    regarding: { apiVersion, kind, name, ...(namespace === undefined ? {} : { namespace }), ...(uid === undefined ? {} : { uid }) },
  };
}

/** `metav1.MicroTime`: always six decimals. */
export function microTime(ms: number, micros = 0): string {
  return new Date(ms).toISOString().replace(/Z$/, `${String(micros % 1_000).padStart(3, "0")}Z`);
}
