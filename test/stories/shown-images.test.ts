/** Images in the documentation and the examples start under the defaults that the same documentation describes: their user is not root. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { rootImage } from "#service-compiler";

const root = join(import.meta.dirname, "../..");

/** Compose files are read by Docker, which runs root. */
function textsIn(folder: string): readonly { readonly file: string; readonly text: string }[] {
  const names = readdirSync(join(root, folder), { recursive: true, encoding: "utf8" });
  const files = names.filter((name) => /\.(?:ya?ml|md)$/.test(name) && !name.endsWith("compose.yaml")).map((name) => join(folder, name));
  return files.map((file) => ({ file, text: readFileSync(join(root, file), "utf8") }));
}

test("no file that users copy runs an image whose user is root", () => {
  const all = [...textsIn("docs"), ...textsIn("examples"), { file: "README.md", text: readFileSync(join(root, "README.md"), "utf8") }];
  const shown = all.flatMap(({ file, text }) => [...text.matchAll(/\bimage: *"?([^\s"',}]+)/g)].map(([, image = ""]) => ({ file, image })));
  expect(shown.length).toBeGreaterThan(10);
  expect(shown.filter(({ image }) => rootImage(image) !== undefined)).toEqual([]);
});
