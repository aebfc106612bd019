/**
 * A Pod template as in the error message of a rejected change: the internal struct without JSON names, so that Go's field names and all unset
 * fields are printed.
 */
import { isJsonObject, type Json, type JsonObject } from "#kube";
import { goTypeOf, type GoField, type GoType } from "../codec/go-types.ts";
import { at, objectAt, type Draft } from "../draft.ts";
import { goMap } from "./causes.ts";

const NAMES = new Map(
  "tty:TTY dnsPolicy:DNSPolicy dnsConfig:DNSConfig os:OS fsGroup:FSGroup fsGroupChangePolicy:FSGroupChangePolicy httpGet:HTTPGet httpHeaders:HTTPHeaders tcpSocket:TCPSocket grpc:GRPC ip:IP nfs:NFS csi:CSI fc:FC rbd:RBD iscsi:ISCSI seLinuxOptions:SELinuxOptions seLinuxChangePolicy:SELinuxChangePolicy uid:UID apiVersion:APIVersion apiGroup:APIGroup fsType:FSType pdName:PDName gcePersistentDisk:GCEPersistentDisk awsElasticBlockStore:AWSElasticBlockStore cephfs:CephFS storageos:StorageOS"
    .split(" ")
    .map((pair) => pair.split(":") as [string, string]),
);

/** Fields of a Pod's spec in the order of the internal type; the host's namespaces are part of its security context there. */
const SPEC =
  "volumes initContainers containers ephemeralContainers restartPolicy terminationGracePeriodSeconds activeDeadlineSeconds dnsPolicy nodeSelector serviceAccountName automountServiceAccountToken nodeName securityContext imagePullSecrets hostname subdomain setHostnameAsFQDN affinity schedulerName tolerations hostAliases priorityClassName priority preemptionPolicy dnsConfig readinessGates runtimeClassName overhead enableServiceLinks topologySpreadConstraints os schedulingGates resourceClaims resources hostnameOverride schedulingGroup".split(
    " ",
  );
const HOST = ["hostNetwork", "hostPID", "hostIPC", "shareProcessNamespace", "hostUsers"];
const SECURITY =
  "seLinuxOptions windowsOptions runAsUser runAsGroup runAsNonRoot supplementalGroups supplementalGroupsPolicy fsGroup fsGroupChangePolicy sysctls seccompProfile appArmorProfile seLinuxChangePolicy".split(
    " ",
  );
const POD_SPEC = "io.k8s.api.core.v1.PodSpec";

export function internalTemplate(template: JsonObject): JsonObject {
  const { labels, annotations, ...metadata } = objectAt(template, "metadata") ?? {};
  const maps = {
    ...(isJsonObject(labels) ? { labels: goMap(labels) } : {}),
    ...(isJsonObject(annotations) ? { annotations: goMap(annotations) } : {}),
  };
  return { ...metadata, ...maps, Spec: internalPodSpec(objectAt(template, "spec") ?? {}) };
}

/** Any struct whose internal twin has the same fields in the same order. */
export function internalStruct(definition: string, value: Json): Json {
  return shownValue(goTypeOf(definition), value);
}

export function internalPodSpec(spec: JsonObject): JsonObject {
  const fields = fieldsOf(goTypeOf(POD_SPEC));
  const shown: Draft = {};
  for (const name of SPEC) {
    if (name === "securityContext") shown["SecurityContext"] = securityContext(spec, fields);
    else shown[goName(name)] = fieldValue(fields.get(name), at(spec, name));
  }
  return shown;
}

function securityContext(spec: JsonObject, fields: ReadonlyMap<string, GoField>): Json {
  const context = objectAt(spec, "securityContext");
  if (context === undefined) return null;
  const own = fieldsOf(goTypeOf("io.k8s.api.core.v1.PodSecurityContext"));
  return Object.fromEntries([
    ...HOST.map((name) => [goName(name), fieldValue(fields.get(name), at(spec, name))]),
    ...SECURITY.map((name) => [goName(name), fieldValue(own.get(name), at(context, name))]),
  ]) as JsonObject;
}

function fieldsOf(type: GoType): ReadonlyMap<string, GoField> {
  return type.kind === "struct" ? type.fields() : new Map();
}

function goName(name: string): string {
  return NAMES.get(name) ?? name.charAt(0).toUpperCase() + name.slice(1);
}

function fieldValue(known: GoField | undefined, value: Json | undefined): Json {
  if (known === undefined) return value ?? null;
  if (value !== undefined) return shownValue(known.type, value);
  if (known.pointer) return null;
  if (known.type.kind === "struct") return shownValue(known.type, {});
  if (known.type.kind === "string") return "";
  if (known.type.kind === "bool") return false;
  return known.type.kind === "int32" || known.type.kind === "int64" ? 0 : null;
}

/** Types of apimachinery keep their JSON names. */
function shownValue(type: GoType, value: Json): Json {
  if (type.kind === "list" && Array.isArray(value)) return value.map((item: Json) => shownValue(type.element, item));
  if (type.kind !== "struct" || !isJsonObject(value) || type.definition.includes("apimachinery")) return value;
  return Object.fromEntries(internalOrder(type.fields()).map((known) => [goName(known.name), fieldValue(known, at(value, known.name))]));
}

/** One kind of volume stands elsewhere in the internal type. */
function internalOrder(fields: ReadonlyMap<string, GoField>): readonly GoField[] {
  const quobyte = fields.get("quobyte");
  const others = [...fields.values()].filter((known) => known !== quobyte);
  return quobyte === undefined ? others : others.flatMap((known) => (known.name === "rbd" ? [known, quobyte] : [known]));
}
