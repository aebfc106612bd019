/** A client over HTTP from the text of a kubeconfig, as another process would use it. */
import { expectOk, seededRandom, systemClock } from "#base";
import {
  createKubeClient,
  httpTransport,
  parseKubeconfig,
  resolveContext,
  type KubeClient,
  type KubeClientOptions,
  type Transport,
} from "#kube-client";

/** `wrap`: observes or changes what is sent. */
export async function clientOf(
  kubeconfig: string,
  wrap = (transport: Transport): Transport => transport,
  options: Pick<KubeClientOptions, "retry"> = {},
): Promise<KubeClient> {
  const parsed = expectOk(parseKubeconfig(kubeconfig, "kubeconfig"));
  const unused = () => Promise.reject(new Error("the kubeconfig names no file and no command"));
  const resolving = { clock: systemClock, env: {}, readFile: unused, runCommand: unused };
  const config = expectOk(await resolveContext(parsed, resolving as never));
  const transport = wrap(httpTransport(config, { clock: systemClock }));
  return createKubeClient({ ...options, transport, clock: systemClock, random: seededRandom(1) });
}
