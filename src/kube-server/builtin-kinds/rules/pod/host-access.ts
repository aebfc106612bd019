/** What a Pod takes from its node: user namespaces, processes of a Windows host, and what its operating system does not know. */
import { isJsonObject, type JsonObject } from "#kube";
import { at, isTrueAt, objectAt, objectsAt, textAt } from "../../draft.ts";
import { forbidden, invalid, joined, required, type Causes } from "../causes.ts";
import { ifSetOneOf } from "../shared.ts";

type Placed = { readonly container: JsonObject; readonly path: string };

/** In the order in which the server visits them. */
function containersOf(spec: JsonObject, path: string): readonly Placed[] {
  return ["initContainers", "containers", "ephemeralContainers"].flatMap((list) =>
    objectsAt(spec, list).map((container, index) => ({ container, path: `${path}.${list}[${index}]` })),
  );
}

const hostProcessOf = (holder: JsonObject) => at(holder, "securityContext", "windowsOptions", "hostProcess");

/** Host processes of Windows come all or none, and only on the network of the host. */
export function validateHostProcess(spec: JsonObject, path: string): Causes {
  const ofPod = hostProcessOf(spec);
  const containers = containersOf(spec, path);
  const own = containers.map(({ container }) => hostProcessOf(container));
  const processes = own.filter((value) => (value ?? ofPod) === true).length;
  const contradictions = containers.flatMap((placed, index) => {
    const value = own[index];
    if (ofPod === undefined || value === undefined || value === ofPod) return [];
    const detail = `pod hostProcess value must be identical if both are specified, was ${String(ofPod === true)}`;
    return [invalid(`${placed.path}.securityContext.windowsOptions.hostProcess`, value, detail)];
  });
  if (processes === 0) return contradictions;
  const onlySome = "If pod contains any hostProcess containers then all containers must be HostProcess containers";
  const network = "hostNetwork must be true if pod contains any hostProcess containers";
  return joined(
    contradictions,
    processes === containers.length ? [] : [invalid(path, "", onlySome)],
    isTrueAt(spec, "hostNetwork") ? [] : [invalid(`${path}.hostNetwork`, false, network)],
  );
}

/** A Pod with users of its own keeps out of the other namespaces of its host. The capital letters are the server's. */
export function validateHostUsers(spec: JsonObject, path: string): Causes {
  if (at(spec, "hostUsers") !== false) return [];
  const why = "when `hostUsers` is false";
  const shared = [
    ["hostNetwork", "hostNetwork"],
    ["hostPID", "HostPID"],
    ["hostIPC", "HostIPC"],
  ] as const;
  return joined(
    shared.flatMap(([name, shown]) => (isTrueAt(spec, name) ? [forbidden(`${path}.${shown}`, why)] : [])),
    containersOf(spec, path).flatMap((placed) =>
      objectsAt(placed.container, "volumeDevices").length > 0 ? [forbidden(`${placed.path}.volumeDevices`, why)] : [],
    ),
  );
}

export function validateOs(spec: JsonObject, path: string): Causes {
  const os = objectAt(spec, "os");
  if (os === undefined) return [];
  const name = textAt(os, "name");
  if (name === "") return [required(`${path}.os.name`)];
  const causes = ifSetOneOf(`${path}.os`, name, ["linux", "windows"]);
  if (causes.length > 0) return causes;
  return name === "linux" ? validateLinux(spec, path) : validateWindows(spec, path);
}

const NOT_ON_LINUX = "windows options cannot be set for a linux pod";

function validateLinux(spec: JsonObject, path: string): Causes {
  return [{ container: spec, path }, ...containersOf(spec, path)].flatMap((placed) =>
    objectAt(placed.container, "securityContext", "windowsOptions") === undefined
      ? []
      : [forbidden(`${placed.path}.securityContext.windowsOptions`, NOT_ON_LINUX)],
  );
}

const POD_FIELDS =
  "securityContext.appArmorProfile securityContext.seLinuxOptions hostUsers hostPID hostIPC securityContext.seccompProfile securityContext.fsGroup securityContext.fsGroupChangePolicy securityContext.sysctls shareProcessNamespace securityContext.runAsUser securityContext.runAsGroup securityContext.supplementalGroups securityContext.supplementalGroupsPolicy securityContext.seLinuxChangePolicy".split(
    " ",
  );
const CONTAINER_FIELDS =
  "appArmorProfile seLinuxOptions seccompProfile capabilities readOnlyRootFilesystem privileged allowPrivilegeEscalation procMount runAsUser runAsGroup".split(
    " ",
  );

function validateWindows(spec: JsonObject, path: string): Causes {
  const refuse = (field: string) => forbidden(field, "cannot be set for a windows pod");
  const isSet = (holder: JsonObject, name: string) => {
    const value = at(holder, ...name.split("."));
    return value !== undefined && (name.startsWith("host") && name !== "hostUsers" ? value === true : true);
  };
  return joined(
    POD_FIELDS.filter((name) => isSet(spec, name)).map((name) => refuse(`${path}.${name}`)),
    containersOf(spec, path).flatMap((placed) => {
      const context = placed.container["securityContext"];
      const set = isJsonObject(context) ? CONTAINER_FIELDS.filter((name) => at(context, name) !== undefined) : [];
      return set.map((name) => refuse(`${placed.path}.securityContext.${name}`));
    }),
  );
}
