/** Volumes of drivers that have long moved out of Kubernetes; the server still knows what they must say. */
import type { JsonObject } from "#kube";
import { at, numberAt, textAt, textsAt } from "../../draft.ts";
import { inRange, invalid, joined, notSupported, required, type Causes } from "../causes.ts";
import { ifSetOneOf } from "../shared.ts";

const missing = (source: JsonObject, path: string, name: string): Causes =>
  textAt(source, name) === "" ? [required(`${path}.${name}`)] : [];

/** Disks of the first two clouds: a name, and maybe one of their partitions. */
export const validateDisk =
  (name: string) =>
  (source: JsonObject, path: string): Causes => {
    const partition = numberAt(source, "partition") ?? 0;
    const wrong = partition < 0 || partition > 255;
    return joined(
      missing(source, path, name),
      wrong ? [invalid(`${path}.partition`, partition, "must be between 1 and 255, inclusive")] : [],
    );
  };

export function validateRbd(source: JsonObject, path: string): Causes {
  return joined(validateMonitors(source, path), missing(source, path, "image"));
}

export function validateMonitors(source: JsonObject, path: string): Causes {
  return textsAt(source, "monitors").length === 0 ? [required(`${path}.monitors`)] : [];
}

export function validateFibreChannel(source: JsonObject, path: string): Causes {
  const [names, ids, lun] = [textsAt(source, "targetWWNs"), textsAt(source, "wwids"), numberAt(source, "lun")];
  const both = "targetWWNs and wwids can not be specified simultaneously";
  return joined(
    names.length + ids.length === 0 ? [required(`${path}.targetWWNs`, "must specify either targetWWNs or wwids, but not both")] : [],
    names.length > 0 && ids.length > 0 ? [invalid(`${path}.targetWWNs`, [...names], both)] : [],
    names.length > 0 && lun === undefined ? [required(`${path}.lun`, "lun is required if targetWWNs is specified")] : [],
    names.length > 0 && lun !== undefined ? inRange(`${path}.lun`, lun, [0, 255]) : [],
  );
}

export function validateFlocker(source: JsonObject, path: string): Causes {
  const [name, uuid] = [textAt(source, "datasetName"), textAt(source, "datasetUUID")];
  return joined(
    name === "" && uuid === "" ? [required(path, "one of datasetName and datasetUUID is required")] : [],
    name !== "" && uuid !== "" ? [invalid(path, "resource", "datasetName and datasetUUID can not be specified simultaneously")] : [],
    name.includes("/") ? [invalid(`${path}.datasetName`, name, "must not contain '/'")] : [],
  );
}

const PAIRS = "must be a host:port pair or multiple pairs separated by commas";

export function validateQuobyte(source: JsonObject, path: string): Causes {
  const registry = textAt(source, "registry");
  const pairs = registry.split(",").filter((pair) => !/^(\[[^\]]*\]|[^:]*):[^:]*$/.test(pair));
  return joined(
    registry === "" ? [required(`${path}.registry`, PAIRS)] : pairs.map(() => invalid(`${path}.registry`, registry, PAIRS)),
    missing(source, path, "volume"),
  );
}

const MANAGED = "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}";
const BLOB = "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd";

export function validateAzureDisk(source: JsonObject, path: string): Causes {
  const [uri, kind] = [textAt(source, "diskURI"), at(source, "kind")];
  const [prefix, form] = kind === "Managed" ? ["/subscriptions/", MANAGED] : ["https://", BLOB];
  return joined(
    missing(source, path, "diskName"),
    missing(source, path, "diskURI"),
    ifSetOneOf(`${path}.cachingMode`, source["cachingMode"], ["None", "ReadOnly", "ReadWrite"]),
    ifSetOneOf(`${path}.kind`, kind, ["Dedicated", "Managed", "Shared"]),
    kind === undefined || uri.startsWith(prefix) ? [] : [notSupported(`${path}.diskURI`, uri, [form])],
  );
}
