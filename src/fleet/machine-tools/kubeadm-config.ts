/**
 * The files of `kubeadm init --config` and `kubeadm join --config`, as Cluster API writes them (v1beta3 and v1beta4). Only what a local machine
 * uses is read: addresses, certificates and tokens of a real machine have no meaning here.
 */
import { collect, err, mapErr, ok, type Result } from "#base";
import { field, fieldAt, formatYaml, isJsonObject, parseYaml, type Json, type JsonObject, type Taint } from "#kube";

export type KubeadmNode = {
  readonly labels: Readonly<Record<string, string>>;
  /** Absent: the default of the role. */
  readonly taints?: readonly Taint[] | undefined;
};

export type KubeadmInit = {
  readonly clusterName: string;
  readonly kubernetesVersion: string;
  /** The text that kubeadm keeps in ConfigMap kubeadm-config. */
  readonly clusterConfiguration: string;
  readonly node: KubeadmNode;
};

export type KubeadmJoin = { readonly controlPlane: boolean; readonly node: KubeadmNode };

const API = "kubeadm.k8s.io/";

export function parseKubeadmInit(text: string): Result<KubeadmInit, string> {
  const documents = documentsOf(text);
  if (!documents.ok) return documents;
  const cluster = documents.value.get("ClusterConfiguration");
  if (cluster === undefined) return err("the file has no ClusterConfiguration");
  const [clusterName, kubernetesVersion] = [field(cluster, "clusterName"), field(cluster, "kubernetesVersion")];
  if (typeof clusterName !== "string" || clusterName === "") return err("ClusterConfiguration.clusterName: is missing");
  if (typeof kubernetesVersion !== "string" || kubernetesVersion === "") return err("ClusterConfiguration.kubernetesVersion: is missing");
  const node = registrationOf(documents.value.get("InitConfiguration"), "InitConfiguration");
  if (!node.ok) return node;
  return ok({ clusterName, kubernetesVersion, clusterConfiguration: formatYaml(cluster), node: node.value });
}

export function parseKubeadmJoin(text: string): Result<KubeadmJoin, string> {
  const documents = documentsOf(text);
  if (!documents.ok) return documents;
  const join = documents.value.get("JoinConfiguration");
  if (join === undefined) return err("the file has no JoinConfiguration");
  const node = registrationOf(join, "JoinConfiguration");
  if (!node.ok) return node;
  const controlPlane = field(join, "controlPlane");
  return ok({ controlPlane: controlPlane !== undefined && controlPlane !== null, node: node.value });
}

/** By kind. Documents of other groups, such as KubeletConfiguration, are left out. */
function documentsOf(text: string): Result<ReadonlyMap<string, JsonObject>, string> {
  const parsed = parseYaml(text);
  if (!parsed.ok) return err(`the file is not valid YAML: ${parsed.error.message}`);
  const found = new Map<string, JsonObject>();
  for (const document of parsed.value) {
    const [kind, apiVersion] = [field(document, "kind"), field(document, "apiVersion")];
    if (!isJsonObject(document) || typeof kind !== "string" || typeof apiVersion !== "string" || !apiVersion.startsWith(API)) continue;
    if (found.has(kind)) return err(`the file has more than one ${kind}`);
    found.set(kind, document);
  }
  return ok(found);
}

function registrationOf(document: Json | undefined, kind: string): Result<KubeadmNode, string> {
  const args = extraArgs(fieldAt(document, "nodeRegistration", "kubeletExtraArgs"));
  const labels = labelsOf(args.get("node-labels") ?? "");
  const own = fieldAt(document, "nodeRegistration", "taints");
  const listed = Array.isArray(own) ? own.map((taint, at) => taintOf(taint, `${kind}.nodeRegistration.taints[${at}]`)) : undefined;
  const byKubelet = (args.get("register-with-taints") ?? "").split(",").filter((text) => text !== "");
  const more = byKubelet.map((text) => taintOfText(text, `${kind}: --register-with-taints`));
  const taints = mapErr(collect([...(listed ?? []), ...more]), ([first = ""]) => first);
  if (!taints.ok) return taints;
  return ok({ labels, taints: listed === undefined && more.length === 0 ? undefined : taints.value });
}

/** v1beta4 has a list of names and values, v1beta3 a map. */
function extraArgs(value: Json | undefined): ReadonlyMap<string, string> {
  const entries = Array.isArray(value)
    ? value.map((entry) => [field(entry, "name"), field(entry, "value")] as const)
    : Object.entries(isJsonObject(value) ? value : {});
  return new Map(entries.flatMap(([name, text]) => (typeof name === "string" && typeof text === "string" ? [[name, text] as const] : [])));
}

/** "a=b,c=d", as the kubelet's flag. */
function labelsOf(text: string): Readonly<Record<string, string>> {
  const pairs = text.split(",").filter((pair) => pair.includes("="));
  return Object.fromEntries(pairs.map((pair) => [pair.slice(0, pair.indexOf("=")).trim(), pair.slice(pair.indexOf("=") + 1).trim()]));
}

const EFFECTS = ["NoSchedule", "PreferNoSchedule", "NoExecute"] as const;

function taintOf(value: Json, at: string): Result<Taint, string> {
  const [key, effect, text] = [field(value, "key"), field(value, "effect"), field(value, "value")];
  const known = EFFECTS.find((one) => one === effect);
  if (typeof key !== "string" || key === "" || known === undefined)
    return err(`${at}: must have a key, and an effect of ${EFFECTS.join(", ")}`);
  return ok({ key, effect: known, ...(typeof text === "string" && text !== "" ? { value: text } : {}) });
}

/** "key=value:effect" or "key:effect". */
function taintOfText(text: string, at: string): Result<Taint, string> {
  const [, key = "", value = "", effect = ""] = /^([^=:]+)(?:=([^:]*))?:([A-Za-z]+)$/.exec(text.trim()) ?? [];
  return taintOf({ key, value, effect }, at);
}
