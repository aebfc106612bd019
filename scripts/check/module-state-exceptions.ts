/** State of modules that is bounded in another way than `memoize`. An entry that is no longer needed is a finding itself. */
export type StateException = { readonly file: string; readonly name: string; readonly why: string };

export const STATE_EXCEPTIONS: readonly StateException[] = [
  { file: "src/base/sensitive.ts", name: "values", why: "holds the hidden values; weak, and not a cache" },
  {
    file: "src/kube-server/apply/fields-v1.ts",
    name: "setsByJson",
    why: "the other direction of encodeFields, and which objects are frozen; weak",
  },
  { file: "src/kube-server/apply/shared-sets.ts", name: "steps", why: "the size of the tree of shared sets, which is bounded by it" },
  { file: "src/kube-server/apply/shared-sets.ts", name: "root", why: "the tree of shared sets; bounded by MOST_STEPS" },
  { file: "src/kube-controllers/workloads/pods/pod-limit.ts", name: "limits", why: "one PodLimit per cluster; weak, and not a cache" },
];
