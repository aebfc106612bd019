/**
 * The hooks of all configurations of one kind, ordered by the name of their configuration. The list follows the store, so a configuration
 * applies to the next request after it was written. Without configurations it is an empty array.
 */
import type { KubeObject } from "#kube";
import type { AdmissionContext } from "../../protocol/admission-port.ts";
import { hooksOf, type Hook } from "./hook.ts";

export type HookList = () => readonly Hook[];

type Known = { readonly object: KubeObject; readonly hooks: readonly Hook[] };

export function followHooks({ store, closing }: Pick<AdmissionContext, "store" | "closing">, collection: string): HookList {
  const known = new Map<string, Known>();
  let hooks: readonly Hook[] | undefined;
  const read = (): readonly Hook[] => {
    const listed = store.list(collection);
    const configurations = listed.ok ? listed.value.items : [];
    for (const name of known.keys()) if (!configurations.some(({ key }) => key === name)) known.delete(name);
    for (const { key, object } of configurations) if (known.get(key)?.object !== object) known.set(key, { object, hooks: hooksOf(object) });
    return configurations.flatMap(({ key }) => known.get(key)?.hooks ?? []);
  };
  const watching = store.watch({
    collection,
    from: store.revision,
    onEvent: () => {
      hooks = undefined;
    },
  });
  if (watching.ok) closing.addEventListener("abort", () => watching.value.end(), { once: true });
  return () => (hooks ??= read());
}
