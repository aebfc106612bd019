/**
 * Waits until an object is as a test wants it, without polling: the store tells of every change.
 *
 * The time limit is real time, whatever the cluster's clock says: it ends a test that waits for nothing, and a fake clock would never get there.
 */
import { err, ok, systemClock, type Result } from "#base";
import { keyText, type KubeObject, type ObjectKey, type Resource } from "#kube";
import type { ApiServer } from "#kube-server";

export type Wanted<T extends KubeObject> = {
  readonly resource: Resource<T>;
  readonly key: ObjectKey;
  /** `undefined`: it is not there. */
  readonly until: (object: T | undefined) => boolean;
  readonly timeoutMs: number;
};

export function waitFor<T extends KubeObject>({ store, types }: ApiServer, wanted: Wanted<T>): Promise<Result<T | undefined, string>> {
  const { resource, key, until, timeoutMs } = wanted;
  const type = types.find(resource.group, resource.version, resource.plural);
  const what = `${resource.kind} ${keyText(key)}`;
  if (type === undefined) return Promise.resolve(err(`the server has no ${resource.plural} in ${resource.group}/${resource.version}`));
  const look = () => {
    const stored = store.get(type.collection, keyText(key));
    return stored === undefined ? undefined : (structuredClone(type.fromStorage(stored.object)) as T);
  };
  return new Promise((resolve) => {
    const first = look();
    if (until(first)) return resolve(ok(first));
    const finish = (result: Result<T | undefined, string>) => {
      cancel();
      if (watching.ok) watching.value.end();
      resolve(result);
    };
    const watching = store.watch({
      collection: type.collection,
      from: store.revision,
      onEvent: ({ key: changed }) => {
        if (changed !== keyText(key)) return;
        const now = look();
        if (until(now)) finish(ok(now));
      },
    });
    const cancel = systemClock.after(timeoutMs, () => {
      const now = look();
      finish(
        err(
          `${what} did not become what was waited for within ${timeoutMs} ms; it is ${now === undefined ? "not there" : JSON.stringify(now)}`,
        ),
      );
    });
  });
}
