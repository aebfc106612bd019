/** YAML in documents: Lattice kinds by their parsers, Score files by theirs, everything else as a Kubernetes object by its form. */
import { isScore, parseScore } from "#compile";
import { formatFieldError, LATTICE_GROUP, parseLatticeObject } from "#crds";
import { isJsonObject, parseYaml, type Json, type JsonObject } from "#kube";
import type { DocBlock } from "./blocks.ts";
import type { BlockProblem } from "./check-blocks.ts";

export function yamlProblems({ text }: DocBlock): readonly BlockProblem[] {
  const documents = parseYaml(text);
  if (!documents.ok) return [{ line: 0, message: documents.error.message }];
  return documents.value.flatMap((document) => documentProblems(document).map((message) => ({ line: 0, message })));
}

function documentProblems(document: Json): readonly string[] {
  if (isScore(document)) {
    const parsed = parseScore(document);
    return parsed.ok ? [] : parsed.error.map(({ message }) => message);
  }
  if (!isJsonObject(document)) return ["is not an object"];
  if (typeof document["apiVersion"] === "string" && document["apiVersion"].startsWith(`${LATTICE_GROUP}/`)) {
    const parsed = parseLatticeObject(document);
    return parsed.ok ? [] : parsed.error.map(formatFieldError);
  }
  return formProblems(document);
}

function formProblems({ apiVersion, kind, metadata }: JsonObject): readonly string[] {
  return [
    ...(typeof apiVersion === "string" ? [] : ["has no apiVersion"]),
    ...(typeof kind === "string" ? [] : ["has no kind"]),
    ...(isJsonObject(metadata) && typeof metadata["name"] === "string" ? [] : ["has no metadata.name"]),
  ];
}
