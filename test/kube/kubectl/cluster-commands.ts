/** Common kubectl commands on a cluster with controllers. The order matters: each command depends on the commands before it. */
import type { Command } from "./compare.ts";
import { rareKindsAndInvalidCommands } from "./rare-kinds-and-invalid-commands.ts";

const controllers = "controllers write events at any time";
const events = { lines: /^(Events:|\s+(Type\b|----|Normal\b|Warning\b)|\s*(Normal|Warning)\s)/, why: controllers };
/** Compares only kinds, fields, types and enums. */
const prose = { lines: /^(?!KIND|VERSION|GROUP|FIELD|.*\t<|.*enum:)/, why: "the embedded schemas have no descriptions" };

export const DEPLOYMENT = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: web, image: "example.test/web:1", ports: [{containerPort: 80, name: http}]}
`;
const map = (name: string, labels: string, value: string) =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, labels: {${labels}}}\ndata: {key: ${value}}\n`;

export const FILES: readonly (readonly [string, string])[] = [
  ["deployment.yaml", DEPLOYMENT],
  ["changed.yaml", DEPLOYMENT.replace("web:1", "web:9")],
  ["pruned-1.yaml", `${map("keep", "set: pruned", "one")}---\n${map("drop", "set: pruned", "one")}`],
  ["pruned-2.yaml", map("keep", "set: pruned", "two")],
  ["map.yaml", map("filed", "from: file", "one")],
  ["map-2.yaml", map("filed", "from: file", "two")],
  ["columns.txt", "NAME          LABELS\n.metadata.name .metadata.labels\n"],
  ["path.txt", "{.metadata.name}/{.data.key}\n"],
  ["template.txt", "{{.metadata.name}} has {{len .data}}\n"],
  ["settings.env", "COLOUR=blue\nSIZE=3\n"],
  ["kustomization.yaml", "resources: [map.yaml]\nnamePrefix: kustomized-\n"],
  ["editor.sh", '#!/bin/sh\nsed -i "s/key: .*/key: edited/" "$1"\n'],
];

/** `own`: a name for cluster-scoped objects. */
export function clusterCommands(own: string, namespace: string): readonly Command[] {
  const revision = (number: number) => [
    "wait",
    "deployment/web",
    `--for=jsonpath={.metadata.annotations.deployment\\.kubernetes\\.io/revision}=${number}`,
    "--timeout=10s",
  ];
  return [
    { args: ["create", "namespace", namespace] },
    { args: ["get", "serviceaccounts"], after: ["get", "serviceaccount", "default"] },
    // every way to create
    { args: ["create", "deployment", "made", "--image=example.test/made:1", "--replicas=0", "--port=80"] },
    { args: ["create", "job", "once", "--image=example.test/once:1", "--", "true"] },
    { args: ["create", "cronjob", "tick", "--image=example.test/tick:1", "--schedule=0 0 1 1 *", "--restart=Never"] },
    {
      args: [
        "create",
        "job",
        "ticked",
        "--from=cronjob/tick",
        "--dry-run=server",
        "-o",
        "jsonpath={.spec.template.spec.containers[0].image} {.metadata.ownerReferences[0].kind}",
      ],
    },
    { args: ["create", "service", "clusterip", "inside", "--tcp=80:8080"] },
    { args: ["create", "service", "nodeport", "outside", "--tcp=80"] },
    { args: ["create", "service", "externalname", "away", "--external-name=example.test"] },
    { args: ["create", "service", "loadbalancer", "balanced", "--tcp=80"] },
    { args: ["create", "ingress", "entry", "--rule=a.test/path*=inside:80,tls=cert", "--class=x"] },
    { args: ["create", "quota", "few", "--hard=count/secrets=50,pods=40"] },
    { args: ["create", "role", "reader", "--verb=get,list", "--resource=pods,deployments.apps", "--resource-name=web"] },
    { args: ["create", "clusterrole", own, "--verb=get", "--resource=nodes", "--non-resource-url=/healthz"] },
    { args: ["create", "clusterrole", `${own}-sum`, "--aggregation-rule=own=yes"] },
    { args: ["create", "rolebinding", "reads", "--role=reader", "--user=alice", "--group=devs", `--serviceaccount=${namespace}:robot`] },
    { args: ["create", "clusterrolebinding", own, `--clusterrole=${own}`, "--user=alice"] },
    { args: ["create", "serviceaccount", "robot"] },
    { args: ["create", "token", "robot", "--duration=10m"] },
    { args: ["create", "token", "missing"] },
    { args: ["create", "secret", "generic", "plain", "--from-literal=a=1", "--from-env-file=@/settings.env"] },
    { args: ["create", "secret", "generic", "plain", "--from-literal=a=1"] },
    { args: ["create", "secret", "tls", "cert", "--cert=@/tls.crt", "--key=@/tls.key"] },
    { args: ["create", "secret", "docker-registry", "pull", "--docker-server=r.test", "--docker-username=u", "--docker-password=p"] },
    { args: ["create", "configmap", "env", "--from-env-file=@/settings.env"] },
    { args: ["create", "configmap", "file", "--from-file=@/map.yaml"] },
    { args: ["create", "poddisruptionbudget", "budget", "--selector=app=web", "--min-available=1"] },
    { args: ["create", "priorityclass", own, "--value=7", "--description=d"] },
    { args: ["create", "-k", "@/"] },
    // every form of output
    { args: ["apply", "-f", "@/map.yaml"] },
    ...[
      "json",
      "yaml",
      "name",
      "wide",
      "jsonpath={.data.key}",
      "jsonpath-file=@/path.txt",
      "jsonpath-as-json={.metadata.labels}",
      "go-template={{.kind}} {{.data.key}}",
      "go-template-file=@/template.txt",
      "template={{.metadata.name}}",
      "custom-columns=N:.metadata.name,K:.data.key",
      "custom-columns-file=@/columns.txt",
      "nonsense",
    ].map((form) => ({ args: ["get", "configmap", "filed", "-o", form] })),
    { args: ["get", "secrets,services,ingresses,cronjobs,quota,roles,rolebindings,pdb", "--sort-by=.metadata.name"] },
    { args: ["get", "services,cronjobs,rolebindings,ingresses", "-o", "wide"] },
    { args: ["get", "configmaps", "-L", "from", "--field-selector=metadata.name=filed", "--no-headers"] },
    { args: ["get", "configmaps", "-l", "from=file", "-o", "jsonpath={range .items[*]}{.metadata.name}{end}"] },
    { args: ["get", "clusterroles", own, `${own}-sum`] },
    { args: ["get", "priorityclass", own] },
    { args: ["get", "secret", "pull", "-o", "jsonpath={.type} {.data}"] },
    { args: ["get", "configmap", "filed", "--watch", "--request-timeout=1s"] },
    { args: ["get", "configmap", "filed", "-o", "json", "--watch", "--output-watch-events", "--request-timeout=1s"] },
    // describing
    ...[
      "quota/few",
      "role/reader",
      "rolebinding/reads",
      `clusterrole/${own}`,
      `clusterrolebinding/${own}`,
      "serviceaccount/robot",
      "secret/cert",
      "configmap/filed",
      "cronjob/tick",
      "service/outside",
      "service/away",
      "ingress/entry",
      "pdb/budget",
      `priorityclass/${own}`,
      `namespace/${namespace}`,
    ].map((what) => ({
      args: ["describe", what],
      without: { lines: /^(Events:|\s+(Type\b|----|Normal\b|Warning\b)|Annotations:.*lastApplied|Endpoints:)/, why: controllers },
    })),
    // rollouts
    { args: ["apply", "-f", "@/deployment.yaml"] },
    {
      args: ["get", "deployment", "web"],
      after: ["wait", "deployment/web", "--for=jsonpath={.status.updatedReplicas}=2", "--timeout=10s"],
    },
    {
      args: [
        "get",
        "replicasets",
        "-l",
        "app=web",
        "-o",
        "custom-columns=WANTED:.spec.replicas,IS:.status.replicas,OWNER:.metadata.ownerReferences[0].name",
      ],
    },
    { args: ["get", "pods", "-l", "app=web"], after: ["wait", "deployment/web", "--for=jsonpath={.status.replicas}=2", "--timeout=10s"] },
    { args: ["describe", "deployment", "web"], without: events },
    {
      args: ["describe", "pods", "-l", "app=web"],
      without: {
        lines:
          /^(Events:|\s+(Type\b|----|Normal\b|Warning\b)|Name:|Labels:|\s+pod-template-hash|Controlled By:|\s+kube-api-access|\s+\/var\/run)/,
        why: "names and hashes differ",
      },
    },
    { args: ["rollout", "status", "deployment/web", "--timeout=1s"] },
    { args: ["rollout", "history", "deployment/web"], after: revision(1) },
    { args: ["set", "image", "deployment/web", "web=example.test/web:2"] },
    { args: ["rollout", "history", "deployment/web"], after: revision(2) },
    { args: ["rollout", "history", "deployment/web", "--revision=2"], without: { lines: /pod-template-hash/, why: "hashes differ" } },
    { args: ["rollout", "undo", "deployment/web"] },
    { args: ["get", "deployment", "web", "-o", "jsonpath={.spec.template.spec.containers[0].image}"], after: revision(3) },
    { args: ["rollout", "undo", "deployment/web", "--to-revision=9"] },
    { args: ["rollout", "pause", "deployment/web"] },
    { args: ["rollout", "pause", "deployment/web"] },
    { args: ["rollout", "resume", "deployment/web"] },
    { args: ["rollout", "restart", "deployment/web"] },
    { args: ["rollout", "status", "deployment/web", "--watch=false"], after: revision(4) },
    { args: ["rollout", "status", "job/once"] },
    { args: ["scale", "deployment/web", "--replicas=3"] },
    { args: ["scale", "deployment/web", "--replicas=1", "--current-replicas=3"] },
    { args: ["autoscale", "deployment/web", "--min=1", "--max=4", "--cpu=70%"] },
    { args: ["get", "hpa", "web", "-o", "jsonpath={.spec}"] },
    { args: ["expose", "deployment/web", "--port=80", "--target-port=http", "--name=exposed"] },
    { args: ["get", "service", "exposed", "-o", "jsonpath={.spec.selector} {.spec.ports}"] },
    {
      args: [
        "run",
        "solo",
        "--image=example.test/solo:1",
        "--dry-run=server",
        "-o",
        "jsonpath={.spec.containers} {.spec.serviceAccountName} {.status.phase}",
      ],
    },
    { args: ["run", "solo", "--image=example.test/solo:1", "--restart=Never", "--labels=run=solo"] },
    { args: ["get", "pod", "solo", "-o", "wide"] },
    { args: ["logs", "solo"] },
    { args: ["exec", "solo", "--", "true"] },
    { args: ["port-forward", "solo", "8080"] },
    { args: ["get", "all", "-l", "run=solo"] },
    // setting
    { args: ["set", "env", "deployment/web", "A=1", "B=2"] },
    { args: ["set", "env", "deployment/web", "--list"] },
    { args: ["set", "env", "deployment/web", "--from=configmap/env", "--keys=SIZE", "--prefix=X_", "B-"] },
    { args: ["set", "resources", "deployment/web", "--limits=cpu=200m,memory=64Mi", "--requests=cpu=100m"] },
    { args: ["set", "serviceaccount", "deployment/web", "robot"] },
    { args: ["set", "selector", "service/exposed", "app=other"] },
    { args: ["set", "subject", "rolebinding/reads", "--user=bob"] },
    {
      args: [
        "get",
        "deployment",
        "web",
        "-o",
        "jsonpath={.spec.template.spec.containers[0].env} {.spec.template.spec.containers[0].resources} {.spec.template.spec.serviceAccountName}",
      ],
    },
    { args: ["annotate", "deployment/web", "note=one", "other=two"] },
    { args: ["annotate", "deployment/web", "note=two"] },
    { args: ["annotate", "deployment/web", "note=two", "other-", "--overwrite"] },
    { args: ["label", "deployment/web", "tier=front", "--dry-run=server", "-o", "jsonpath={.metadata.labels}"] },
    // changing
    { args: ["apply", "view-last-applied", "configmap/filed"] },
    { args: ["edit", "configmap/filed"] },
    { args: ["get", "configmap", "filed", "-o", "jsonpath={.data}"] },
    { args: ["edit", "configmap/filed"] },
    { args: ["apply", "set-last-applied", "-f", "@/map-2.yaml"] },
    { args: ["apply", "view-last-applied", "configmap/filed", "-o", "json"] },
    { args: ["apply", "edit-last-applied", "configmap/filed"] },
    { args: ["diff", "-f", "@/map-2.yaml"], without: { lines: /^(---|\+\+\+|diff ) /, why: "names of temporary folders" } },
    { args: ["apply", "-f", "@/map-2.yaml"] },
    { args: ["replace", "-f", "@/map.yaml"] },
    { args: ["replace", "--force", "-f", "@/map.yaml"] },
    { args: ["replace", "-f", "-"], stdin: map("absent", "a: b", "c") },
    { args: ["apply", "-f", "@/pruned-1.yaml"] },
    { args: ["apply", "-f", "@/pruned-2.yaml", "--prune", "-l", "set=pruned", "--prune-allowlist=core/v1/ConfigMap"] },
    { args: ["apply", "-f", "@/pruned-1.yaml", "--server-side", "--force-conflicts"] },
    { args: ["apply", "-k", "@/"] },
    { args: ["kustomize", "@/"] },
    { args: ["patch", "deployment/web", "--subresource=scale", "--type=merge", "-p", '{"spec":{"replicas":2}}'] },
    { args: ["create", "deployment", "none", "--image=example.test/none:1", "--replicas=0"] },
    { args: ["get", "deployment", "none", "--subresource=scale"] },
    { args: ["delete", "deployment", "none"] },
    { args: ["get", "configmap", "-n", "kube-system"] },
    { args: ["get", "configmap", "-A", "--chunk-size=2", "-o", "name"] },
    { args: ["get", "lease", "-n", "kube-system"] },
    {
      args: [
        "patch",
        "pdb/budget",
        "--subresource=status",
        "--type=merge",
        "-p",
        '{"status":{"disruptedPods":{"p":"2020-01-01T00:00:00Z"}}}',
      ],
    },
    { args: ["get", "pdb", "budget", "--subresource=status", "-o", "jsonpath={.status.disruptedPods}"] },
    // nodes
    { args: ["create", "-f", "-"], stdin: `apiVersion: v1\nkind: Node\nmetadata: {name: ${own}}\n` },
    { args: ["get", "node", own] },
    { args: ["cordon", own] },
    { args: ["cordon", own] },
    { args: ["get", "node", own, "--no-headers"] },
    { args: ["uncordon", own] },
    { args: ["taint", "node", own, "a=b:NoSchedule"] },
    { args: ["taint", "node", own, "a=c:NoSchedule"] },
    { args: ["taint", "node", own, "a:NoSchedule-"] },
    { args: ["drain", own, "--dry-run=server"] },
    { args: ["drain", own, "--ignore-daemonsets"] },
    { args: ["label", "node", own, "node-role.kubernetes.io/worker="] },
    {
      args: ["describe", "node", own],
      without: {
        lines:
          /^(Events:|\s+(Type\b|----|Normal\b|Warning\b)|Annotations:|Taints:|\s+node\.kubernetes|Lease:|\s+(HolderIdentity|AcquireTime|RenewTime)|Unschedulable|Conditions:|\s+(MemoryPressure|DiskPressure|PIDPressure|Ready) )/,
        why: "the node controller notices that there are no heartbeats",
      },
    },
    { args: ["top", "nodes"] },
    // authorization
    { args: ["auth", "whoami"] },
    { args: ["auth", "whoami", "--as=alice", "--as-group=devs"] },
    { args: ["auth", "can-i", "create", "pods"] },
    { args: ["auth", "can-i", "get", "deployments.apps/web", "--as=bob"] },
    { args: ["auth", "can-i", "delete", "secrets", "--as=bob"] },
    { args: ["auth", "can-i", "get", "/healthz", "--as=outsider"] },
    { args: ["auth", "can-i", "--list", "--as=bob"], unordered: true },
    { args: ["auth", "can-i", "fly", "planes", "--as=bob"] },
    {
      args: ["auth", "reconcile", "-f", "-", "--dry-run=server"],
      stdin:
        "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: reader}\nrules: [{apiGroups: [''], resources: [secrets], verbs: [get]}]\n",
    },
    { args: ["get", "secrets", "--as=bob"] },
    { args: ["create", "configmap", "x", "--as=bob"] },
    { args: ["delete", "configmap", "filed", "--as=bob"] },
    // asking the server
    { args: ["explain", "cronjob.spec.jobTemplate.spec.template.spec.containers"], without: prose },
    { args: ["explain", "ingress.spec.rules.http"], without: prose },
    { args: ["api-versions"] },
    { args: ["api-resources", "--api-group=apps", "-o", "wide"] },
    { args: ["api-resources", "--verbs=list,deletecollection", "--namespaced", "-o", "name", "--sort-by=name"] },
    { args: ["cluster-info"] },
    {
      args: ["version", "-o", "json"],
      without: { lines: /"(git|build|goVersion|compiler|platform|emulation|minCompat)/, why: "build information" },
    },
    { args: ["get", "--raw", "/readyz"] },
    { args: ["get", "--raw", `/api/v1/namespaces/${namespace}/configmaps/filed?pretty=true`] },
    { args: ["get", "--raw", "/nowhere"] },
    { args: ["events", "--for=configmap/filed"] },
    {
      args: ["create", "-f", "-"],
      stdin: `apiVersion: v1\nkind: Event\nmetadata: {name: seen}\ninvolvedObject: {kind: ConfigMap, name: filed, namespace: ${namespace}}\nreason: Seen\nmessage: once\ntype: Normal\n`,
    },
    { args: ["events", "--for=configmap/filed"] },
    { args: ["get", "events", "--field-selector=reason=Seen", "-o", "wide"] },
    { args: ["certificate", "approve", "missing"] },
    // waiting and deleting
    { args: ["wait", "configmap/filed", "--for=create", "--timeout=1s"] },
    { args: ["wait", "deployment/web", "--for=condition=Available=False", "--timeout=10s"] },
    { args: ["wait", "configmap/filed", "--for=delete", "--timeout=1s"] },
    { args: ["wait", "configmap/absent", "--for=jsonpath={.data.a}=b", "--timeout=1s"] },
    { args: ["delete", "configmap", "absent"] },
    { args: ["delete", "configmap", "-l", "set=pruned"] },
    { args: ["delete", "hpa,pdb", "--all"], unordered: true },
    { args: ["delete", "deployment/web", "--cascade=orphan"] },
    {
      args: ["get", "replicasets", "-l", "app=web", "-o", "jsonpath={.items[*].metadata.ownerReferences}"],
      after: ["wait", "deployment/web", "--for=delete", "--timeout=10s"],
    },
    {
      args: ["delete", "replicasets", "-l", "app=web", "--cascade=foreground", "--timeout=20s"],
      without: { lines: /replicaset/, why: "names hold hashes" },
    },
    { args: ["get", "pods", "-l", "app=web"] },
    { args: ["delete", "job", "once", "--cascade=background"] },
    { args: ["delete", "pod", "solo", "--grace-period=0", "--force"] },
    { args: ["delete", "pod", "solo", "--now", "--ignore-not-found"] },
    { args: ["delete", "node", own] },
    { args: ["delete", "clusterrole,clusterrolebinding,priorityclass", own], unordered: true },
    { args: ["delete", "clusterrole", `${own}-sum`] },
    ...rareKindsAndInvalidCommands(own),
    { args: ["delete", "namespace", namespace, "--timeout=60s"] },
    { args: ["get", "namespace", namespace] },
  ];
}
