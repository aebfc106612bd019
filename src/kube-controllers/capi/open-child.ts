/** A client of a child from the text of its kubeconfig. Errors have no part of the text: it contains credentials. */
import { err, ok, type Clock, type Result } from "#base";
import { createKubeClient, httpTransport, parseKubeconfig, resolveContext, type KubeClient } from "#kube-client";

/** A port: tests reach a child in the same process. */
export type OpenChild = (kubeconfig: string, options: OpenChildOptions) => Promise<Result<KubeClient, string>>;
export type OpenChildOptions = { readonly clock: Clock; readonly random: () => number };

const MAX_LENGTH = 256 * 1024;

export const openByKubeconfig: OpenChild = async (kubeconfig, { clock, random }) => {
  const parsed = kubeconfig === "" || kubeconfig.length > MAX_LENGTH ? undefined : parseKubeconfig(kubeconfig, "data.value");
  if (parsed?.ok !== true) return err("data.value is not a kubeconfig");
  // files and commands of the kubeconfig would be those of this process
  const readFile = () => Promise.reject(new Error("a kubeconfig in a Secret cannot refer to files"));
  const runCommand = () => Promise.reject(new Error("a kubeconfig in a Secret cannot run commands"));
  const config = await resolveContext(parsed.value, { clock, env: {}, readFile, runCommand });
  if (!config.ok) return err("the kubeconfig is not usable");
  return ok(createKubeClient({ transport: httpTransport(config.value, { clock }), clock, random }));
};
