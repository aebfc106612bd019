/** What a cluster starts with: definitions, fixtures, objects; read from where the options say, and put in before anybody can look. */
import { collect, err, ok, type Result } from "#base";
import { describeProblems } from "./cluster-error.ts";
import { loadFixtures, readDocuments, type Document, type Loader } from "./fixtures/index.ts";
import { listOf } from "./list-of.ts";
import { objectDocuments } from "./object-documents.ts";
import type { ClusterOptions } from "./options.ts";

export async function readFirstObjects({ crds, fixtures, objects = [] }: ClusterOptions): Promise<Result<readonly Document[], string>> {
  const read = collect(await Promise.all([...listOf(crds).map(readDefinitions), ...listOf(fixtures).map(readDocuments)]));
  if (!read.ok) return err(describeProblems(read.error.flat()));
  return ok([...read.value.flat(), ...objectDocuments(objects)]);
}

/** Folders of definitions hold other things too (kustomization.yaml); as in envtest, they are left alone. */
async function readDefinitions(path: string): ReturnType<typeof readDocuments> {
  const read = await readDocuments(path);
  if (!read.ok) return read;
  const definitions = read.value.filter(({ value }) => value["kind"] === "CustomResourceDefinition");
  return definitions.length > 0 ? ok(definitions) : err([{ file: path, message: "holds no CustomResourceDefinition" }]);
}

/** What happened before the cluster was handed over is nobody's history. */
export async function putIn(loader: Loader, documents: readonly Document[]): Promise<Result<void, string>> {
  if (documents.length === 0) return ok(undefined);
  const loaded = await loadFixtures(loader, documents);
  if (!loaded.ok) return err(describeProblems(loaded.error));
  const { store } = loader.server;
  store.compact(store.revision);
  return ok(undefined);
}
