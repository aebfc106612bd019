/** What a world needs beside its resources: settings, and ports to what is not pure. */
import { err, sensitive } from "#base";
import type { GatewayIdentity } from "#mesh-compiler";
import type { ServiceInput, Settings } from "#service-compiler";
import type { FindObject } from "./object-access.ts";

type GatewayName = Settings["gateway"];

/** Settings, and ports to secrets and files. `worldSettings` fills in what is left out. */
export type WorldSettings = Pick<ServiceInput, "settings" | "secrets" | "readFile" | "syncedVersion"> & {
  readonly trustDomain: string;
  readonly gateway: GatewayName;
  readonly gatewayIdentity: (gateway: GatewayName) => GatewayIdentity;
  /** Objects that volumes name, as far as they are known. */
  readonly findObject: FindObject;
};

/** Offline there is no key of the cluster's, and nothing to guess it from either. */
const OFFLINE_KEY = "lattice-offline";

/**
 * The defaults: `cluster.local`, no ingress domain, gateway `istio-ingress/gateway`.
 *
 * @example const settings = { ...DEFAULT_SETTINGS, ingressDomain: "apps.example.com" };
 */
export const DEFAULT_SETTINGS: Settings = {
  clusterDomain: "cluster.local",
  trustDomain: "cluster.local",
  ingressDomain: undefined,
  gateway: { namespace: "istio-ingress", name: "gateway" },
  cluster: {},
  hashKey: sensitive(OFFLINE_KEY),
};

/** Istio gives a gateway's pods an account that is named after the gateway and its class. */
function istioGateway({ namespace, name }: GatewayName): GatewayIdentity {
  return { namespace, name, serviceAccount: `${name}-istio` };
}

/**
 * Settings of a world without secrets and files; give what there is.
 *
 * @example const world = new World(worldSettings({ ingressDomain: "apps.example.com" }));
 */
export function worldSettings(
  settings: Partial<Settings> = {},
  ports: Partial<Pick<WorldSettings, "secrets" | "readFile" | "syncedVersion" | "findObject">> = {},
): WorldSettings {
  const all = { ...DEFAULT_SETTINGS, ...settings };
  return {
    settings: all,
    trustDomain: all.trustDomain,
    gateway: all.gateway,
    gatewayIdentity: istioGateway,
    secrets: (_, path) => err(`there is no secret '${path}'`),
    readFile: (path) => err(`${path} cannot be read here: only the command line has files`),
    syncedVersion: () => undefined,
    findObject: () => undefined,
    ...ports,
  };
}
