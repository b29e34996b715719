import { tailLines } from './lines.ts';

/** Counts from a test runner's summary. */
export interface TestCount {
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
