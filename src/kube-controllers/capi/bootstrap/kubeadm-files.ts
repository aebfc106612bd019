/** The files that kubeadm reads on the machine: its configuration and the certificates of the cluster. */
import { formatYaml, type JsonObject, type KubeObject } from "#kube";
import { objectAt, textAt, textsAt, versionOf, type CapiObject } from "../objects.ts";
import { secretText } from "../secret-data.ts";
import type { CloudFile } from "./cloud-config.ts";

const API_VERSION = "kubeadm.k8s.io/v1beta4";
const ROOT = { owner: "root:root", permissions: "0640" };

/** By purpose: `ca`, `etcd`, `proxy`, `sa`. */
export type ClusterSecrets = ReadonlyMap<string, KubeObject>;

const PATHS: readonly (readonly [purpose: string, certificate: string, key: string])[] = [
  ["ca", "/etc/kubernetes/pki/ca.crt", "/etc/kubernetes/pki/ca.key"],
  ["etcd", "/etc/kubernetes/pki/etcd/ca.crt", "/etc/kubernetes/pki/etcd/ca.key"],
  ["proxy", "/etc/kubernetes/pki/front-proxy-ca.crt", "/etc/kubernetes/pki/front-proxy-ca.key"],
  ["sa", "/etc/kubernetes/pki/sa.pub", "/etc/kubernetes/pki/sa.key"],
];

export function certificateFiles(secrets: ClusterSecrets): readonly CloudFile[] {
  return PATHS.flatMap(([purpose, certificate, key]) => {
    const secret = secrets.get(purpose);
    const [public_, private_] = secret === undefined ? [] : [secretText(secret, "tls.crt"), secretText(secret, "tls.key")];
    return [
      { path: certificate, ...ROOT, content: public_ ?? "" },
      { path: key, owner: "root:root", permissions: "0600", content: private_ ?? "" },
    ];
  });
}

export function initFile(cluster: CapiObject, machine: CapiObject, config: CapiObject): CloudFile {
  const documents = [
    { apiVersion: API_VERSION, kind: "ClusterConfiguration", ...clusterConfiguration(cluster, machine, config) },
    { apiVersion: API_VERSION, kind: "InitConfiguration", ...objectAt(config, "spec", "initConfiguration") },
  ];
  const content = documents.map((document) => `---\n${formatYaml(document)}`).join("");
  return { path: "/run/kubeadm/kubeadm.yaml", ...ROOT, content };
}

function clusterConfiguration(cluster: CapiObject, machine: CapiObject, config: CapiObject): JsonObject {
  const network = objectAt(cluster, "spec", "clusterNetwork");
  const blocks = (name: string) => textsAt(network, name, "cidrBlocks").join(",");
  return {
    clusterName: cluster.metadata.name,
    kubernetesVersion: versionOf(machine),
    networking: {
      ...(textAt(network, "serviceDomain") === undefined ? {} : { dnsDomain: textAt(network, "serviceDomain") ?? "" }),
      ...(blocks("pods") === "" ? {} : { podSubnet: blocks("pods") }),
      ...(blocks("services") === "" ? {} : { serviceSubnet: blocks("services") }),
    },
    ...objectAt(config, "spec", "clusterConfiguration"),
  };
}

export function joinFile(config: CapiObject): CloudFile {
  const document = { apiVersion: API_VERSION, kind: "JoinConfiguration", ...objectAt(config, "spec", "joinConfiguration") };
  return { path: "/run/kubeadm/kubeadm-join-config.yaml", ...ROOT, content: `---\n${formatYaml(document)}` };
}
