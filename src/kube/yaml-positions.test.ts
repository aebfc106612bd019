/** Field paths of errors, resolved to positions in YAML texts. */
import { describe, expect, test } from "vitest";
import { expectOk } from "#base";
import { findField } from "./field-path.ts";
import { parseYaml } from "./yaml.ts";
import { yamlPositions } from "./yaml-positions.ts";

const TEXT = `# a comment
---
---
spec:
  containers:
    main:
      image: "a:1"
      variables: { A: b, "C.D": 'e' }
      files:
        /etc/a.b:
          mode: "0600"
    "side[1]": {image: x}
  list:
  - one
  - two: 2
    "three": |
      text
  "": empty
---
~
---
{"a": {"b": [1, {"c": 2}]}}
`;

function at(document: number, path: string) {
  const value = expectOk(parseYaml(TEXT))[document - 1] ?? null;
  const position = yamlPositions(TEXT)(document, findField(value, path).steps);
  return position === undefined ? undefined : `${position.line}:${position.column}`;
}

describe("the position of a field", () => {
  const rows: readonly { path: string; want: string; document?: number }[] = [
    { path: "", want: "4:1" },
    { path: "spec", want: "4:1" },
    { path: "spec.containers[main].image", want: "7:7" },
    { path: "spec.containers.main.variables.A", want: "8:20" },
    { path: "spec.containers.main.variables.C.D", want: "8:26" },
    { path: 'spec.containers.main.files["/etc/a.b"].mode', want: "11:11" },
    { path: "spec.containers[main].files[/etc/a.b].mode", want: "11:11" },
    { path: "spec.containers[side[1]].image", want: "12:17" },
    { path: "spec.list[0]", want: "14:5" },
    { path: "spec.list[1].three", want: "16:5" },
    { path: "a.b[1].c", want: "22:18", document: 2 },
  ];
  test.each(rows)("$path", ({ path, want, document = 1 }) => expect(at(document, path)).toBe(want));

  test("a missing field has the position of its parent", () => {
    expect(at(1, "spec.containers.main.command[3]")).toBe("6:5");
    expect(at(1, "spec.list[7]")).toBe("13:3");
    expect(at(1, "nowhere")).toBe("4:1");
    expect(at(3, "a")).toBeUndefined();
  });
  test("an item of a list is found by its target", () => {
    const value = { files: [{ target: "/a", content: "x" }, "no", { target: "/b" }] };
    expect(findField(value, 'files["/b"].mode')).toEqual({ steps: ["files", 2], complete: false });
    expect(findField(value, 'files["/c"]')).toEqual({ steps: ["files"], complete: false });
    expect(findField(value, "files[0].content")).toEqual({ steps: ["files", 0, "content"], complete: true });
  });
  test("positions are those of the file where lines are indented too little", () => {
    const text = 'a:\n    b: "x\n  y"\n    c: [1,\n2]\n    d: 4\n';
    expect(expectOk(parseYaml(text))).toEqual([{ a: { b: "x y", c: [1, 2], d: 4 } }]);
    const positions = yamlPositions(text);
    expect([positions(1, ["a", "d"]), positions(1, ["a", "c", 1])]).toEqual([
      { line: 6, column: 5 },
      { line: 5, column: 1 },
    ]);
  });
  test("invalid YAML has no positions", () => expect(yamlPositions("a: [")(1, [])).toBeUndefined());
});

test("every field of a document has the position of a line that contains its name", () => {
  const positions = yamlPositions(TEXT);
  const lines = TEXT.split("\n");
  const visit = (value: unknown, steps: readonly (string | number)[]): void => {
    if (typeof value !== "object" || value === null) return;
    for (const [key, inner] of Object.entries(value)) {
      const next = [...steps, Array.isArray(value) ? Number(key) : key];
      const { line, column } = positions(1, next) ?? { line: 0, column: 0 };
      const written = lines[line - 1]
        ?.slice(column - 1)
        .replace(/^["']/, "")
        .slice(0, key.length);
      if (!Array.isArray(value)) expect(written).toBe(key);
      visit(inner, next);
    }
  };
  visit(expectOk(parseYaml(TEXT))[0], []);
});
