/**
 * Waits until an object meets a condition, without polling: it watches the store.
 *
 * The time limit is real time: it ends a test that waits in vain, and a fake clock would never reach it.
 */
import { err, ok, systemClock, type Result } from "#base";
import { keyText, type KubeObject, type ObjectKey, type Resource } from "#kube";
import { copyJson, type ApiServer } from "#kube-server";

export type WaitCondition<T extends KubeObject> = {
  readonly resource: Resource<T>;
  readonly key: ObjectKey;
  /** `undefined`: the object does not exist. */
  readonly until: (object: T | undefined) => boolean;
  readonly timeoutMs: number;
};

export function waitFor<T extends KubeObject>(
  { store, types }: ApiServer,
  wanted: WaitCondition<T>,
): Promise<Result<T | undefined, string>> {
  const { resource, key, until, timeoutMs } = wanted;
  const type = types.find(resource.group, resource.version, resource.plural);
  const what = `${resource.kind} ${keyText(key)}`;
  if (type === undefined) return Promise.resolve(err(`the server has no ${resource.plural} in ${resource.group}/${resource.version}`));
  const read = () => {
    const stored = store.get(type.collection, keyText(key));
    return stored === undefined ? undefined : (copyJson(type.fromStorage(stored.object)) as unknown as T);
  };
  return new Promise((resolve) => {
    const first = read();
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
        const now = read();
        if (until(now)) finish(ok(now));
      },
    });
    const cancel = systemClock.after(timeoutMs, () => {
      const now = read();
      finish(
        err(
          `${what} did not meet the condition within ${timeoutMs} ms; it ${now === undefined ? "does not exist" : `is ${JSON.stringify(now)}`}`,
        ),
      );
    });
  });
}
