/** Random policies, and the recorded verdicts of Cilium's own code: CiliumPolicies computes the same. cilium/README.md explains the recording. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { KubeObject } from "#kube";
import { CiliumPolicies } from "#mesh-compiler";
import { PEERS, QUESTIONS, type Answers, type Case } from "./cilium/questions.ts";

const answers = JSON.parse(readFileSync(new URL("cilium/answers.json", import.meta.url), "utf8")) as Answers;

function disagreements({ policies, egress, ingress }: Case): readonly string[] {
  const reader = new CiliumPolicies(policies as readonly KubeObject[]);
  return QUESTIONS.flatMap(({ from, to, port, protocol }, at) => {
    const [sender, receiver] = [PEERS[from], PEERS[to]];
    if (sender === undefined || receiver === undefined) return [];
    const sent = sender.kind !== "pod" || reader.allows("egress", sender, receiver, { port, protocol }).allowed === (egress[at] === "1");
    const taken =
      receiver.kind !== "pod" || reader.allows("ingress", receiver, sender, { port, protocol }).allowed === (ingress[at] === "1");
    return [
      ...(sent ? [] : [`egress ${from} > ${to} ${protocol}/${port}`]),
      ...(taken ? [] : [`ingress ${from} > ${to} ${protocol}/${port}`]),
    ];
  });
}

test.each(answers.cases.map((given, at) => ({ name: `case ${at}`, given })))("$name", ({ given }) => {
  expect([given.egress.length, given.ingress.length]).toEqual([QUESTIONS.length, QUESTIONS.length]);
  expect(disagreements(given)).toEqual([]);
});

test("the cases include allowed and denied traffic, and rejected policies", () => {
  const all = answers.cases.map(({ egress, ingress }) => egress + ingress).join("");
  expect(answers.cases.length).toBeGreaterThanOrEqual(60);
  expect([...all].filter((digit) => digit === "0").length / all.length).toBeGreaterThan(0.1);
  expect(answers.cases.filter(({ refused }) => refused.length > 0).length).toBeGreaterThan(10);
});
