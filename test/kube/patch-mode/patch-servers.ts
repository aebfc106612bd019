/** The API servers on which the stories of patch mode run: the real plane, and an embedded cluster with the same controllers. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expectOk, sensitive } from "#base";
import { startEmbeddedCluster } from "#embedded-cluster";
import { parseYaml } from "#kube";
import { send, type HttpRequest, type HttpResponse } from "../harness/http.ts";
import { sharedPlane, uniqueName, type PlaneAccess } from "../harness/index.ts";

export type PatchServer = {
  readonly name: "real" | "embedded";
  /** The path of an administrator's kubeconfig. */
  readonly kubeconfig: string;
  /** https://127.0.0.1:PORT */
  readonly url: string;
  readonly caPem: string;
  request(request: HttpRequest): Promise<HttpResponse>;
  makeNamespace(prefix: string): Promise<string>;
  close(): Promise<void>;
};

/** `plane`: by default the one that all stories share. */
export function realServer(plane: PlaneAccess = sharedPlane()): PatchServer {
  return {
    name: "real",
    kubeconfig: plane.kubeconfigPath,
    url: plane.url,
    caPem: plane.caPem,
    request: (request) => plane.request(request),
    makeNamespace: (prefix) => plane.makeNamespace(prefix),
    close: () => Promise.resolve(),
  };
}

/** Without scheduler and kubelets, as the real plane. */
export async function embeddedServer(): Promise<PatchServer> {
  const folder = mkdtempSync(join(tmpdir(), "lattice-patch-mode-"));
  const cluster = await startEmbeddedCluster({ controllers: { simulation: false }, logActions: false });
  const kubeconfig = join(folder, "kubeconfig");
  await cluster.writeKubeconfig(kubeconfig);
  const { url, certificateAuthority: caPem = "" } = await cluster.listen();
  const token = sensitive(tokenIn(await cluster.kubeconfig()));
  const request = (asked: HttpRequest) => send({ url, caPem, token }, asked);
  return {
    name: "embedded",
    kubeconfig,
    url,
    caPem,
    request,
    async makeNamespace(prefix) {
      const name = uniqueName(prefix);
      const made = await request({ method: "POST", path: "/api/v1/namespaces", body: { metadata: { name } } });
      if (made.code !== 201) throw new Error(`namespace ${name}: ${made.text}`);
      return name;
    },
    async close() {
      await cluster.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function tokenIn(kubeconfig: string): string {
  const [config] = expectOk(parseYaml(kubeconfig)) as readonly { users: readonly { user: { token: string } }[] }[];
  return config?.users[0]?.user.token ?? "";
}
