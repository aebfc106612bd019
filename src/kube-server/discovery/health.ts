/** /healthz, /livez, /readyz and their individual checks. Only the store is really checked. */
import { textResponse, type ApiRequest, type ApiResponse } from "../protocol/request.ts";
import type { Store } from "../store/index.ts";

type Check = { readonly name: string; readonly healthy: (store: Store) => boolean };

const always = () => true;
const CHECKS: readonly Check[] = [
  { name: "ping", healthy: always },
  { name: "log", healthy: always },
  { name: "etcd", healthy: (store) => store.revision > 0 },
];
const READY: readonly Check[] = [...CHECKS, { name: "informer-sync", healthy: always }, { name: "shutdown", healthy: always }];
const ENDPOINTS: ReadonlyMap<string, readonly Check[]> = new Map([
  ["healthz", CHECKS],
  ["livez", CHECKS],
  ["readyz", READY],
]);

/** For the list of all paths. */
export const HEALTH_PATHS: readonly string[] = [...ENDPOINTS].flatMap(([endpoint, checks]) => [
  `/${endpoint}`,
  ...checks.map(({ name }) => `/${endpoint}/${name}`),
]);

export function answerHealth(request: ApiRequest, store: Store): ApiResponse | undefined {
  const [, endpoint = "", ...below] = request.path.split("/");
  const checks = ENDPOINTS.get(endpoint);
  if (checks === undefined) return undefined;
  const name = below.join("/");
  if (below.length > 0) {
    const check = checks.find((one) => one.name === name);
    return check === undefined ? textResponse(404, "404 page not found\n") : healthResponse(endpoint, [check], store, false);
  }
  const excluded = new Set(request.query.getAll("exclude"));
  const wanted = checks.filter((check) => !excluded.has(check.name));
  return healthResponse(endpoint, wanted, store, request.query.get("verbose") !== null);
}

function healthResponse(endpoint: string, checks: readonly Check[], store: Store, verbose: boolean): ApiResponse {
  const healthy = checks.every((check) => check.healthy(store));
  if (healthy && !verbose) return textResponse(200, "ok");
  const lines = checks.map((check) => (check.healthy(store) ? `[+]${check.name} ok\n` : `[-]${check.name} failed: reason withheld\n`));
  return textResponse(healthy ? 200 : 500, `${lines.join("")}${endpoint} check ${healthy ? "passed" : "failed"}\n`);
}
