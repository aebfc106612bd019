import { describe, expect, it } from "vitest";
import { fileTree } from "../../test/builders/file-tree.ts";
import { formatFinding } from "./finding.ts";
import { checkLayers } from "./layers.ts";

const LAYERS = { server: { may: [], order: ["store", "rest"] }, tools: { may: [] } };
const good = {
  "layers.json": JSON.stringify({ layers: LAYERS }),
  "package.json": "{}",
  "src/server/store/port.ts": "export const port = 1;\n",
  "src/server/rest/get.ts": `import { port } from "../store/port.ts";\nexport const get = port;\n`,
  "src/server/index.ts": `export { get } from "./rest/get.ts";\n`,
  "src/tools/a/one.ts": "export const one = 1;\n",
  "src/tools/b/two.ts": `import { one } from "../a/one.ts";\nexport const two = one;\n`,
};

async function findings(add: Record<string, string>): Promise<readonly string[]> {
  return (await checkLayers(await fileTree({ ...good, ...add }))).map(formatFinding);
}

describe("subfolders", () => {
  it("may import those before them, and a folder's own file may import all", async () => {
    expect(await findings({})).toEqual([]);
  });

  const rows: { name: string; add: Record<string, string>; want: string[] }[] = [
    {
      name: "an import against the order",
      add: {
        "src/server/store/late.ts": `\nimport type { Get } from "../rest/types.ts";\n`,
        "src/server/rest/types.ts": "export type Get = 1;\n",
        "src/server/rest/get.ts": "export const get = 1;\n",
      },
      want: ["src/server/store/late.ts:2  store may not import rest, which comes later in the order of server (layers.json)"],
    },
    {
      name: "a cycle of two subfolders without an order",
      add: {
        "src/tools/a/one.ts": `import type { Two } from "../b/types.ts";\nexport const one = 1;\n`,
        "src/tools/b/types.ts": "export type Two = 2;\n",
      },
      want: ["src/tools/a/one.ts:1  import cycle in tools: a → b → a", "src/tools/b/two.ts:1  import cycle in tools: a → b → a"],
    },
    {
      name: "a cycle through a file beside the subfolders",
      add: {
        "src/tools/both.ts": `export { two } from "./b/two.ts";\n`,
        "src/tools/a/one.ts": `export const one = () => import("../both.ts");\n`,
      },
      want: [
        "src/tools/a/one.ts:1  import cycle in tools: a → both.ts → b → a",
        "src/tools/both.ts:1  import cycle in tools: a → both.ts → b → a",
        "src/tools/b/two.ts:1  import cycle in tools: a → both.ts → b → a",
      ],
    },
    {
      name: "a subfolder that the order does not name",
      add: { "src/server/extra/a.ts": "" },
      want: ["src/server/extra  is not in the order of server in layers.json"],
    },
    {
      name: "a name in the order without a subfolder",
      add: { "layers.json": JSON.stringify({ layers: { ...LAYERS, server: { may: [], order: ["store", "gone", "rest"] } } }) },
      want: ["layers.json  src/server/gone does not exist"],
    },
  ];
  it.each(rows)("are refused with $name", async ({ add, want }) => {
    expect(await findings(add)).toEqual(want);
  });

  it("may import each other in tests and their support", async () => {
    const test = `import "./server.test-support.ts";\n`;
    const support = `import "../rest/get.ts";\n`;
    expect(
      await findings({
        "src/server/store/a.test.ts": test,
        "src/server/unlisted/only.test.ts": "",
        "src/server/store/server.test-support.ts": support,
      }),
    ).toEqual([]);
  });

  it("are refused with a cycle that shares a file with a cycle of files alone", async () => {
    const found = await findings({
      "src/tools/x.ts": `import "./y.ts";\nimport "./b/two.ts";\n`,
      "src/tools/y.ts": `import "./x.ts";\n`,
      "src/tools/b/two.ts": `import "../x.ts";\n`,
    });
    expect(found).toEqual([
      "src/tools/b/two.ts:1  import cycle in tools: b → x.ts → b",
      "src/tools/x.ts:2  import cycle in tools: b → x.ts → b",
    ]);
  });

  it("are checked in a folder whose index only tests import by its path", async () => {
    const found = await findings({
      "src/tools/index.ts": `export { one } from "./a/one.ts";\n`,
      "src/tools/index.test.ts": `import "./index.ts";\n`,
      "src/tools/a/one.ts": `import "../b/two.ts";\nexport const one = 1;\n`,
      "src/tools/b/two.ts": `import type { Name } from "../a/name.ts";\n`,
      "src/tools/a/name.ts": "export type Name = string;\n",
    });
    expect(found).toHaveLength(2);
  });

  it("may have files beside them that import each other", async () => {
    expect(await findings({ "src/tools/x.ts": `import "./y.ts";\n`, "src/tools/y.ts": `import "./x.ts";\n` })).toEqual([]);
  });
});
