import { type Finding, type LineReader, readPlace } from './finding.ts';

/** Test runners that print no stack trace: the location of the failed assertion. */
export function createTestReader(): LineReader {
  const findings: Finding[] = [];
  let isFailing = false;
  let tap: { readonly place: ReturnType<typeof readPlace> } | undefined;
  return {
    line: (text) => {
      const trimmed = text.trim();
      if (/^--- FAIL: |^Failure\/Error:|^not ok \d/.test(trimmed)) isFailing = true;
      const claim = isFailing ? readClaim(trimmed) : undefined;
      if (claim !== undefined) {
        findings.push(claim);
        isFailing = false;
      }
      if (isFailing && trimmed.startsWith("location: '")) tap = { place: readPlace(trimmed.slice(0, -1), 2) };
      const name = tap === undefined ? undefined : /^name: '(\w{1,60})'$/.exec(trimmed)?.[1];
      if (name !== undefined) {
        findings.push({ kind: name, ...tap?.place });
        tap = undefined;
        isFailing = false;
      }
      const file = readPytest(text) ?? readFailedFile(trimmed);
      if (file !== undefined) findings.push(file);
    },
    found: () => findings,
  };
}

/** Go and RSpec name the line of the test. */
function readClaim(trimmed: string): Finding | undefined {
  const place =
    /^([\w./-]{1,200}_test\.go):(\d{1,7}): /.exec(trimmed) ?? /^# (\S{1,200}\.rb):(\d{1,7}):in/.exec(trimmed);
  return place?.[1] === undefined
    ? undefined
    : { kind: 'TestFailure', file: place[1], line: Number(place[2]) };
}

function readPytest(text: string): Finding | undefined {
  const failed = /^FAILED (\S{1,200}\.py)::\S{1,200}(?: - (\w{1,60}))?/.exec(text);
  if (failed?.[1] === undefined) return undefined;
  const name = /(?:Error|Exception)$/.test(failed[2] ?? '') ? failed[2] : undefined;
  return { kind: name ?? 'TestFailure', file: failed[1] };
}

/** Jest and Vitest: `FAIL src/cart.test.ts > adds`. */
function readFailedFile(trimmed: string): Finding | undefined {
  const file = /^FAIL {1,3}([\w./@-]{1,200}\.(?:test|spec)\.[cm]?[jt]sx?)/.exec(trimmed)?.[1];
  return file === undefined ? undefined : { kind: 'TestFailure', file };
}
