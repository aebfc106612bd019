/**
 * CompiledObjects in the form that a client with one field manager applies, such as `kubectl apply`: the same on every apply.
 *
 * Fields that another controller owns later are omitted, since an apply with them reverts the controller, and an apply that no longer has them
 * resets them to a default. Replicas under an autoscaler or a canary are omitted: the autoscaler raises them to its minimum. Of a Service under a canary
 * the selector is omitted, which Flagger sets; its ports are required on creation, and are printed as Flagger writes them.
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
