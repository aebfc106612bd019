/**
 * The objects of a component from its YAML documents.
 *
 * `List` objects are flattened. Metadata of clusterctl is the one document that is left out, because it is not an object of a cluster; every
 * other document that is not an object is an error.
 */
import { err, ok, type Result } from "#base";
import { field, fieldAt, isJsonObject, parseYaml, type Json, type KubeObject } from "#kube";

export type ComponentObjects = {
  readonly objects: readonly KubeObject[];
  /** Descriptions of the documents that are left out. */
  readonly leftOut: readonly string[];
};

const MAX_OBJECTS = 5_000;

/** `origin`: a file, for messages. */
export function readObjects(text: string, origin: string): Result<ComponentObjects, string> {
  const parsed = parseYaml(text);
  if (!parsed.ok) {
    const { line, column, message } = parsed.error;
    return err(`${origin}${line === undefined ? "" : `:${line}:${column ?? 1}`}: ${message}`);
  }
  const objects: KubeObject[] = [];
  const leftOut: string[] = [];
  for (const document of parsed.value.flatMap(flatten)) {
    if (isClusterctlMetadata(document)) leftOut.push(`${origin}: Metadata of clusterctl, which is not an object of a cluster`);
    else if (isKubeObject(document)) objects.push(document);
    else return err(`${origin}: a document is not an object with apiVersion, kind and metadata.name`);
    if (objects.length > MAX_OBJECTS) return err(`${origin}: has more than ${MAX_OBJECTS} objects`);
  }
  return ok({ objects, leftOut });
}

function flatten(document: Json): readonly Json[] {
  const items = field(document, "items");
  const isList = field(document, "apiVersion") === "v1" && field(document, "kind") === "List";
  return isList && Array.isArray(items) ? items : [document];
}

function isClusterctlMetadata(document: Json): boolean {
  const apiVersion = field(document, "apiVersion");
  return typeof apiVersion === "string" && apiVersion.startsWith("clusterctl.cluster.x-k8s.io/") && field(document, "kind") === "Metadata";
}

const isName = (value: Json | undefined): value is string => typeof value === "string" && value !== "";

function isKubeObject(value: unknown): value is KubeObject {
  const namespace = fieldAt(value, "metadata", "namespace");
  return (
    isJsonObject(value) &&
    isName(field(value, "apiVersion")) &&
    isName(field(value, "kind")) &&
    isName(fieldAt(value, "metadata", "name")) &&
    (namespace === undefined || isName(namespace))
  );
}
