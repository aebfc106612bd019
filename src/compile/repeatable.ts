/**
 * CompiledObject objects as a client applies them that has one field manager, `kubectl apply` for one: the same the first time and every other time.
 *
 * Fields that another controller owns later are left out, since an apply that repeats them undoes what the controller did, and one that no longer has them
 * resets them to a default. Replicas under an autoscaler or a canary are left out: the autoscaler raises them to its minimum. Of a Service under a canary
 * the selector is left out, which Flagger sets; its ports are needed to create it, and are printed as Flagger writes them.
 */
import { keyText, type KubeObject } from "#kube";
import { canaryPorts } from "#mesh-compiler";
import type { CompiledObject } from "#service-compiler";

export function repeatable(compiled: readonly CompiledObject[]): readonly KubeObject[] {
  const ports = canaryPorts(compiled.map(({ object }) => object));
  return compiled.map(({ object, once }) => {
    if (once === undefined || object.kind !== "Service") return object;
    const { spec } = object as { readonly spec?: object };
    const offered = (ports.get(keyText(object.metadata)) ?? []).map(({ name, port, targetPort }) => ({ name, port, targetPort }));
    return { ...object, spec: { ...spec, ports: offered } } as KubeObject;
  });
}
