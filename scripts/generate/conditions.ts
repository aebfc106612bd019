/** docs/conditions.md: every reason that Lattice writes into a condition, with when it surfaces, from the constants in the code. */
import { RUNTIME_REASONS } from "#controller-runtime";
import {
  ACCEPTANCE_REASONS,
  CLUSTER_REASONS,
  DETACH_REASONS,
  ENVIRONMENT_REASONS,
  EXTERNAL_SERVICE_REASONS,
  SERVICE_REASONS,
} from "#controllers";

const SECTIONS = [
  { title: "From any controller", text: "In the condition `Ready`, unless the controller states its own.", reasons: RUNTIME_REASONS },
  {
    title: "From the acceptance controllers",
    text: "In `Accepted` and `Implemented`, on every Lattice resource.",
    reasons: ACCEPTANCE_REASONS,
  },
  {
    title: "On a LatticeCluster",
    text: "Each row begins with the conditions that have the reason.",
    reasons: CLUSTER_REASONS,
  },
  {
    title: "On a LatticeService",
    text: "Each row begins with the condition that has the reason.",
    reasons: SERVICE_REASONS,
  },
  {
    title: "On a Deployment that a LatticeService patched",
    text: "In events.",
    reasons: DETACH_REASONS,
  },
  {
    title: "On a LatticeExternalService",
    text: "Each row begins with the condition that has the reason.",
    reasons: EXTERNAL_SERVICE_REASONS,
  },
  {
    title: "On a LatticeEnvironment",
    text: "Each row begins with the condition that has the reason.",
    reasons: ENVIRONMENT_REASONS,
  },
];

export function generateConditionFiles(): ReadonlyMap<string, string> {
  const sections = SECTIONS.map(({ title, text, reasons }) => {
    const rows = Object.entries(reasons).map(([reason, surfaces]) => `| \`${reason}\` | ${surfaces} |`);
    return [`## ${title}`, "", text, "", "| reason | surfaces when |", "|---|---|", ...rows, ""].join("\n");
  });
  const head = [
    "# Conditions and their reasons",
    "",
    "<!-- written by npm run generate; do not edit -->",
    "",
    "Every Lattice resource has `status.conditions`. `kubectl describe` shows them with their messages; `kubectl wait",
    "--for=condition=Ready` waits for one.",
    "",
    "",
  ].join("\n");
  return new Map([["docs/conditions.md", head + sections.join("\n")]]);
}
