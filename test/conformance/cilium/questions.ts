/** The peers and the traffic of each case, in the order of the recorded verdicts. */
import type { Outside, Peer, PodIdentity } from "#mesh-compiler";

export const NAMESPACES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  a: { "lattice.dev/env": "prod" },
  b: { "lattice.dev/env": "dev" },
};

function pod(namespace: string, labels: Readonly<Record<string, string>>): PodIdentity {
  return { kind: "pod", namespace, labels, namespaceLabels: NAMESPACES[namespace] ?? {}, serviceAccount: "default" };
}

function outside(address: string): Outside {
  return { kind: "outside", host: "", address };
}

export const PEERS: readonly Peer[] = [
  pod("a", { app: "x" }),
  pod("a", { app: "y", tier: "front" }),
  pod("b", { app: "x" }),
  pod("b", {}),
  pod("b", { app: "z", tier: "back" }),
  outside("10.1.2.3"),
  outside("203.0.113.9"),
  outside("2001:db8::1"),
];

const TRAFFIC = [
  { port: 80, protocol: "TCP" },
  { port: 80, protocol: "UDP" },
  { port: 443, protocol: "TCP" },
  { port: 85, protocol: "TCP" },
  { port: 8080, protocol: "TCP" },
] as const;

export type Question = { readonly from: number; readonly to: number; readonly port: number; readonly protocol: string };

/** Traffic between all pairs with at least one pod. */
export const QUESTIONS: readonly Question[] = PEERS.flatMap((sender, from) =>
  PEERS.flatMap((receiver, to) =>
    sender.kind === "outside" && receiver.kind === "outside" ? [] : TRAFFIC.map((traffic) => ({ from, to, ...traffic })),
  ),
);

export type Case = {
  readonly policies: readonly object[];
  /** Policies that the agent rejects, by `namespace/name`. */
  readonly refused: readonly string[];
  /** One digit for each question; 1 is allowed. Policies do not apply to peers outside the cluster. */
  readonly egress: string;
  readonly ingress: string;
};

export type Answers = { readonly recordedWith: string; readonly cases: readonly Case[] };
