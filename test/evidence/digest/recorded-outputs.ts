import { readFileSync } from 'node:fs';
import path from 'node:path';

/** The output of one broken program, with the errors that it reports, the most relevant one first. */
export interface RecordedOutput {
  readonly id: string;
  readonly split: 'dev' | 'test';
  readonly lang: string;
  /** `ran`: printed by the program itself, of that version. `documented`: written in the program's format. */
  readonly source: 'ran' | 'documented';
  readonly version?: string;
  /** How the output is changed on its way to the agent. */
  readonly mess: readonly Mess[];
  readonly digests: readonly string[];
  readonly text: string;
}

type Mess = 'colour' | 'crlf' | 'timestamps' | 'compose' | 'buildkit' | 'long' | 'exit';

const FILE = path.join(import.meta.dirname, 'outputs.jsonl');

export function readOutputs(): readonly RecordedOutput[] {
  const lines = readFileSync(FILE, 'utf8').trim().split('\n');
  return lines.map((line): RecordedOutput => JSON.parse(line));
}

/** The output as an agent gets it: inside a long log, coloured, with the time of each line. */
export function messUp({ mess, text }: RecordedOutput): string {
  let lines = text.replace(/\n$/, '').split('\n');
  if (mess.includes('long')) lines = [...noise(0, 260), ...lines, ...noise(260, 180)];
  if (mess.includes('colour')) lines = lines.map(coloured);
  if (mess.includes('timestamps'))
    lines = lines.map(
      (line, n) => `2026-03-07T09:${two(n / 60)}:${two(n)}.${(n * 7919) % 10_000_000}Z ${line}`,
    );
  if (mess.includes('compose')) lines = lines.map((line) => `api-1  | ${line}`);
  if (mess.includes('buildkit')) lines = lines.map((line, n) => `#14 ${(n / 9).toFixed(3)} ${line}`);
  if (mess.includes('exit')) lines = [...lines, '', 'Command exited with code 1'];
  return lines.join(mess.includes('crlf') ? '\r\n' : '\n');
}

const two = (n: number): string => String(Math.floor(n) % 60).padStart(2, '0');

const coloured = (line: string): string =>
  line.replace(/\b(error|Error|FAILED|FAIL|warning)\b/, '\u001b[1m\u001b[31m$1\u001b[0m\u001b[39m');

/** Lines of healthy programs. Some have the words of a failure in them. */
const HEALTHY: readonly ((n: number) => string)[] = [
  (n) => `Downloading package-${n}-1.${n % 9}.0.tgz (${(n * 37) % 900} kB)`,
  (n) => `[INFO] ${n} modules checked, 0 errors, 0 warnings`,
  (n) => `  ✓ handles case ${n} (${n % 20} ms)`,
  (n) => `test_errors_${n} ... ok`,
  (n) => `src/error_page_${n}.ts -> dist/error_page_${n}.js`,
  (n) => `GET /api/items/${n} 200 ${n % 70}ms`,
  (n) => `Compiling crate_${n} v0.${n % 12}.1`,
  (n) => `npm warn deprecated left-${n}@1.0.0: no longer supported`,
  (n) => `2026-03-07 09:12:${two(n)} DEBUG retry.py:88 attempt ${n} succeeded`,
  (n) => `PASS test/unit/errors-${n}.test.js`,
  (n) => `src/old/part${n}.c:${n}:3: warning: unused variable 'tmp' [-Wunused-variable]`,
  (n) => `ok ${n} - fails with an exception when the file is missing`,
];

const noise = (from: number, count: number): readonly string[] =>
  Array.from({ length: count }, (_, n) => HEALTHY[(from + n) % HEALTHY.length]?.(from + n) ?? '');
