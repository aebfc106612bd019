/** Simulates a cloud's load balancers: Services of type LoadBalancer get an address from 192.0.2.0/24, which is reserved for documentation. */
import { keyText, parseKey, services as serviceResource, type Service } from "#kube";
import type { KubeController, KubeControllerContext } from "../context.ts";
import { done, passOf, type Pass } from "../work.ts";

export const loadBalancers: KubeController = {
  name: "service-lb-controller",
  start(context) {
    /** By Service: assigned here, and perhaps not in the cache yet. */
    const given = new Map<string, string>();
    const queue = context.work({ name: "load-balancers", pass: (key) => pass(context, given, key), concurrency: 1 });
    context.informers.subscribe(serviceResource, ({ key, after }) => {
      if (after === undefined) given.delete(keyText(key));
      queue.add(keyText(key));
    });
  },
};

/** A Service with a load balancer class belongs to the controller of that class. */
function isOurs({ spec, metadata }: Service): boolean {
  return spec?.type === "LoadBalancer" && spec.loadBalancerClass === undefined && metadata.deletionTimestamp === undefined;
}

async function pass(context: KubeControllerContext, given: Map<string, string>, key: string): Promise<Pass> {
  const { client, informers, record } = context;
  const services = informers.of(serviceResource);
  const service = services.get(parseKey(key));
  if (service === undefined) return done;
  const known = service.status?.loadBalancer?.ingress ?? [];
  if (isOurs(service) === known.length > 0) return done;
  if (!isOurs(service)) {
    given.delete(key);
    if (service.spec?.type === "LoadBalancer") return done;
    return passOf(
      await client.update(serviceResource, { ...service, status: { ...service.status, loadBalancer: {} } }, { subresource: "status" }),
    );
  }
  const ip = service.spec?.loadBalancerIP ?? given.get(key) ?? freeAddress(services.list(), given);
  given.set(key, ip);
  record({ regarding: service, type: "Normal", reason: "EnsuringLoadBalancer", note: "Ensuring load balancer" });
  const status = { ...service.status, loadBalancer: { ingress: [{ ip, ipMode: "VIP" }] } };
  const written = await client.update(serviceResource, { ...service, status }, { subresource: "status" });
  if (written.ok) record({ regarding: service, type: "Normal", reason: "EnsuredLoadBalancer", note: "Ensured load balancer" });
  return passOf(written);
}

function freeAddress(services: readonly Service[], given: ReadonlyMap<string, string>): string {
  const known = services.flatMap(({ status }) => (status?.loadBalancer?.ingress ?? []).flatMap(({ ip }) => ip ?? []));
  const taken = new Set([...known, ...given.values()]);
  const free = Array.from({ length: 254 }, (_, index) => `192.0.2.${index + 1}`).find((address) => !taken.has(address));
  return free ?? "192.0.2.254";
}
