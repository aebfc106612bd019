/** Which specs of Kubernetes' end-to-end suite run on the embedded server, and why the others do not. */

export type E2eSuite = {
  readonly name: string;
  /** A regular expression over the names of specs, as Ginkgo has them. */
  readonly focus: string;
  readonly skips: readonly { readonly pattern: string; readonly why: string }[];
  /** A spec that only waits for minutes runs in parallel with the others. */
  readonly beside?: string;
};

const container = "needs a running container";

export const API_MACHINERY: E2eSuite = {
  name: "conformance of API machinery",
  focus: String.raw`\[sig-api-machinery\].*\[Conformance\]`,
  skips: [
    { pattern: "Aggregator", why: container },
    { pattern: "AdmissionWebhook", why: container },
    { pattern: "CustomResourceConversionWebhook", why: container },
    { pattern: "CustomResourceFieldSelectors", why: `${container}: its conversion webhook` },
    { pattern: "compacted away", why: "waits for etcd to compact its history" },
  ],
  beside: "should apply changes to a resourcequota status", // until the controller recalculates all quotas: 5 minutes
};
