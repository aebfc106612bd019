/** Every active namespace has the CA certificate of the API server in a ConfigMap, for Pods. Changes of it are reverted. */
import { configMaps, jsonEqual, namespaces as namespaceKind, type ConfigMap } from "#kube";
import type { KubeController, KubeControllerContext } from "../context.ts";
import { done, passOf, type Pass } from "../work.ts";
import { isNobodysFault } from "./default-account.ts";

const NAME = "kube-root-ca.crt";
const ANNOTATION = "kubernetes.io/description";
const DESCRIPTION =
  "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. " +
  "No other usage is guaranteed across distributions of Kubernetes clusters.";

/** `rootCa` is PEM. */
export function rootCaPublisher(rootCa: string): KubeController {
  return { name: "root-ca-certificate-publisher-controller", start: (context) => start(context, { "ca.crt": rootCa }) };
}

function start(context: KubeControllerContext, data: Readonly<Record<string, string>>): void {
  const { informers, client } = context;
  const published = informers.of(configMaps);
  const namespaces = informers.of(namespaceKind);
  const queue = context.work({ name: "root-ca", pass });

  async function pass(namespace: string, signal: AbortSignal): Promise<Pass> {
    if (namespaces.get({ name: namespace })?.status?.phase !== "Active") return done;
    const known = published.get({ namespace, name: NAME });
    if (known === undefined) {
      const metadata = { name: NAME, namespace, annotations: { [ANNOTATION]: DESCRIPTION } };
      const answer = await client.create(configMaps, { apiVersion: "v1", kind: "ConfigMap", metadata, data }, { signal });
      return !answer.ok && isNobodysFault(answer.error) ? done : passOf(answer);
    }
    return isAsPublished(known, data) ? done : passOf(await client.update(configMaps, repaired(known, data), { signal }));
  }

  informers.subscribe(namespaceKind, ({ key, after }) => {
    if (after !== undefined) queue.add(key.name);
  });
  informers.subscribe(configMaps, ({ key }) => {
    if (key.name === NAME && key.namespace !== undefined) queue.add(key.namespace);
  });
}

function isAsPublished({ metadata, data }: ConfigMap, want: Readonly<Record<string, string>>): boolean {
  return jsonEqual(data, want) && (metadata.annotations?.[ANNOTATION] ?? "") !== "";
}

function repaired(known: ConfigMap, data: Readonly<Record<string, string>>): ConfigMap {
  const annotations = { ...known.metadata.annotations, [ANNOTATION]: DESCRIPTION };
  return { ...known, metadata: { ...known.metadata, annotations }, data };
}
