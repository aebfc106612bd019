/** Runs the recorder (README.md) for the policies in answers.json, and writes its verdicts. */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { NAMESPACES, PEERS, QUESTIONS, type Answers } from "./questions.ts";

const [recorder = "/tmp/recorder", version = "?"] = process.argv.slice(2);
const file = new URL("answers.json", import.meta.url);
const { cases } = JSON.parse(readFileSync(file, "utf8")) as Answers;

type Verdict = { readonly egress: boolean; readonly ingress: boolean };
type Recorded = { readonly refused: Readonly<Record<string, string>>; readonly verdicts: readonly Verdict[] };

const pods = PEERS.map((peer) => (peer.kind === "pod" ? peer : { address: peer.address }));
const worlds = cases.map(({ policies }) => ({ namespaces: NAMESPACES, pods, policies, queries: QUESTIONS }));
const output = execFileSync(recorder, { input: JSON.stringify(worlds), maxBuffer: 2 ** 30, encoding: "utf8" });
const recorded = JSON.parse(output) as readonly Recorded[];

const digits = (verdicts: readonly Verdict[], side: keyof Verdict) => verdicts.map((verdict) => (verdict[side] ? "1" : "0")).join("");
const lines = recorded.map(({ refused, verdicts }, at) =>
  JSON.stringify({
    policies: cases[at]?.policies ?? [],
    refused: Object.keys(refused).toSorted(),
    egress: digits(verdicts, "egress"),
    ingress: digits(verdicts, "ingress"),
  }),
);
writeFileSync(file, `{"recordedWith":"cilium ${version}","cases":[\n${lines.join(",\n")}\n]}\n`);
