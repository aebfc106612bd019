/** The parts of the program and of the API server that are loaded on first use. */
import type { LaterPart } from "./later-modules.ts";

/**
 * Code that many servers never use: YAML, regular expressions of CRDs, custom resources with their rules, sockets and the disk, tables for
 * kubectl. Reading it would take half of the start. Code of ordinary requests is not in the list: access through a loading property is
 * slower.
 */
export const LATER: readonly LaterPart[] = [
  { name: "yaml", holds: /\/node_modules\/js-yaml\// },
  { name: "regex", holds: /\/node_modules\/re2js\// },
  {
    name: "custom-resources",
    holds:
      /\/src\/cel\/|\/kube-server\/(?:custom-resources\/(?:rules|validation|resource|schema|crd\/(?!definition-type))|admission-cel\/|admission\/policies\/\w+\/(?!plugin|rounds))/,
  },
  {
    name: "outside",
    holds: /\/src\/(?:kube-server\/(?:http\/|protobuf\/|store\/(?:disk\/|persistent-store))|listener\/|pki\/|kube-client\/http\/)/,
  },
  { name: "columns", holds: /\/builtin-kinds\/(?:generated\/)?columns\.ts$/ },
];
