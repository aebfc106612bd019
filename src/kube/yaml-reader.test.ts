import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ok } from "#base";
import { dumpYaml, parseAnyYaml } from "./yaml.ts";
import { readPlainYaml } from "./yaml-reader.ts";

const SAMPLE = `---
# a workload
apiVersion: score.dev/v1b1
metadata:
  name: web-1

  annotations: {}
service:
  ports:
    web: { port: 80, targetPort: 8080 }
containers:
  main:
    image: images.example/web:1.0.0
    command: ["/bin/app", '--x', sh]
    args: []
    variables:
      HOST: "\${resources.dns.host}"
      MIX: 'name=\${metadata.name};n=2'
      TEXT: two parts, and (three)
    files:
      /etc/app/config.yaml:
        mode: "0644"
        content: |
          name: \${metadata.name}

            # more: here
          last
    volumes:
      /data:
        source: \${resources.data}
    resources:
      limits: { cpu: 500m, memory: 512Mi }
nothing:
flag: true
lists:
- a
- b: 1
  c:
    - d
    - 2
-  e: x
   f: |
     text
- [1, 2]
`;

describe("readPlainYaml", () => {
  it("returns the same values as js-yaml for common files", () => {
    expect(ok([readPlainYaml(SAMPLE)])).toEqual(parseAnyYaml(SAMPLE));
    expect(readPlainYaml(SAMPLE)).toMatchObject({ nothing: null, flag: true, lists: ["a", { b: 1 }, { f: "text\n" }, [1, 2]] });
  });

  const unusual: { name: string; given: string }[] = [
    { name: "an empty text", given: "\n" },
    { name: "no line break at the end", given: "a: 1" },
    { name: "a list", given: "- a\n" },
    { name: "two documents", given: "a: 1\n---\nb: 2\n" },
    { name: "a directive", given: "%YAML 1.2\n---\na: 1\n" },
    { name: "a tab", given: "a:\tb\n" },
    { name: "a letter beyond ASCII", given: "a: \u00fc\n" },
    { name: "a key twice", given: "a: 1\na: 2\n" },
    { name: "a key twice in braces", given: "a: { b: 1, b: 2 }\n" },
    { name: "a key that is not a string", given: "on: 1\n" },
    { name: "a key in quotes", given: '"a": 1\n' },
    { name: "__proto__", given: "__proto__: 1\n" },
    { name: "a boolean of YAML 1.1", given: "a: yes\n" },
    { name: "null", given: "a: null\n" },
    { name: "an octal number", given: "a: 0644\n" },
    { name: "a float", given: "a: 1.5\n" },
    { name: "a time", given: "a: 1:30\n" },
    { name: "an alias", given: "a: *b\n" },
    { name: "an anchor", given: "a: &b c\n" },
    { name: "a tag", given: "a: !!str 1\n" },
    { name: "a comment after a value", given: "a: b # c\n" },
    { name: "an escape", given: 'a: "b\\n"\n' },
    { name: "text that continues on the next line", given: "a: b\n  c\n" },
    { name: "a folded block", given: "a: >\n  b\n" },
    { name: "a block that begins with an empty line", given: "a: |\n\n  b\n" },
    { name: "an empty block", given: "a: |\nb: 1\n" },
    { name: "a block with an empty line that is too long", given: "a: |\n  b\n     \n  c\n" },
    { name: "a block that ends between two indentations", given: "a:\n  b: |\n     c\n    d\n" },
    { name: "brackets over two lines", given: "a: [b,\n  c]\n" },
    { name: "brackets in brackets", given: "a: [[b]]\n" },
    { name: "brackets that do not close", given: "a: [\n" },
    { name: "a comma in quotes, in brackets", given: 'a: ["b, c"]\n' },
    { name: "a comma at the end", given: "a: { b: 1, }\n" },
    { name: "a bad value in braces", given: "a: { b: { } }\n" },
    { name: "a line that is indented too little", given: "a:\n  b: 1\n c: 2\n" },
    { name: "a line that is indented too much", given: "a: 1\n  b: 2\n" },
    { name: "a list where a key should be", given: "a: 1\n- b\n" },
    { name: "a list of lists", given: "a:\n  - - b\n" },
    { name: "very deep", given: Array.from({ length: 110 }, (_, at) => `${" ".repeat(at)}a:\n`).join("") },
    { name: "very deep in lists", given: `a:\n${Array.from({ length: 110 }, (_, at) => `${"  ".repeat(at)}- a:\n`).join("")}` },
  ];
  it.each(unusual)("leaves $name to js-yaml", ({ given }) => {
    expect(readPlainYaml(given)).toBeUndefined();
  });

  const agrees = (text: string) => {
    const read = readPlainYaml(text);
    if (read !== undefined) expect({ text, read: ok([read]) }).toEqual({ text, read: parseAnyYaml(text) });
    return read !== undefined;
  };

  it("returns undefined or the same value as js-yaml, for generated values", () => {
    fc.assert(fc.property(fc.dictionary(fc.string(), fc.jsonValue(), { minKeys: 1 }), (value) => void agrees(dumpYaml(value))));
  });

  it("returns undefined or the same value as js-yaml, for random text", () => {
    const pieces = ["\n", " ", "  ", "- ", ": ", ":", "#", " #", "|", "'", '"', "[", "]", "{", "}", ",", "a", "b: c", "\n  ", "\n- ", "\nx: |\n  ", "1", "0", ".", "-", "---\n", "$", "/", "=", "(", "y", "e", "~", "null", "true", "?", "&", "*", "!", ">", "%", "@", "\\"]; // prettier-ignore
    const edit = fc.record({ at: fc.nat(SAMPLE.length), remove: fc.nat(6), insert: fc.constantFrom("", ...pieces) });
    let read = 0;
    const runs = 3_000;
    fc.assert(
      fc.property(fc.array(edit, { maxLength: 3 }), fc.array(fc.constantFrom(...pieces), { maxLength: 12 }), (edits, words) => {
        let text = SAMPLE;
        for (const { at, remove, insert } of edits) text = text.slice(0, at) + insert + text.slice(at + remove);
        if (agrees(text)) read += 1;
        agrees(`a${words.join("")}\n`);
        agrees(`a: ${words.join("")}\n`);
      }),
      { numRuns: runs },
    );
    expect(read).toBeGreaterThan(runs / 10);
  });
});
