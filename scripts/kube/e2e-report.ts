/** Reads the output of Kubernetes' end-to-end suite (e2e.test): its progress while it runs, and Ginkgo's JSON report at the end. */
import { err, ok, type Result } from "#base";
import { field, fieldAt, parseJson, type Json } from "#kube";

export type FailedSpec = { readonly name: string; readonly why: string };
export type E2eReport = { readonly passed: readonly string[]; readonly failed: readonly FailedSpec[] };

/** All states of a failed spec. */
const FAILED = new Set(["failed", "panicked", "aborted", "interrupted", "timedout"]);

/** Steps around the specs (set-up, reports) are listed only when they failed. */
export function readE2eReport(text: string): Result<E2eReport, string> {
  const parsed = parseJson(text);
  if (!parsed.ok || !Array.isArray(parsed.value)) return err("the report is not a list of suites");
  const specs = parsed.value.flatMap((suite) => listOf(field(suite, "SpecReports")));
  const isSpec = (spec: Json) => field(spec, "LeafNodeType") === "It";
  return ok({
    passed: specs.filter((spec) => isSpec(spec) && field(spec, "State") === "passed").map(nameOf),
    failed: specs
      .filter((spec) => FAILED.has(textOf(field(spec, "State"))))
      .map((spec) => ({ name: nameOf(spec), why: textOf(fieldAt(spec, "Failure", "Message")) })),
  });
}

/**
 * Progress, from the output: "Will run 71 of 7579 specs", a bullet for each that has ended, and after the bullet of one that failed
 * `[FAILED] [32.876 seconds]` and its name in the next line.
 */
export class E2eProgress {
  total = 0;
  completed = 0;
  readonly failures: string[] = [];
  #rest = "";

  /** Reads the next chunk of output, which may end anywhere. */
  read(chunk: string): void {
    this.completed += [...chunk.matchAll(/\u2022/g)].length;
    const text = this.#rest + chunk;
    this.total = Number(/^Will run (\d+) of \d+ specs$/m.exec(text)?.[1] ?? this.total);
    let read = 0;
    for (const match of text.matchAll(/^[^\n]*\u2022 \[(?:FAILED|PANICKED|TIMEDOUT)\][^\n]*\n([^\n]+)\n/gm)) {
      this.failures.push((match[1] ?? "").trim());
      read = match.index + match[0].length;
    }
    // the last two lines may belong to an incomplete failure; bullets in the same line are already counted
    this.#rest = text.slice(read).split("\n").slice(-3).join("\n");
  }
}

function nameOf(spec: Json): string {
  const parts = [...listOf(field(spec, "ContainerHierarchyTexts")), field(spec, "LeafNodeText") ?? ""]
    .map(textOf)
    .filter((part) => part !== "");
  return parts.length === 0 ? textOf(field(spec, "LeafNodeType")) : parts.join(" ");
}

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

function textOf(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}
