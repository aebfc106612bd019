/** Flags that several commands have, with one text each. */
import { Option, type Command } from "commander";

const NAMESPACE = "namespace to work in (default: that of the kubeconfig's context, else default)";

/** For commands that read a cluster; as in kubectl. */
export function withNamespaces(command: Command, text = NAMESPACE): Command {
  return command.option("-n, --namespace <name>", text).option("-A, --all-namespaces", "work in all namespaces");
}

/** For commands that read a cluster or files. */
export function withNamespacesOrFiles(command: Command): Command {
  return withEnvironment(withNamespaces(command, `${NAMESPACE}; with -f, namespace of resources that name none`));
}

/** For commands that read files; as in kubectl. */
export function withFileNamespace(command: Command): Command {
  const text = "namespace of resources that name none; resources that name another are an error";
  return withEnvironment(command.option("-n, --namespace <name>", text));
}

function withEnvironment(command: Command): Command {
  return command.option("--environment <name>", "for services that name neither a namespace nor an environment, such as Score files");
}

const SETTINGS: readonly (readonly [flag: string, text: string])[] = [
  ["--cluster-domain <domain>", "DNS domain of the cluster (default: cluster.local)"],
  ["--trust-domain <domain>", "trust domain of the mesh, where an environment sets none (default: cluster.local)"],
  ["--ingress-domain <domain>", "domain below which routes without a host get one"],
  ["--gateway <namespace/name>", "Gateway that routes attach to (default: istio-ingress/gateway)"],
  ["--monitoring-namespace <name>", "namespace whose pods may scrape metrics (default: none; istio-system for canaries)"],
  ["--cluster-name <name>", "value of ${cluster.name}"],
  ["--cluster-provider <name>", "value of ${cluster.provider}"],
  ["--cluster-region <name>", "value of ${cluster.region}"],
];

const CLUSTER: readonly (readonly [flag: string, text: string])[] = [
  ["--kubeconfig <file>", "which cluster; without it KUBECONFIG, the cluster of lattice up in .lattice, ~/.kube/config, or the pod's own"],
  ["--context <name>", "which context of the kubeconfig"],
];

/** Settings of the cluster that services are compiled for. */
export function withDomains(command: Command): Command {
  for (const [flag, text] of SETTINGS) command.addOption(new Option(flag, text).helpGroup("The cluster that services are compiled for:"));
  return command;
}

export function withCluster(command: Command): Command {
  for (const [flag, text] of CLUSTER) command.addOption(new Option(flag, text).helpGroup("The cluster to connect to:"));
  return command;
}

export function withSecrets(command: Command): Command {
  return withShareable(
    command
      .option("--secrets <file>", "values of secrets, by path: postgres/main-db/password: ...")
      .option("--image <[name=]image...>", 'image of containers whose Score file has ".", by workload or workload/container'),
  );
}

export function withShareable(command: Command): Command {
  return command.option("--assume-shareable", "let volumes mount objects that are not in the files, as if labelled lattice.dev/shareable");
}

export const FILES_FLAG = "-f, --filename <path...>";
export const FILES_TEXT = "files or folders; - reads standard input";
export const FILES_OR_CLUSTER_TEXT = "files or folders; without them, a cluster";
