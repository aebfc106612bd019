/** Looks up a ServiceAccount, and waits a short time for one that does not exist yet. */
import type { Later } from "#base";
import { keyText, type KubeObject } from "#kube";
import type { AdmissionContext } from "../../protocol/admission-port.ts";

const ACCOUNTS = "/serviceaccounts";
/** A real server tries ten times, with 0.1 to 0.2 seconds in between. */
const WAITS = 9;
const SHORTEST_MS = 100;

type Wanted = { readonly namespace: string; readonly name: string; readonly patient: boolean };

export function findAccount(context: AdmissionContext, { namespace, name, patient }: Wanted): Later<KubeObject | undefined> {
  const key = keyText({ namespace, name });
  const found = context.store.get(ACCOUNTS, key)?.object;
  return found !== undefined || !patient ? found : appears(context, key);
}

function appears({ store, clock, random, closing }: AdmissionContext, key: string): Promise<KubeObject | undefined> {
  return new Promise((resolve) => {
    const settle = (account: KubeObject | undefined): void => {
      if (watching.ok) watching.value.end();
      cancel();
      closing.removeEventListener("abort", giveUp);
      resolve(account);
    };
    const giveUp = (): void => settle(undefined);
    const watching = store.watch({
      collection: ACCOUNTS,
      from: store.revision,
      onEvent: (event) => {
        if (event.key === key && event.type !== "DELETED") settle(event.object);
      },
    });
    const cancel = clock.after(WAITS * (SHORTEST_MS + random() * SHORTEST_MS), giveUp);
    closing.addEventListener("abort", giveUp, { once: true });
  });
}
