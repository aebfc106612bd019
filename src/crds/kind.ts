/**
 * One Lattice kind: the type, the parser, the CRD, the editor's JSON Schema and the docs table are derived from its schema.
 *
 * All of them are computed at first use, so that commands which do not need them start faster.
 */
import * as z from "zod";
import { err, ok, once, type Result } from "#base";
import { defineResource, depthExceeds, fieldAt, MAX_DEPTH, type JsonObject, type KubeObject, type ObjectMeta, type Resource } from "#kube";
import { later } from "./collections.ts";
import { described } from "./described.ts";
import { toEditorSchema } from "./editor-schema.ts";
import { toFieldErrors, type FieldError } from "./field-error.ts";
import { toFieldRows, type FieldRow } from "./field-table.ts";
import { toManifest, type CustomResourceDefinition, type PrinterColumn, type ScalePaths } from "./manifest.ts";
import { metadataSchema, nameSchema, type NameRule } from "./metadata.ts";
import { normalise } from "./normalise.ts";
import { withRules, type Rule, type Transition } from "./rules.ts";
import { soundReader, UNSURE } from "./sound.ts";
import { toStructural, type Structural } from "./structural.ts";

export const LATTICE_GROUP = "lattice.dev";
export const LATTICE_VERSION = "v1alpha1";
export const LATTICE_API_VERSION = `${LATTICE_GROUP}/${LATTICE_VERSION}` as const;

/** Parsed values are shared between controllers, so they are read-only. */
export type Immutable<T> = unknown extends T
  ? T
  : T extends string | number | boolean | null | undefined
    ? T
    : T extends readonly (infer Item)[]
      ? readonly Immutable<Item>[]
      : { readonly [Field in keyof T]: Immutable<T[Field]> };

export type ObjectOf<Kind extends string, Spec extends z.ZodType, Status extends z.ZodType> = {
  readonly apiVersion: typeof LATTICE_API_VERSION;
  readonly kind: Kind;
  readonly metadata: ObjectMeta;
  readonly spec: Immutable<z.output<Spec>>;
  readonly status?: Immutable<z.output<Status>> | undefined;
};

export type KindDefinition<T extends KubeObject> = {
  readonly kind: T["kind"];
  readonly plural: string;
  readonly shortName: string;
  readonly namespaced: boolean;
  /** One sentence; the description in `kubectl explain`. */
  readonly purpose: string;
  /** Absent: any name that Kubernetes accepts. */
  readonly name?: NameRule;
  /** Created at first use: a command that compiles services does not build the schema of clusters. */
  readonly spec: () => z.ZodType;
  readonly status: () => z.ZodType;
  readonly columns: readonly PrinterColumn[];
  readonly scale?: ScalePaths;
  readonly rules?: readonly Rule<T>[];
  readonly transitions?: readonly Transition<T>[];
};

export type LatticeKind<T extends KubeObject = KubeObject> = Pick<
  KindDefinition<T>,
  "kind" | "plural" | "shortName" | "namespaced" | "purpose"
> & {
  readonly resource: Resource<T>;
  /** The schema that `parse` uses. */
  readonly schema: () => z.ZodType<T>;
  /** Returns all errors at once; sets the same defaults as the API server. */
  readonly parse: (value: unknown) => Result<T, readonly FieldError[]>;
  /** The errors with which the API server would reject this update; both objects must be valid. */
  readonly checkUpdate: (before: T, after: T) => readonly FieldError[];
  readonly crd: () => CustomResourceDefinition;
  /** For editors: the whole object; unknown fields are errors. */
  readonly jsonSchema: () => JsonObject;
  readonly fields: () => readonly FieldRow[];
};

export function defineKind<T extends KubeObject>(definition: KindDefinition<T>): LatticeKind<T> {
  const { kind, plural, shortName, namespaced, purpose } = definition;
  const resource = defineResource<T>({ group: LATTICE_GROUP, version: LATTICE_VERSION, kind, plural, namespaced });
  const schema = once(() => rootSchema(definition));
  const sound = once(() => soundReader(schema()));
  const structural = once(() => toStructural(schema()));
  const name = once(() => (definition.name === undefined ? undefined : toStructural(nameSchema(definition.name))));
  return {
    kind,
    plural,
    shortName,
    namespaced,
    purpose,
    resource,
    schema,
    parse: (value) => {
      const read = depthExceeds(value, MAX_DEPTH) ? UNSURE : sound()(value);
      return read === UNSURE ? parseClosely<T>(schema(), structural, value) : ok(read as T);
    },
    checkUpdate: (before, after) => brokenTransitions(definition.transitions ?? [], before, after),
    crd: once(() => toManifest(definition, resource, { root: structural(), name: name() })),
    jsonSchema: once(() => toEditorSchema(resource, structural())),
    fields: once(() => toFieldRows(structural())),
  };
}

function rootSchema<T extends KubeObject>(definition: KindDefinition<T>): z.ZodType<T> {
  const { kind, name, namespaced, spec, status, purpose, rules = [] } = definition;
  const root = z.strictObject({
    apiVersion: described(z.literal(LATTICE_API_VERSION), "Group and version of the API."),
    kind: described(z.literal(kind), "Kind of the object."),
    metadata: metadataSchema(name, namespaced),
    spec: spec(),
    status: later(status).optional(),
  });
  return withRules(described(root, purpose) as unknown as z.ZodType<T>, rules);
}

/** Parses with zod and reports all errors; used when the fast reader could not read the object. */
export function parseClosely<T>(schema: z.ZodType<T>, structural: () => Structural, value: unknown): Result<T, readonly FieldError[]> {
  const normal = normalise(value, structural);
  if (!normal.ok) return normal;
  const parsed = schema.safeParse(normal.value, { reportInput: true });
  return parsed.success ? ok(parsed.data) : err(toFieldErrors(parsed.error.issues, structural()));
}

function brokenTransitions<T>(transitions: readonly Transition<T>[], before: T, after: T): readonly FieldError[] {
  return transitions.flatMap(({ on, field = [], message, holds }): readonly FieldError[] => {
    const carrier = on.split(".");
    const skipped = fieldAt(before, ...carrier) === undefined || fieldAt(after, ...carrier) === undefined;
    return skipped || holds(before, after) ? [] : [{ kind: "immutable", path: [on, ...field].join("."), message }];
  });
}
