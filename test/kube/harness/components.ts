/**
 * The command lines of the three components of a control plane, and the paths of their files. Pure: nothing is started here.
 *
 * There is no scheduler and no kubelet: Pods stay Pending, and everything else behaves as on any cluster.
 */
import { join } from "node:path";
import type { Program } from "./process-group.ts";

export const COMPONENTS = ["etcd", "kube-apiserver", "kube-controller-manager"] as const;
export type Component = (typeof COMPONENTS)[number];

export type Ports = { readonly etcd: number; readonly etcdPeer: number; readonly apiServer: number; readonly controllerManager: number };

export type Place = { readonly binaries: string; readonly folder: string; readonly logs: string; readonly ports: Ports };

export function filesIn(folder: string) {
  return {
    ca: join(folder, "ca.crt"),
    caKey: join(folder, "ca.key"),
    serving: join(folder, "serving.crt"),
    servingKey: join(folder, "serving.key"),
    serviceAccounts: join(folder, "service-accounts.pub"),
    serviceAccountsKey: join(folder, "service-accounts.key"),
    tokens: join(folder, "tokens.csv"),
    kubeconfig: join(folder, "kubeconfig"),
    managerKubeconfig: join(folder, "controller-manager.kubeconfig"),
    kubectlCache: join(folder, "kubectl-cache"),
    etcdData: join(folder, "etcd"),
  };
}

export function logFile(logs: string, component: Component): string {
  return join(logs, `${component}.log`);
}

export function urlOf(ports: Ports): string {
  return `https://127.0.0.1:${ports.apiServer}`;
}

export function etcdHealthUrl(ports: Ports): string {
  return `http://127.0.0.1:${ports.etcd}/health`;
}

export function etcd(place: Place): Program {
  const client = `http://127.0.0.1:${place.ports.etcd}`;
  const peer = `http://127.0.0.1:${place.ports.etcdPeer}`;
  return program(place, "etcd", {
    name: "default",
    "data-dir": filesIn(place.folder).etcdData,
    "listen-client-urls": client,
    "advertise-client-urls": client,
    "listen-peer-urls": peer,
    "initial-advertise-peer-urls": peer,
    "initial-cluster": `default=${peer}`,
    // the data is not needed after the test, and fsync would make stories slower
    "unsafe-no-fsync": "true",
    "log-level": "warn",
  });
}

export function apiServer(place: Place): Program {
  const files = filesIn(place.folder);
  return program(place, "kube-apiserver", {
    "etcd-servers": `http://127.0.0.1:${place.ports.etcd}`,
    "bind-address": "127.0.0.1",
    "secure-port": String(place.ports.apiServer),
    "advertise-address": "127.0.0.1",
    // a loopback address is not a valid endpoint, and the default reconciler would try to write one
    "endpoint-reconciler-type": "none",
    "service-cluster-ip-range": "10.0.0.0/24",
    "authorization-mode": "RBAC",
    "client-ca-file": files.ca,
    "token-auth-file": files.tokens,
    "tls-cert-file": files.serving,
    "tls-private-key-file": files.servingKey,
    "service-account-issuer": "https://kubernetes.default.svc.cluster.local",
    "service-account-key-file": files.serviceAccounts,
    "service-account-signing-key-file": files.serviceAccountsKey,
    "allow-privileged": "true",
    profiling: "false",
    "shutdown-delay-duration": "0s",
  });
}

export function controllerManager(place: Place): Program {
  const files = filesIn(place.folder);
  return program(place, "kube-controller-manager", {
    kubeconfig: files.managerKubeconfig,
    "authentication-kubeconfig": files.managerKubeconfig,
    "authorization-kubeconfig": files.managerKubeconfig,
    "bind-address": "127.0.0.1",
    "secure-port": String(place.ports.controllerManager),
    "tls-cert-file": files.serving,
    "tls-private-key-file": files.servingKey,
    "service-account-private-key-file": files.serviceAccountsKey,
    "root-ca-file": files.ca,
    "use-service-account-credentials": "true",
    "cluster-signing-cert-file": files.ca,
    "cluster-signing-key-file": files.caKey,
    "leader-elect": "false",
    profiling: "false",
  });
}

function program(place: Place, name: Component, flags: Readonly<Record<string, string>>): Program {
  const args = Object.entries(flags).map(([flag, value]) => `--${flag}=${value}`);
  return { name, path: join(place.binaries, name), args, log: logFile(place.logs, name) };
}
