import { spawnSync } from "node:child_process";
import { getFips } from "node:crypto";
import { expect, test } from "vitest";
import { isFipsActive } from "./fips.ts";

test("FIPS is active in the lane that runs under the provider, and in no other", () => {
  expect(isFipsActive()).toBe(getFips() === 1);
});

test("the setting without a provider is not enough", () => {
  const module = new URL("fips.ts", import.meta.url).href;
  const code = `import { getFips, setFips } from "node:crypto"; import { isFipsActive } from ${JSON.stringify(module)}; setFips(true); console.log(getFips(), isFipsActive());`;
  const { NODE_OPTIONS: _options, OPENSSL_CONF: _config, ...env } = process.env;
  const { stdout } = spawnSync(process.execPath, ["--input-type=module", "-e", code], { encoding: "utf8", env });
  expect(stdout).toBe("1 false\n");
});
