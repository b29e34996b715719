import { bothEnds, eachLine, tailLines } from '../../text/lines.ts';

/** Counts from a test runner's summary. */
interface TestCount {
  readonly passed: number;
  readonly failed: number;
}

/** The summary is near the end, but coverage tables and warnings may follow it. */
const LINES = 200;
const N = '(\\d{1,7})';
const re = (source: string): RegExp => new RegExp(source);

/** Lines that occur only in a runner's summary; the first group is the count. */
const FAILED: readonly RegExp[] = [
  re(`^[\\s=!]*${N} failed\\b`),
  re(`^[\\s=!]*${N} errors? in [\\d.]`),
  re(`^\\s*(?:Tests|Test Files|Test Suites|Tests run):?\\s+${N} failed\\b`),
  re(`^\\s*${N} fail$`),
  re(`^\\s*${N} failing$`),
  re(`^test result: FAILED\\. \\d+ passed; ${N} failed`),
  re(`^\\s*\\d+ (?:examples?|tests?|doctests?)(?:, \\d+ \\w+)?, ${N} failures?\\b`),
  re(`Tests run: \\d+, Failures: ${N}`),
  re(`Tests run: \\d+, Failures: 0, Errors: ${N}`),
  re(`^Tests: \\d+, Assertions: \\d+,(?: Errors: \\d+,)? Failures: ${N}`),
  re(`^(?:#|ℹ) fail ${N}$`),
  re(`^Failed!\\s+- Failed:\\s+${N}`),
  re(`^FAILED \\((?:failures|errors)=${N}`),
  re(`Executed \\d+ tests?, with ${N} failures?`),
  re(`^\\d+% tests passed, ${N} tests? failed out of`),
  re(`^\\s*${N} failed[,|]`),
  re(`\\d passed, ${N} errors? in [\\d.]`),
  re(`tests?: (?:\\d+ tests? pass(?:es)?(?: and)?,? )?${N} fails?\\b`),
  re(`^FAILED \\| \\d+ passed \\| ${N} failed`),
  re(`\\bERROR=([1-9]\\d{0,5})\\b`),
];
const PASSED: readonly RegExp[] = [
  re(`^[\\s=]*${N} passed\\b`),
  re(`^\\s*(?:Tests|Test Files|Test Suites):?\\s+${N} passed\\b`),
  re(`[,|] ${N} passed\\b`),
  re(`^\\s*${N} pass$`),
  re(`^\\s*${N} passing\\b`),
  re(`^test result: ok\\. ${N} passed`),
  re(`^\\s*${N} (?:examples?|tests?)(?:, \\d+ \\w+)?, 0 failures\\b`),
  re(`Tests run: ${N}, Failures: 0, Errors: 0`),
  re(`^OK \\(${N} tests?`),
  re(`^(?:#|ℹ) pass ${N}$`),
  re(`^Passed!\\s+- Failed:\\s+0, Passed:\\s+${N}`),
  re(`^Ran ${N} tests? in [\\d.]+s$`),
  re(`^(?:FAILED|ok) \\| ${N} passed\\b`),
  re(`^\\d\\d:\\d\\d \\+${N}: All tests passed!`),
  re(`\\bExecuted ${N} out of \\d+ tests?: \\d+ tests? pass`),
  re(`^${N} of \\d+ test suites? \\(.{1,60}\\) passed`),
  re(`^100% tests passed, 0 tests failed out of ${N}`),
  re(`^Executed ${N} tests?, with 0 failures`),
];
/** Go and Cargo name each failing test and print no count. */
const ONE_FAILED = /^(?:--- FAIL: |FAILED tests?\/|test .{1,200} \.\.\. FAILED$)/;
const PACKAGE_FAILED = /^FAIL\t/;
const ONE_PASSED = /^ok {2}\t/;

/** Reads the summary of a test run; undefined when there is none. */
export function countTests(text: string): TestCount | undefined {
  let passed = 0;
  let failed = 0;
  let lines = 0;
  for (const line of tailLines(text, LINES)) {
    if (ONE_FAILED.test(line)) lines++;
    if (PACKAGE_FAILED.test(line)) failed = Math.max(failed, 1);
    if (ONE_PASSED.test(line)) passed = Math.max(passed, 1);
    failed = Math.max(failed, mostIn(FAILED, line));
    passed = Math.max(passed, mostIn(PASSED, line));
  }
  failed = Math.max(failed, lines);
  return failed + passed === 0 ? undefined : { passed, failed };
}

const mostIn = (patterns: readonly RegExp[], line: string): number =>
  Math.max(0, ...patterns.map((pattern) => Number(pattern.exec(line)?.[1] ?? 0)));

/** Lines of compilers and linters that are one error each. */
const ONE: readonly RegExp[] = [
  /\berror TS\d{4,5}:/,
  /^error(?:\[E\d{4}\])?: (?!test failed|aborting|could not compile)/,
  /^[^\s:]{1,200}:\d{1,7}(?::\d{1,7})?: (?:fatal )?error:/,
  /\berror (?:CS|C|LNK|FS|BC)\d{4,5}\b/,
  /^\s{1,8}\d{1,7}:\d{1,7}\s{1,8}error\s/,
  /^\.{0,2}\/?[\w./-]{1,200}\.go:\d{1,7}:\d{1,7}: /,
  /^e: (?:file:\/\/)?\S{1,200}\.kt:/,
  /^\S{1,200}\.py:\d{1,7}:(?:\d{1,7}:)? (?:error:|[A-Z]{1,4}\d{3,4} )/,
];
/** Lines that summarise a failed run. */
const WHOLE =
  /^(?:error: could not compile|error: test failed|make(?:\[\d+\])?: \*\*\* |BUILD FAILED|Build FAILED\.|FAILURE: Build failed|\[ERROR\] (?:Failed to execute goal|BUILD FAILURE)|ninja: build stopped|Found [1-9]\d* errors?|[1-9]\d* errors? generated|[1-9]\d* errors?$|✖ [1-9]\d* problems? \([1-9]|ERROR in |webpack \S{1,20} compiled with [1-9]\d* errors?|\[FAILED\]|FAIL Required test coverage|error during build:|Failed to compile\.|x Build failed)/;

const TEXT_CAP = 200_000;

/** The number of errors that a compiler, a linter or a build printed; 0 for clean or other output. */
export function countErrors(text: string): number {
  let count = 0;
  let isFailed = false;
  eachLine(bothEnds(text, TEXT_CAP), (line) => {
    if (ONE.some((pattern) => pattern.test(line))) count++;
    else if (WHOLE.test(line)) isFailed = true;
    return undefined;
  });
  return count === 0 && isFailed ? 1 : count;
}
