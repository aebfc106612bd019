/** The initial objects of a cluster: definitions, fixtures, objects of the options; stored before clients can connect. */
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

/** Folders of definitions contain other files too (kustomization.yaml); as in envtest, they are ignored. */
async function readDefinitions(path: string): ReturnType<typeof readDocuments> {
  const read = await readDocuments(path);
  if (!read.ok) return read;
  const definitions = read.value.filter(({ value }) => value["kind"] === "CustomResourceDefinition");
  return definitions.length > 0 ? ok(definitions) : err([{ file: path, message: "contains no CustomResourceDefinition" }]);
}

/** Compacts the store afterwards: no watch can start before the cluster was ready. */
export async function storeFirstObjects(loader: Loader, documents: readonly Document[]): Promise<Result<void, string>> {
  if (documents.length === 0) return ok(undefined);
  const loaded = await loadFixtures(loader, documents);
  if (!loaded.ok) return err(describeProblems(loaded.error));
  const { store } = loader.server;
  store.compact(store.revision);
  return ok(undefined);
}
