/** `lattice init`: LatticeServices from a Docker Compose file, from a Score file, or a first service. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runCli } from "../../test/builders/cli-io.ts";

const COMPOSE = `services:
  web:
    image: registry.example.com/web:1.2
    ports: ["8080:3000"]
    environment:
      DB_HOST: db
    depends_on: [db]
    networks: [front]
    container_name: my-web
  db:
    image: postgres:17
    volumes: ["data:/var/lib/postgresql/data", "./init:/docker-entrypoint-initdb.d"]
volumes: {data: }
`;
const SCORE = `apiVersion: score.dev/v1b1
metadata: {name: hello}
containers: {main: {image: "nginx:1", variables: {COUNTRY: NO}}}
service: {ports: {http: {port: 8080}}}
`;

let cwd: string;
const run = (...argv: string[]) => runCli(argv, { cwd });
beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), "lattice-init-"));
  writeFileSync(join(cwd, "compose.yaml"), COMPOSE);
  writeFileSync(join(cwd, "score.yaml"), SCORE);
});
afterAll(() => rmSync(cwd, { recursive: true }));

describe("a Docker Compose file", () => {
  it.each(["validate", "compile"])(
    "given to %s is recognized: the error names the command that converts it, and the exit code is 1",
    async (command) => {
      const { code, stdout, stderr } = await run(command, "-f", "compose.yaml");
      expect(code).toBe(1);
      expect(stdout + stderr).toContain(
        "compose.yaml:1:1: this is a Docker Compose file (services: web, db); lattice init --from compose.yaml writes LatticeServices for it\n",
      );
      expect(stdout + stderr).not.toContain("apiVersion");
    },
  );

  it("becomes LatticeServices that validate and compile accept, and every field that is dropped is listed", async () => {
    const { code, stdout, stderr } = await run("init", "--from", "compose.yaml");
    expect(code).toBe(0);
    writeFileSync(join(cwd, "stream.yaml"), stdout);
    expect(await run("validate", "-f", "stream.yaml")).toMatchObject({ code: 0 });
    expect(await run("compile", "-f", "stream.yaml", "-n", "shop")).toMatchObject({ code: 0 });
    expect((await run("graph", "-f", "stream.yaml", "-n", "shop")).stdout).toBe("shop/web  ->  shop/db:5432  open\n");
    expect(stderr).toContain(
      "warning: compose.yaml:9: services.web.container_name: is not converted: other services use the name of the service\n",
    );
    expect(stderr).toContain("warning: compose.yaml:12: services.db.volumes[1]: mounts ./init of the host, and is left out;");
    expect(stderr).toContain("note: compose.yaml:8: services.web.networks: is not converted:");
  });

  it("is written as one file for each service, and files are never overwritten without --force", async () => {
    expect(await run("init", "--from", "compose.yaml", "--out", "services")).toMatchObject({
      code: 0,
      stdout: "2 files in services: db.yaml, web.yaml\n",
    });
    expect(readdirSync(join(cwd, "services")).toSorted()).toEqual(["db.yaml", "web.yaml"]);
    writeFileSync(join(cwd, "services/web.yaml"), "mine\n");
    rmSync(join(cwd, "services/db.yaml"));
    expect(await run("init", "--from", "compose.yaml", "--out", "services")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("services/web.yaml exists; use --force to overwrite it") as string,
    });
    expect(readFileSync(join(cwd, "services/web.yaml"), "utf8")).toBe("mine\n");
    expect(existsSync(join(cwd, "services/db.yaml"))).toBe(false);
    expect(await run("init", "--from", "compose.yaml", "--out", "services", "--force")).toMatchObject({ code: 0 });
    expect(await run("validate", "-f", "services")).toMatchObject({ code: 0 });
  });
});

describe("a Score file", () => {
  it("becomes an equivalent LatticeService", async () => {
    const { code, stdout, stderr } = await run("init", "--from", "score.yaml");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    writeFileSync(join(cwd, "converted.yaml"), stdout);
    const [converted, original] = [await run("compile", "-f", "converted.yaml"), await run("compile", "-f", "score.yaml")];
    expect(converted).toEqual(original);
    expect(stdout).toContain("COUNTRY: 'NO'");
  });

  it("whose image comes from a build gets a placeholder image, with a warning", async () => {
    const { code, stdout, stderr } = await runCli(["init", "--from", "-"], { cwd, input: SCORE.replace('"nginx:1"', '"."') });
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr:
        'warning: -:3: containers.main.image: "." is set by a build, so registry.example.com/hello:latest was written instead; write the image\n',
    });
    expect(stdout).toContain("image: registry.example.com/hello:latest\n");
  });

  it("with mistakes is refused with their lines", async () => {
    const { code, stderr } = await runCli(["init", "--from", "-"], { cwd, input: SCORE.replace("image", "imaged") });
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringContaining("error -:3:21: containers.main.imaged: is not a field") as string,
    });
  });
});

describe("without --from", () => {
  it("prints a commented service that validate and compile accept", async () => {
    const { code, stdout } = await run("init", "my-api");
    expect(code).toBe(0);
    expect(stdout).toMatch(/^# .*\n/);
    writeFileSync(join(cwd, "first.yaml"), stdout);
    expect(await run("validate", "-f", "first.yaml")).toMatchObject({ code: 0 });
    expect((await run("compile", "-f", "first.yaml")).stdout).toContain("name: my-api\n");
  });

  it("writes it to a folder, or reports why it cannot", async () => {
    expect(await run("init", "--out", "first")).toEqual({ code: 0, stdout: "1 file in first: hello.yaml\n", stderr: "" });
    expect(await run("init", "--out", "score.yaml")).toMatchObject({ code: 2, stdout: "" });
    mkdirSync(join(cwd, "taken/hello.yaml"), { recursive: true });
    expect(await run("init", "--out", "taken", "--force")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("taken/hello.yaml cannot be written: ") as string,
    });
  });

  it("refuses an invalid name", async () => {
    expect(await run("init", "My_Api")).toMatchObject({ code: 2, stdout: "" });
    expect(await run("init", "api", "--from", "score.yaml")).toMatchObject({ code: 2, stdout: "" });
  });
});

describe("input that cannot be converted", () => {
  const rows: { name: string; input: string; code: number; want: string }[] = [
    { name: "neither Compose nor Score", input: "a: 1\n", code: 1, want: "- is neither a Docker Compose file nor a Score file" },
    { name: "several documents", input: `${COMPOSE}---\n${COMPOSE}`, code: 1, want: "- has 2 documents; give a file with one" },
    { name: "no document", input: "", code: 1, want: "- has 0 documents; give a file with one" },
    {
      name: "aliases",
      input: "services: {a: &a {image: x}, b: *a}\n",
      code: 1,
      want: "docker compose config prints the file without them",
    },
    { name: "tags", input: "services: !!js/function x\n", code: 1, want: "-:1:" },
    { name: "no services", input: "services: {}\n", code: 1, want: "the file has no services" },
    { name: "too large", input: `# ${"x".repeat(1024 * 1024)}\n${COMPOSE}`, code: 2, want: "more than 1 MiB" },
  ];
  it.each(rows)("$name: one error, and nothing is written", async ({ input, code, want }) => {
    const ran = await runCli(["init", "--from", "-", "--out", "nothing"], { cwd, input });
    expect(ran).toMatchObject({ code, stdout: "", stderr: expect.stringContaining(want) as string });
    expect(existsSync(join(cwd, "nothing"))).toBe(false);
  });

  it("a missing file is exit code 2", async () => {
    expect(await run("init", "--from", "gone.yaml")).toMatchObject({ code: 2, stdout: "" });
  });
});
