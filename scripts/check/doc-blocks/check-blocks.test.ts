import { expect, it } from "vitest";
import { formatFinding } from "../finding.ts";
import { blockFindings } from "./check-blocks.ts";

const fence = "```";
const block = (info: string, code: string) => `${fence}${info}\n${code}\n${fence}\n`;
const service = (spec: string) => `apiVersion: lattice.dev/v1alpha1\nkind: LatticeService\nmetadata: {name: web}\nspec: ${spec}`;

const ROWS: { name: string; given: string; want: string[] }[] = [
  {
    name: "right blocks pass",
    given: [
      block("yaml", service("{containers: {main: {image: 'web:1'}}}")),
      block("yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}"),
      block("yaml", "apiVersion: score.dev/v1b1\nmetadata: {name: web}\ncontainers: {main: {image: 'web:1'}}"),
      block("sh", "KUBECONFIG=a ./lattice why cart catalog -f examples --output json # --nonsense\nnpm run check -- --anything"),
      block(
        "console",
        "$ lattice api-server --http -- go test --nonsense | head\n--nonsense is output\n$ npm test && source <(lattice completion bash)",
      ),
      block("ts continued", "x"),
      block("ts in=test/kube", "x"),
      block("text", "anything"),
    ].join("\n"),
    want: [],
  },
  {
    name: "a Lattice kind that its parser refuses is named",
    given: block("yaml", service("{containers: {main: {}}}")),
    want: ["a.md:2  code block: spec.containers[main].image: "],
  },
  {
    name: "a Score file that its parser refuses is named",
    given: block("yaml", "apiVersion: score.dev/v1b1\nmetadata: {name: web}"),
    want: ["a.md:2  code block: "],
  },
  {
    name: "an object that Kubernetes cannot have is named",
    given: block("yaml", "kind: ConfigMap\nmetadata: {}"),
    want: ["a.md:2  code block: has no apiVersion", "a.md:2  code block: has no metadata.name"],
  },
  { name: "YAML that is no object is named", given: block("yaml", "- a"), want: ["a.md:2  code block: is not an object"] },
  { name: "text that is no YAML is named", given: block("yaml", "a: [b"), want: ["a.md:2  code block: "] },
  {
    name: "commands, flags and scripts that do not exist are named with their line",
    given: block(
      "console",
      "$ lattice nonsense\nlattice rubbish\n$ lattice why a b --loudly \\\n    --quietly\n$ npm run nonsense\n$ npm nonsense",
    ),
    want: [
      'a.md:2  code block: lattice has no command "nonsense"',
      "a.md:4  code block: lattice why has no flag --loudly",
      "a.md:4  code block: lattice why has no flag --quietly",
      'a.md:6  code block: package.json has no script "nonsense"',
      'a.md:7  code block: "npm nonsense" is not a known command',
    ],
  },
  {
    name: "every line of sh is a command",
    given: block("sh", "npx lattice nonsense"),
    want: ['a.md:2  code block: lattice has no command "nonsense"'],
  },
  { name: "a command in a text block is named", given: block("text", "a\n$ b"), want: ["a.md:3  code block: shows a command"] },
  { name: "a block without a language is named", given: block("", "a"), want: ['a.md:2  code block: the language ""'] },
  { name: "an unknown mark is named", given: block("ts ignore", "a"), want: ["a.md:2  code block: has a mark that is unknown: ignore"] },
  { name: "indented code is named", given: "text\n\n    code\n\n- item\n\n    its text\n", want: ["a.md:3  code block: is indented"] },
];

it.each(ROWS)("$name", ({ given, want }) => {
  const manifest = JSON.stringify({ scripts: { check: "", test: "" } });
  const found = blockFindings(new Map([["a.md", given]]), manifest).map(formatFinding);
  expect(found.map((text, at) => text.slice(0, want[at]?.length))).toEqual(want);
});

it("only Markdown has blocks", () => {
  expect(blockFindings(new Map([["a.ts", block("yaml", "- a")]]), undefined)).toEqual([]);
});
