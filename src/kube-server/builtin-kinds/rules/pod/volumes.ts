/** Volumes of a Pod: exactly one source each, and what each source must say. */
import type { JsonObject } from "#kube";
import { numberAt, objectAt, objectsAt, textAt } from "../../draft.ts";
import { duplicate, forbidden, invalid, joined, required, type Causes } from "../causes.ts";
import { dnsLabel } from "../formats.ts";
import { fileMode, ifSetOneOf, localPath, noBacksteps, requiredText } from "../shared.ts";
import { validateFieldRef, validateResourceFieldRef, VOLUME_FIELDS } from "./environment.ts";
import { validateClaimSpec } from "../claim.ts";
import { validateIscsi } from "./iscsi.ts";
import {
  validateAzureDisk,
  validateDisk,
  validateFibreChannel,
  validateFlocker,
  validateMonitors,
  validateQuobyte,
  validateRbd,
} from "./old-volumes.ts";
import { quantityOf } from "./resources.ts";

type SourceRule = (source: JsonObject, path: string) => Causes;

const HOST_PATH_TYPES = ["", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"];

const needs =
  (...names: readonly string[]): SourceRule =>
  (source, path) =>
    names.flatMap((name) => requiredText(`${path}.${name}`, textAt(source, name)));

const PULL_POLICIES = ["Always", "IfNotPresent", "Never"];

/** In the server's order: the first source that is there counts, the others are one too many. */
const SOURCES = new Map<string, SourceRule>([
  ["emptyDir", validateEmptyDir],
  ["hostPath", validateHostPath],
  ["gitRepo", needs("repository")],
  // the server has its own name for the first one
  ["gcePersistentDisk", (source, path) => validateDisk("pdName")(source, path.replace(/gcePersistentDisk$/, "persistentDisk"))],
  ["awsElasticBlockStore", validateDisk("volumeID")],
  ["secret", (source, path) => joined(needs("secretName")(source, path), validateFiles(source, path))],
  ["nfs", validateNfs],
  ["iscsi", validateIscsi],
  ["glusterfs", needs("endpoints", "path")],
  ["flocker", validateFlocker],
  ["persistentVolumeClaim", needs("claimName")],
  ["rbd", validateRbd],
  ["cinder", needs("volumeID")],
  ["cephfs", validateMonitors],
  ["quobyte", validateQuobyte],
  ["downwardAPI", validateDownwardApi],
  ["fc", validateFibreChannel],
  ["flexVolume", needs("driver")],
  ["configMap", (source, path) => joined(needs("name")(source, path), validateFiles(source, path))],
  ["azureFile", needs("secretName", "shareName")],
  ["vsphereVolume", needs("volumePath")],
  ["photonPersistentDisk", needs("pdID")],
  ["portworxVolume", needs("volumeID")],
  ["azureDisk", validateAzureDisk],
  ["storageos", needs("volumeName")],
  ["projected", validateProjected],
  ["scaleIO", needs("gateway", "system", "volumeName")],
  ["csi", needs("driver")],
  ["ephemeral", validateEphemeral],
  [
    "image",
    (source, path) => joined(needs("reference")(source, path), ifSetOneOf(`${path}.pullPolicy`, source["pullPolicy"], PULL_POLICIES)),
  ],
  ["local", (source, path) => joined(needs("path")(source, path), noBacksteps(`${path}.path`, textAt(source, "path")))],
]);

/** One source by itself: a PersistentVolume has most of them too. */
export function validateVolumeSource(name: string, source: JsonObject, path: string): Causes {
  return SOURCES.get(name)?.(source, path) ?? [];
}

/** The causes, and the volumes that are right: only those can be mounted. */
export function validateVolumes(
  spec: JsonObject,
  path: string,
): { readonly causes: Causes; readonly volumes: ReadonlyMap<string, JsonObject> } {
  const volumes = new Map<string, JsonObject>();
  const causes = objectsAt(spec, "volumes").flatMap((volume, index) => {
    const name = textAt(volume, "name");
    const own = joined(
      validateSource(volume, `${path}[${index}]`),
      requiredText(`${path}[${index}].name`, name, dnsLabel),
      volumes.has(name) ? [duplicate(`${path}[${index}].name`, name)] : [],
    );
    if (own.length === 0) volumes.set(name, volume);
    return own;
  });
  return { causes, volumes };
}

function validateSource(volume: JsonObject, path: string): Causes {
  const present = Object.keys(volume).filter((name) => SOURCES.has(name) && name !== "local" && objectAt(volume, name) !== undefined);
  const [first] = present.length > 1 ? inOrder(present) : present;
  if (first === undefined) return [required(path, "must specify a volume type")];
  const own = SOURCES.get(first)?.(objectAt(volume, first) ?? {}, `${path}.${first}`) ?? [];
  const others = present.length > 1 ? inOrder(present).slice(1) : [];
  return joined(
    own,
    others.map((name) => forbidden(`${path}.${name}`, "may not specify more than 1 volume type")),
  );
}

/** As the server looks for them. */
function inOrder(names: readonly string[]): readonly string[] {
  return [...SOURCES.keys()].filter((name) => names.includes(name));
}

function validateEmptyDir(source: JsonObject, path: string): Causes {
  const limit = quantityOf(textAt(source, "sizeLimit"));
  return limit !== undefined && limit < 0n ? [forbidden(`${path}.sizeLimit`, "SizeLimit field must be a valid resource quantity")] : [];
}

function validateHostPath(source: JsonObject, path: string): Causes {
  return joined(
    needs("path")(source, path),
    noBacksteps(`${path}.path`, textAt(source, "path")),
    ifSetOneOf(`${path}.type`, source["type"], HOST_PATH_TYPES),
  );
}

function validateNfs(source: JsonObject, path: string): Causes {
  const target = textAt(source, "path");
  return joined(
    needs("server", "path")(source, path),
    target.startsWith("/") ? [] : [invalid(`${path}.path`, target, "must be an absolute path")],
  );
}

function validateFiles(source: JsonObject, path: string): Causes {
  return joined(fileMode(`${path}.defaultMode`, numberAt(source, "defaultMode")), validateItems(source, path));
}

function validateItems(source: JsonObject, path: string): Causes {
  return objectsAt(source, "items").flatMap((item, index) => {
    const at = `${path}.items[${index}]`;
    return joined(
      needs("key", "path")(item, at),
      localPath(`${at}.path`, textAt(item, "path")),
      fileMode(`${at}.mode`, numberAt(item, "mode")),
    );
  });
}

function validateDownwardApi(source: JsonObject, path: string): Causes {
  return joined(
    fileMode(`${path}.defaultMode`, numberAt(source, "defaultMode")),
    objectsAt(source, "items").flatMap((file) => validateDownwardFile(file, path)),
  );
}

function validateDownwardFile(file: JsonObject, path: string): Causes {
  const [fieldRef, resourceRef] = [objectAt(file, "fieldRef"), objectAt(file, "resourceFieldRef")];
  const refs =
    fieldRef !== undefined
      ? joined(
          validateFieldRef(fieldRef, VOLUME_FIELDS, `${path}.fieldRef`),
          resourceRef === undefined ? [] : [invalid(path, "resource", "fieldRef and resourceFieldRef can not be specified simultaneously")],
        )
      : resourceRef !== undefined
        ? validateResourceFieldRef(resourceRef, `${path}.resourceFieldRef`, true)
        : [required(path, "one of fieldRef and resourceFieldRef is required")];
  return joined(
    needs("path")(file, path),
    localPath(`${path}.path`, textAt(file, "path")),
    refs,
    fileMode(`${path}.mode`, numberAt(file, "mode")),
  );
}

function validateProjected(source: JsonObject, path: string): Causes {
  const sources = objectsAt(source, "sources");
  return joined(
    fileMode(`${path}.defaultMode`, numberAt(source, "defaultMode")),
    sources.flatMap((projection, index) => validateProjection(projection, path, `${path}.sources[${index}]`)),
    repeatedPaths(sources, path),
  );
}

/** Two sources may not put a file in the same place. */
function repeatedPaths(sources: readonly JsonObject[], path: string): Causes {
  const seen = new Set<string>();
  return sources.flatMap((source) =>
    ["secret", "configMap", "downwardAPI"].flatMap((kind) =>
      objectsAt(source, kind, "items").flatMap((item) => {
        const target = textAt(item, "path");
        const again = target !== "" && seen.has(target);
        seen.add(target);
        return again ? [invalid(path, kind === "downwardAPI" ? target : textAt(source, kind, "name"), "conflicting duplicate paths")] : [];
      }),
    ),
  );
}

function validateProjection(projection: JsonObject, path: string, at: string): Causes {
  const present = ["secret", "configMap", "downwardAPI", "serviceAccountToken", "clusterTrustBundle", "podCertificate"].filter(
    (name) => objectAt(projection, name) !== undefined,
  );
  const causes = present.flatMap((name): Causes => {
    const source = objectAt(projection, name) ?? {};
    if (name === "secret" || name === "configMap")
      return joined(needs("name")(source, `${at}.${name}`), validateItems(source, `${at}.${name}`));
    if (name === "downwardAPI") return objectsAt(source, "items").flatMap((file) => validateDownwardFile(file, `${at}.${name}`));
    return name === "serviceAccountToken" ? validateToken(source, path, `${at}.${name}`) : [];
  });
  return present.length > 1 ? [...causes, forbidden(at, "may not specify more than 1 volume type per source")] : causes;
}

function validateToken(source: JsonObject, path: string, at: string): Causes {
  const [seconds, file] = [numberAt(source, "expirationSeconds") ?? 0, textAt(source, "path")];
  return joined(
    seconds < 600 ? [invalid(`${at}.expirationSeconds`, seconds, "may not specify a duration less than 10 minutes")] : [],
    seconds > 2 ** 32 ? [invalid(`${at}.expirationSeconds`, seconds, "may not specify a duration larger than 2^32 seconds")] : [],
    file === "" ? [required(`${path}.path`)] : localPath(`${path}.path`, file),
  );
}

function validateEphemeral(source: JsonObject, path: string): Causes {
  const template = objectAt(source, "volumeClaimTemplate");
  if (template === undefined) return [required(`${path}.volumeClaimTemplate`)];
  return validateClaimSpec(objectAt(template, "spec") ?? {}, `${path}.volumeClaimTemplate.spec`);
}
