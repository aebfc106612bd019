/**
 * The files of a bundle from the texts of its components. Pure: `lattice bundle` reads and writes.
 *
 * Components of Cluster API get the labels that `clusterctl init` would add; `clusterctl move` finds CRDs by them.
 */
import { ok, sha256Hex, type Result } from "#base";
import { formatYamlDocuments, type KubeObject } from "#kube";
import { formatManifest, MANIFEST_FILE, versionFault, type BundleEntry } from "./bundle-manifest.ts";
import { bundleError, componentNameFault, isProviderComponent, missingComponent, type BundleError } from "./bundle.ts";
import { readObjects } from "./component-objects.ts";
import { imagesOf, mirrorImages, mirroredName, type ImageMirror } from "./images.ts";
import { streamFault } from "./stream-check.ts";
import { substituteVariables } from "./variables.ts";

export type ComponentSource = {
  readonly name: string;
  readonly version: string;
  readonly files: readonly { readonly path: string; readonly text: string }[];
};

export type BundleSettings = { readonly mirrors: readonly ImageMirror[]; readonly variables: ReadonlyMap<string, string> };

export type MadeBundle = {
  /** File name to text; `bundle.json` is the last. */
  readonly files: ReadonlyMap<string, string>;
  readonly entries: readonly (BundleEntry & { readonly objects: number })[];
  /** What was left out or has no effect, one sentence each. */
  readonly warnings: readonly string[];
};

export function makeBundle(sources: readonly ComponentSource[], settings: BundleSettings): Result<MadeBundle, BundleError> {
  const fault = sourcesFault(sources);
  if (fault !== undefined) return bundleError("source", fault);
  const files = new Map<string, string>();
  const entries: MadeBundle["entries"][number][] = [];
  const warnings: string[] = [];
  const used = new Set<string>();
  for (const source of sources) {
    const read = readSource(source, settings, used);
    if (!read.ok) return read;
    const { objects } = read.value;
    const images = imagesOf(objects);
    warnings.push(...read.value.warnings);
    const text = formatYamlDocuments(objects);
    const file = `${source.name}.yaml`;
    files.set(file, text);
    entries.push({ name: source.name, version: source.version, file, sha256: sha256Hex(text), images, objects: objects.length });
  }
  warnings.push(...unusedVariables(settings, used));
  files.set(MANIFEST_FILE, formatManifest(entries));
  return ok({ files, entries, warnings });
}

function sourcesFault(sources: readonly ComponentSource[]): string | undefined {
  for (const [index, { name, version }] of sources.entries()) {
    const fault = componentNameFault(name) ?? versionFault(version);
    if (fault !== undefined) return fault;
    if (sources.findIndex((other) => other.name === name) < index) return `component ${name} is given twice`;
  }
  const missing = missingComponent(sources.map(({ name }) => name));
  return missing === undefined ? undefined : `component ${missing} is missing; add --from ${missing}=FILE`;
}

function readSource(
  { name, files }: ComponentSource,
  { mirrors, variables }: BundleSettings,
  used: Set<string>,
): Result<{ objects: readonly KubeObject[]; warnings: readonly string[] }, BundleError> {
  const objects: KubeObject[] = [];
  const warnings: string[] = [];
  for (const { path, text } of files) {
    const substituted = isProviderComponent(name) ? substituteVariables(text, variables) : ok({ text, used: new Set<string>() });
    if (!substituted.ok) return bundleError("source", `${path}: ${substituted.error}`);
    for (const variable of substituted.value.used) used.add(variable);
    const read = readObjects(substituted.value.text, path);
    if (!read.ok) return bundleError("source", read.error);
    objects.push(...read.value.objects);
    warnings.push(...read.value.leftOut.map((what) => `left out: ${what}`));
  }
  if (objects.length === 0) return bundleError("source", `component ${name} has no object`);
  const fault = streamFault(objects);
  if (fault !== undefined) return bundleError("source", `component ${name}: ${fault}`);
  const unmirrored = mirrors.length === 0 ? [] : imagesOf(objects).filter((image) => mirroredName(image, mirrors) === undefined);
  warnings.push(...unmirrored.map((image) => `${image} is at no mirror; its name is unchanged`));
  const labelled = isProviderComponent(name) ? objects.map((object) => withProviderLabels(object, name)) : objects;
  return ok({ objects: mirrorImages(labelled, mirrors), warnings });
}

function withProviderLabels(object: KubeObject, provider: string): KubeObject {
  const labels = { ...object.metadata.labels, "clusterctl.cluster.x-k8s.io": "", "cluster.x-k8s.io/provider": provider };
  return { ...object, metadata: { ...object.metadata, labels } };
}

function unusedVariables({ variables }: BundleSettings, used: ReadonlySet<string>): readonly string[] {
  return [...variables.keys()].filter((name) => !used.has(name)).map((name) => `no component has a variable ${name}`);
}
