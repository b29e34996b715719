import { memoByText } from '../../base/text-memo.ts';
import { bothEnds, eachLine } from '../../text/lines.ts';
import { countTests } from '../tools/count-failures.ts';
import { findCommandFault, findToolFault } from '../tools/error-patterns.ts';
import { readExitCode } from '../tools/exit-status.ts';
import { findOutage } from '../tools/outages.ts';
import {
  createDartReader,
  createElixirReader,
  createGoReader,
  createJvmReader,
  createNativeReader,
  createNetReader,
  createRustReader,
} from './compiled-traces.ts';
import { createCompilerReader } from './diagnostics.ts';
import type { LineReader } from './finding.ts';
import { formatFinding } from './finding.ts';
import { createPytestReader, createPythonReader } from './python.ts';
import {
  createJavaScriptReader,
  createLuaReader,
  createPhpReader,
  createRubyReader,
} from './script-traces.ts';
import { createTestReader } from './test-failures.ts';
import { createErrorNameReader, createToolErrorReader } from './tool-errors.ts';

const MOST = 6;
const MOST_OF_ONE = 3;
/** Tool output can be a whole log. */
const TEXT_CAP = 200_000;

/** Lines that are read after one that is about an error: messages have several lines. */
const NEAR = 6;

/** Readers of locations; their findings are shown in this order. */
const TRACES: readonly (() => LineReader)[] = [
  createPythonReader,
  createPytestReader,
  createJavaScriptReader,
  createJvmReader,
  createNetReader,
  createGoReader,
  createNativeReader,
  createElixirReader,
  createDartReader,
  createRustReader,
  createRubyReader,
  createPhpReader,
  createLuaReader,
  createCompilerReader,
  createTestReader,
];

/**
 * The errors in any amount of output as `Kind @ file:line`, with the deepest frame of the user's own code. One pass, in
 * linear time. Only names of errors, file names and well-known codes pass, so the result is safe where the text is not.
 */
export const digestError = memoByText(findErrors);

function findErrors(text: string): readonly string[] {
  const part = bothEnds(text, TEXT_CAP);
  const traces = TRACES.map((create) => create());
  const tools = createToolErrorReader();
  const name = createErrorNameReader();
  const readers = [...traces, tools, name];
  let near = 0;
  eachLine(part, (raw) => {
    const line = cleanLine(raw);
    near = isMarked(line) ? NEAR : near - 1;
    if (near <= 0) return undefined;
    for (const reader of readers) reader.line(line);
    return undefined;
  });
  const all = traces.flatMap((reader) => distinct(reader.found().map(formatFinding)).slice(0, MOST_OF_ONE));
  const clear = all.filter((one) => !all.some((other) => isVaguer(one, other)));
  const placed = clear.filter((one) => one.includes(' @ '));
  const named = clear.length > 0 ? [] : name.found().map(formatFinding);
  const reported = (placed.length > 0 ? tools.known() : tools.found()).map(formatFinding);
  const vague = clear.filter((one) => !one.includes(' @ '));
  const findings = distinct([
    ...placed,
    ...named,
    ...reported,
    ...vague,
    ...wholeOf(part, [...reported, ...vague]),
  ]);
  const isCovered = (one: string, index: number): boolean =>
    findings.some((other, at) => isPartOf(one, other) || (at < index && plain(one) === plain(other)));
  return findings.filter((one, index) => !isCovered(one, index)).slice(0, MOST);
}

/** A file without a line is redundant beside one with a line. */
function isVaguer(one: string, other: string): boolean {
  const file = one.slice(one.indexOf(' @ ') + 3);
  return !/:\d+$/.test(one) && other !== one && other.includes(` @ ${file}:`);
}

/** `ENOENT` is redundant beside `Error ENOENT @ load.js:3`. */
const isPartOf = (one: string, other: string): boolean =>
  plain(one) !== plain(other) && ` ${plain(other)} `.includes(` ${plain(one)} `);

const plain = (digest: string): string => digest.toLowerCase().replaceAll('-', ' ');

/** Findings about the output as a whole. */
function wholeOf(text: string, reported: readonly string[]): readonly string[] {
  const tests = countTests(text);
  const code = readExitCode(text);
  const fault = findToolFault(text) ?? findCommandFault(text);
  const outage = reported.length > 0 ? undefined : findOutage(text);
  return [
    ...(tests?.failed ? [`tests failed: ${tests.failed}`] : []),
    ...(fault === undefined ? [] : [fault]),
    ...(outage === undefined ? [] : [outage]),
    ...(code === undefined || code === 0 ? [] : [`exit ${code}`]),
  ];
}

const distinct = (list: readonly string[]): readonly string[] => [...new Set(list)];

/** What logs put before a line: the time (GitHub, Kubernetes), the container (Compose), the step (BuildKit), the level (Maven, sbt). */
const STAMP =
  /^(?:\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d) |\[\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[^\]]{0,12}\] |\[?\d\d:\d\d:\d\d(?:[.,]\d{1,9})?\]? )/;
const CONTAINER = /^[A-Za-z][\w.-]{0,60}[-_]\d{1,3} {1,30}\| ?/;
const STEP = /^#\d{1,4} (?:\d{1,6}\.\d{1,4} |(?=\[|ERROR|DONE|CACHED))|^\d{1,5}\.\d{3} (?=\S)/;
const LEVEL = /^(?:##\[error\]|(?:\[ERROR\]|\[error\]|\[INFO\]|\[info\]) ?)/;
const BOX = /^[│╷╵┃]\s?/;
/** Python's groups of exceptions are drawn as a tree. */
const TREE = /^ {2,24}\| ?(?= |[A-Z])|^ {2,24}\+ (?=Exception Group)/;

/** What lines about errors have in them: a place, a word of failure, the beginning of a frame. */
const MARKS =
  /[:([]\d|\bline:? \d|rror|ERR|xception|anic|ail|FAIL|atal|raceback|[Cc]an(?:not|'t)|ould|onflict|CONFLICT|\b[Nn]ot?\b|nothing|[Uu]n(?:defined|bound|known|resolved|expected|able|terminated)|ssert|xpect|n't|denied|refused|overwrit|reject|nvalid|uplicate|eadlock|locked|onstraint|SIG[A-Z]{3}|Segmentation|Killed|Abort|BackOff|ImagePull|OOM|HTTP\/|YN0|ORA-|Msg |SQLSTATE|RACE|Sanitizer|Evicted|terminate|solving|File "|does|must|allocated|issing|[Mm]ismatch|SC\d|clippy::|^=== RUN|^[A-Z]{1,4}\d{3,4} |unused|^\s*(?:at|from|thread|E|#|[•❯→●✘]) |^-- |^ {1,4}Line {2}|^In |^\.\/|^\*\*|^\t|\.(?:[cm]?[jt]sx?|py)$/;

/** Whether a line may be about an error. */
const isMarked = (line: string): boolean => MARKS.test(line);

/** A line as its program printed it. Cheap for lines without such a prefix: the first character decides. */
function cleanLine(line: string): string {
  let text = line;
  for (let turn = 0; turn < 3; turn++) {
    const next = withoutPrefix(text);
    if (next === text) break;
    text = next;
  }
  return text;
}

function withoutPrefix(text: string): string {
  const first = text.charCodeAt(0);
  if (first === 0x20) return text.includes('|') || text.includes('+') ? text.replace(TREE, '') : text;
  if (first >= 0x30 && first <= 0x39) return text.replace(STAMP, '').replace(STEP, '');
  if (first === 0x5b) return text.replace(STAMP, '').replace(LEVEL, '');
  if (first === 0x23) return text.replace(LEVEL, '').replace(STEP, '');
  if (first > 0x2500 && first < 0x2600) return text.replace(BOX, '');
  return text.includes(' | ') ? text.replace(CONTAINER, '') : text;
}
