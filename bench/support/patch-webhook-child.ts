/**
 * A webhook of the bench `admission-patch` in a process of its own: the admission server of the operator, with the patches of all services, or with
 * a review that allows everything and changes nothing.
 */
import { expectOk, MetricsRegistry, silentLogger, systemClock } from "#base";
import { PatchIndex, reviewDeployments, startAdmissionServer, type ReviewDeployment } from "#http";
import type { ConfigMap } from "#kube";
import { certificateFor } from "#kube-server";
import { formatWorkloadPatch, WORKLOAD_PATCH_KEY, workloadPatchName } from "#workload-patch";
import { PATCHED, patchOf, targetOf } from "./patch-objects.ts";

export type PatchWebhookRequest = { readonly kind: "start"; readonly review: "patching" | "idle" } | { readonly kind: "count" };
export type PatchWebhookReply =
  | { readonly kind: "serving"; readonly port: number; /** PEM. */ readonly authority: string }
  | { readonly kind: "counted"; readonly reviews: number; readonly patched: number };

const counted = { reviews: 0, patched: 0 };

process.on("message", (request: PatchWebhookRequest) => {
  if (request.kind === "count") process.send?.({ kind: "counted", ...counted } satisfies PatchWebhookReply);
  else void serve(request.review === "patching" ? patching() : () => ({ patch: [], warnings: [] }));
});
process.on("disconnect", () => process.exit(0));

async function serve(decide: ReviewDeployment): Promise<void> {
  const { authority, server } = expectOk(certificateFor("127.0.0.1", systemClock));
  const review: ReviewDeployment = (reviewed) => {
    const answer = decide(reviewed);
    counted.reviews += 1;
    if (answer !== undefined && answer.patch.length > 0) counted.patched += 1;
    return answer;
  };
  const common = { clock: systemClock, logger: silentLogger, metrics: new MetricsRegistry() };
  const tls = { certificate: server.certificate, key: server.key };
  const { port } = expectOk(await startAdmissionServer({ host: "127.0.0.1", port: 0, tls, review, ...common }));
  process.send?.({ kind: "serving", port, authority } satisfies PatchWebhookReply);
}

function patching(): ReviewDeployment {
  const index = new PatchIndex({ home: "lattice-system", logger: silentLogger });
  for (let at = 0; at < PATCHED; at += 1) {
    const target = targetOf(at);
    const data = { [WORKLOAD_PATCH_KEY]: formatWorkloadPatch(patchOf(target)) };
    const map: ConfigMap = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: workloadPatchName(target) }, data };
    index.put(map);
  }
  return reviewDeployments({ find: (namespace, name) => index.find(namespace, name), clock: systemClock });
}
