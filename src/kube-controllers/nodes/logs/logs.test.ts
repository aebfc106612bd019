import { Buffer } from "node:buffer";
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import { expectOk, FakeClock } from "#base";
import { ENTRY_BYTES, LogFormatter, parseEntry } from "./log-entry.ts";
import { containerLogFolder, findContainerLog, nextLogNumber, podLogFolder } from "./log-files.ts";
import { readContainerLog, type LogReading } from "./log-reader.ts";
import { LogSelection, type LogSelectionOptions } from "./log-selection.ts";
import { ContainerLogWriter } from "./log-writer.ts";

let folder: string;
let file: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "lattice-logs-"));
  file = join(folder, "0.log");
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const at = (second: number) => Date.UTC(2026, 10, 16, 17, 7, second);
const time = (second: number) => `2026-11-16T17:07:${String(second).padStart(2, "0")}.000000000Z`;
/** Lines `0`, `1`, …: one per second. */
const entries = (count: number, first = 0) =>
  Array.from({ length: count }, (_, index) => `${time(first + index)} stdout F ${first + index}\n`).join("");

function select(bytes: Buffer, blockBytes: number, options: Partial<LogSelectionOptions> = {}): Buffer {
  const selection = new LogSelection({ timestamps: false, ...options });
  const output: Buffer[] = [];
  for (let from = 0; from < bytes.length; from += blockBytes) output.push(selection.next(bytes.subarray(from, from + blockBytes)));
  return Buffer.concat([...output, selection.end()]);
}

type Wanted = Partial<LogReading["options"]>;

function reading(options: Wanted = {}, more: Partial<LogReading> = {}): LogReading {
  const signal = new AbortController().signal;
  return {
    path: file,
    options: { follow: false, timestamps: false, ...options },
    clock: new FakeClock(),
    signal,
    isComplete: () => true,
    ...more,
  };
}

async function read(options: Wanted = {}): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of readContainerLog(reading(options))) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

describe("format", () => {
  it("is that of a container runtime", () => {
    const formatter = new LogFormatter("stderr");
    const formatted = formatter.format(Buffer.from("one\n\ntwo"), Date.UTC(2026, 10, 16, 17, 7, 37, 123));
    expect(formatted.toString()).toBe("2026-11-16T17:07:37.123000000Z stderr F one\n2026-11-16T17:07:37.123000000Z stderr F \n");
    expect(formatter.end(at(38)).toString()).toBe(`${time(38)} stderr P two\n`);
    expect(formatter.end(at(38)).length).toBe(0);
  });

  it("splits lines that are longer than an entry", () => {
    const formatter = new LogFormatter("stdout");
    const lines = formatter
      .format(Buffer.from(`${"x".repeat(ENTRY_BYTES * 2)}y\n${"z".repeat(ENTRY_BYTES)}\n`), at(0))
      .toString()
      .split("\n");
    expect(lines.map((line) => [line.slice(0, 40).split(" ")[2], line.length])).toEqual([
      ["P", ENTRY_BYTES + 40],
      ["P", ENTRY_BYTES + 40],
      ["F", 41],
      ["F", ENTRY_BYTES + 40],
      [undefined, 0],
    ]);
  });

  it("gives the output back, whatever its bytes and however it is cut", () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 200 }),
      fc.array(fc.constantFrom(10, 32, 80, 255), { maxLength: 100 }).map((list) => Uint8Array.from(list)),
      fc.integer({ min: ENTRY_BYTES - 2, max: 2 * ENTRY_BYTES + 2 }).map((length) => new Uint8Array(length).fill(120)),
    );
    fc.assert(
      fc.property(fc.array(bytes, { maxLength: 6 }), fc.integer({ min: 1, max: 70_000 }), (chunks, blockBytes) => {
        const formatter = new LogFormatter("stdout");
        const written = Buffer.concat([...chunks.map((chunk) => formatter.format(chunk, at(1))), formatter.end(at(2))]);
        expect(select(written, blockBytes).equals(Buffer.concat(chunks))).toBe(true);
      }),
    );
  });

  it.each(["", "text", `${time(1)} stdout F`, `yesterday stdout F x`, `${time(1)} stdlog F x`, `${"x".repeat(300)} stdout F x`])(
    "%j is not an entry",
    (line) => expect(parseEntry(Buffer.from(line))).toBeUndefined(),
  );
});

describe("selection", () => {
  const log = Buffer.from(`${time(1)} stdout F one\n${time(2)} stdout P tw\n${time(3)} stdout F o\n${time(4)} stderr F three\n`);
  it.each<{ name: string; options: Partial<LogSelectionOptions>; want: string }>([
    { name: "everything", options: {}, want: "one\ntwo\nthree\n" },
    { name: "the time of each line", options: { timestamps: true }, want: `${time(1)} one\n${time(2)} two\n${time(4)} three\n` },
    { name: "entries since a time", options: { since: at(3) }, want: "o\nthree\n" },
    { name: "a number of bytes", options: { limitBytes: 6 }, want: "one\ntw" },
    { name: "bytes including times", options: { limitBytes: 34, timestamps: true }, want: `${time(1)} one` },
  ])("$name", ({ options, want }) => {
    for (const blockBytes of [1, 7, 1_000]) expect(select(log, blockBytes, options).toString()).toBe(want);
  });

  it("leaves out lines that are not entries, however long, and keeps an entry without its end", () => {
    const damaged = `${time(1)} std\n${"x".repeat(100_000)}\n${time(2)} stdout F kept\n\n${time(3)} stdout F last`;
    for (const blockBytes of [1_000, 200_000]) expect(select(Buffer.from(damaged), blockBytes).toString()).toBe("kept\nlast");
  });
});

describe("reading", () => {
  it.each([
    { name: "the whole file", options: {}, want: "0\n1\n2\n" },
    { name: "the last lines", options: { tailLines: 2 }, want: "1\n2\n" },
    { name: "no lines", options: { tailLines: 0 }, want: "" },
    { name: "more lines than there are", options: { tailLines: 9 }, want: "0\n1\n2\n" },
    { name: "the last lines since a time", options: { tailLines: 2, since: at(2) }, want: "2\n" },
    { name: "some bytes", options: { limitBytes: 3 }, want: "0\n1" },
  ])("$name", async ({ options, want }) => {
    writeFileSync(file, entries(3));
    expect(await read(options)).toBe(want);
  });

  it("finds the last lines of a file of many blocks, and sends it in blocks", async () => {
    const line = (index: number) => `${index} ${"x".repeat(index % 97)}`;
    const lines = Array.from({ length: 10_000 }, (_, index) => line(index));
    writeFileSync(file, lines.map((text) => `${time(1)} stdout F ${text}\n`).join(""));
    for (const tailLines of [1, 700, 5_000, 9_999, 10_000])
      expect(await read({ tailLines })).toBe(`${lines.slice(-tailLines).join("\n")}\n`);
    let chunks = 0;
    for await (const chunk of readContainerLog(reading())) {
      chunks += 1;
      expect(chunk.length).toBeLessThanOrEqual(66_000);
    }
    expect(chunks).toBeGreaterThan(10);
  });

  it("does not send lines that are written meanwhile, unless it follows", async () => {
    writeFileSync(file, entries(10).repeat(1_000));
    const chunks: Uint8Array[] = [];
    for await (const chunk of readContainerLog(reading())) {
      appendFileSync(file, entries(1));
      chunks.push(chunk);
    }
    expect(Buffer.concat(chunks).toString().split("\n")).toHaveLength(10_001);
  });

  it("rejects when there is no file", async () => {
    const missing = readContainerLog(reading({}, { path: join(folder, "missing") }));
    await expect(missing.next()).rejects.toThrow("ENOENT");
  });
});

describe("following", () => {
  /** Collects the output of a follower; `until` advances the clock until the text has arrived. */
  function follow(options: Wanted = {}) {
    const [clock, end] = [new FakeClock(), new AbortController()];
    let [text, complete, ended] = ["", false, false];
    const iterate = async () => {
      const more = { clock, signal: end.signal, isComplete: () => complete };
      for await (const chunk of readContainerLog(reading({ follow: true, ...options }, more))) text += Buffer.from(chunk).toString();
      ended = true;
    };
    const finished = iterate();
    const until = async (want: string) => {
      await expect
        .poll(
          async () => {
            await clock.advance(250);
            return text;
          },
          { timeout: 10_000 },
        )
        .toBe(want);
    };
    return {
      until,
      finished,
      end: () => end.abort(),
      complete: async () => {
        complete = true;
        await expect
          .poll(
            async () => {
              await clock.advance(250);
              return ended;
            },
            { timeout: 10_000 },
          )
          .toBe(true);
      },
      timers: () => clock.pending,
    };
  }

  it("sends new lines, and ends when the process has ended", async () => {
    writeFileSync(file, entries(1));
    const follower = follow();
    await follower.until("0\n");
    appendFileSync(file, entries(1, 1) + entries(1, 2).slice(0, 20));
    await follower.until("0\n1\n");
    appendFileSync(file, entries(1, 2).slice(20));
    await follower.until("0\n1\n2\n");
    await follower.complete();
  });

  it("begins at the last lines, and ends at the limit of bytes", async () => {
    writeFileSync(file, entries(3));
    const follower = follow({ tailLines: 1, limitBytes: 3 });
    await follower.until("2\n");
    appendFileSync(file, entries(2, 33));
    await follower.until("2\n3");
    await follower.finished;
  });

  it("continues at the beginning of a file that was truncated, or replaced", async () => {
    writeFileSync(file, entries(2));
    const follower = follow();
    await follower.until("0\n1\n");
    truncateSync(file, 0);
    appendFileSync(file, entries(1, 2));
    await follower.until("0\n1\n2\n");
    appendFileSync(file, entries(1, 3));
    renameSync(file, `${file}.1`);
    await follower.until("0\n1\n2\n3\n");
    writeFileSync(file, entries(1, 4));
    await follower.until("0\n1\n2\n3\n4\n");
    await follower.complete();
  });

  it("ends with its signal and leaves no timer", async () => {
    writeFileSync(file, entries(1));
    const follower = follow();
    await follower.until("0\n");
    follower.end();
    await follower.finished;
    expect(follower.timers()).toBe(0);
  });
});

describe("files", () => {
  const pod = { namespace: "lattice-system", name: "lattice-operator-5d8-x2", uid: "a-b" };
  const inFolder = (name: string) => join(folder, name);

  it("have a kubelet's names, which stay in the folder of the logs", () => {
    expect(containerLogFolder(podLogFolder("/logs", pod), "operator")).toBe(
      "/logs/pods/lattice-system_lattice-operator-5d8-x2_a-b/operator",
    );
    expect(containerLogFolder(podLogFolder("/logs", { name: "../x", uid: "../../y" }), "..")).toBe("/logs/pods/___x___.._y/_");
  });

  it("are numbered by starts; the newest and the one before it are kept", () => {
    const container = inFolder("numbers");
    expect([nextLogNumber(container), findContainerLog(container, { previous: false })]).toEqual([0, undefined]);
    mkdirSync(container);
    for (const name of ["8.log", "9.log", "10.log", "10.log.1", "8.log.1", "notes.txt"]) writeFileSync(join(container, name), "");
    expect([false, true].map((previous) => findContainerLog(container, { previous }))).toEqual([
      join(container, "10.log"),
      join(container, "9.log"),
    ]);
    expect(nextLogNumber(container)).toBe(11);
    expect(readdirSync(container).toSorted()).toEqual(["10.log", "10.log.1", "notes.txt"]);
  });

  test("a writer begins a new file at each start, readable by its owner only, with the output of both streams", () => {
    const container = inFolder("written");
    for (const number of [0, 1]) {
      const writer = expectOk(ContainerLogWriter.next({ folder: container, clock: new FakeClock(at(number)) }));
      expectOk(writer.write("stdout", Buffer.from("out ")));
      expectOk(writer.write("stderr", Buffer.from("err\n")));
      expectOk(writer.close());
      expect([writer.number, readFileSync(writer.path, "utf8")]).toEqual([
        number,
        `${time(number)} stderr F err\n${time(number)} stdout P out \n`,
      ]);
      expect([statSync(writer.path).mode & 0o777, statSync(container).mode & 0o777]).toEqual([0o600, 0o700]);
    }
  });

  test("a file that is full is moved away, so that a log has a limit", () => {
    const container = inFolder("full");
    const writer = expectOk(ContainerLogWriter.next({ folder: container, clock: new FakeClock(at(0)), limitBytes: 100 }));
    for (const text of ["one\n", "two\n", "three\n", "four\n", "five\n"]) expectOk(writer.write("stdout", Buffer.from(text)));
    expectOk(writer.close());
    expect(readdirSync(container).toSorted()).toEqual(["0.log", "0.log.1"]);
    expect([select(readFileSync(`${writer.path}.1`), 99).toString(), select(readFileSync(writer.path), 99).toString()]).toEqual([
      "three\nfour\n",
      "five\n",
    ]);
  });

  test("a folder or file that cannot be written is one sentence, and later output is tried again", () => {
    writeFileSync(inFolder("taken"), "");
    const refused = ContainerLogWriter.next({ folder: inFolder("taken"), clock: new FakeClock() });
    expect(refused).toMatchObject({ ok: false, error: expect.stringMatching(/^cannot write a log in .*taken: EEXIST/) as string });
    const container = inFolder("removed");
    const writer = expectOk(ContainerLogWriter.next({ folder: container, clock: new FakeClock(at(0)), limitBytes: 1 }));
    expectOk(writer.write("stdout", Buffer.from("one\n")));
    rmSync(container, { recursive: true });
    expect(writer.write("stdout", Buffer.from("lost\n"))).toMatchObject({ ok: false, error: expect.stringContaining("ENOENT") as string });
    mkdirSync(container);
    expectOk(writer.write("stdout", Buffer.from("two\n")));
    expectOk(writer.close());
    expect(select(readFileSync(writer.path), 99).toString()).toBe("two\n");
  });
});
