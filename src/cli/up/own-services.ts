/**
 * `lattice up -f`: files of the user instead of the example shop. They are checked before anything starts.
 *
 * Values of secrets come from `--secrets FILE` or from Secrets among the files. For all others a Secret with a made-up value is applied: no
 * container runs, so no value is used.
 */
import { base64OfText, reveal, type Result } from "#base";
import { compileAll, type SecretUse } from "#compile";
import { latticeKinds } from "#crds";
import { configMaps, describeObject, namespaces, persistentVolumeClaims, secrets, type KubeObject, type Resource } from "#kube";
import type { KubeClient } from "#kube-client";
import { secretOfPath, SHAREABLE_LABEL } from "#service-compiler";
import { allProblems, printProblems } from "../compile.ts";
import { reportError, reportFailure, type CliIo, type ExitCode } from "../io.ts";
import { applyAll } from "./apply-all.ts";
import { readWorld, type SecretFlags, type WorldFlags } from "../world-files.ts";

export type OwnFlags = Pick<WorldFlags, "namespace" | "filename" | "image"> & Pick<SecretFlags, "secrets">;

type Applied = { readonly resource: Resource; readonly object: KubeObject };

export type OwnServices = {
  readonly objects: readonly Applied[];
  /** `shop/postgres-main-db (password)` of each Secret with a made-up value. */
  readonly madeUp: readonly string[];
  readonly leftOut: readonly string[];
};

/** In the order in which they are applied. */
const RESOURCES: readonly Resource[] = [
  secrets,
  configMaps,
  persistentVolumeClaims,
  ...latticeKinds.map(({ resource }) => resource).toSorted((a, b) => Number(a.namespaced) - Number(b.namespaced)),
];

/** A number is the exit code; the errors were printed on stderr. */
export async function readOwnServices(io: CliIo, flags: OwnFlags): Promise<OwnServices | ExitCode> {
  const uses: SecretUse[] = [];
  const loaded = await readWorld(io, flags.filename ?? [], { ...flags, placeholderSecrets: true, onSecret: (use) => uses.push(use) });
  if (!loaded.ok) return reportFailure(io, loaded.error);
  const problems = allProblems(loaded.value, compileAll(loaded.value.world));
  if (problems.length > 0) {
    printProblems(io, problems);
    return reportError(io, "no cluster was started, since the files have errors");
  }
  const { resources, leftOut } = loaded.value;
  if (!resources.some(({ kind }) => kind === "LatticeService"))
    return reportError(io, "no cluster was started, since the files hold no service");
  const made = secretObjects(uses);
  const all = [...resources, ...made.map(({ object }) => object)];
  const objects = RESOURCES.flatMap((resource) => all.filter(({ kind }) => kind === resource.kind).map((object) => ({ resource, object })));
  return {
    objects: [...namespacesOf(all), ...objects],
    madeUp: made.flatMap(({ madeUp }) => madeUp),
    leftOut: leftOut.filter(({ object }) => !resources.includes(object)).map(({ object }) => describeObject(object)),
  };
}

/** Applied at every start, so that the files override changes in the cluster. */
export function applyOwnServices(client: KubeClient, { objects }: OwnServices): Promise<Result<void, string>> {
  return applyAll(client, objects);
}

function namespacesOf(objects: readonly KubeObject[]): readonly Applied[] {
  const names = new Set(objects.flatMap(({ metadata }) => metadata.namespace ?? []));
  return [...names].map((name) => ({ resource: namespaces, object: { apiVersion: "v1", kind: "Namespace", metadata: { name } } }));
}

type MadeSecret = { readonly object: KubeObject; readonly madeUp: readonly string[] };

/** One Secret for all keys of a name: `postgres/main-db/password` is key `password` of Secret `postgres-main-db`, where the service runs. */
function secretObjects(uses: readonly SecretUse[]): readonly MadeSecret[] {
  const bySecret = Map.groupBy(uses, ({ namespace, path }) => `${namespace}/${secretOfPath(path).name}`);
  return [...bySecret].map(([id, all]) => {
    const [namespace = "", name = ""] = id.split("/", 2);
    const data = Object.fromEntries(
      all.map(({ path, value }) => [secretOfPath(path).key, base64OfText(value === undefined ? "made-up" : reveal(value))]),
    );
    const sources = [...new Set(all.map(({ source }) => source))].filter((source) => source !== namespace);
    const [only] = sources;
    const labels = only === undefined ? {} : { labels: { [SHAREABLE_LABEL]: sources.length === 1 ? only : "true" } };
    const object = { apiVersion: "v1", kind: "Secret", metadata: { name, namespace, ...labels }, type: "Opaque", data };
    const keys = [...new Set(all.flatMap(({ path, value }) => (value === undefined ? [secretOfPath(path).key] : [])))];
    return { object, madeUp: keys.length === 0 ? [] : [`${id} (${keys.join(", ")})`] };
  });
}
