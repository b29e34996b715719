import { type ErrorFinding, type LineReader, readPlace } from './finding.ts';

const FAILING = /^(?:--- FAIL: |not ok \d|=== RUN |Failed example|File "[^"]{1,300}", line \d{1,7}, in )/;
const GO_CLAIM = /^([\w./-]{1,200}_test\.go):(\d{1,7}): /;
/** One line with the place of a failed expectation, as the test runners of several languages print it. */
const CLAIMS: readonly RegExp[] = [
  /^([\w./+-]{1,300}\.(?:c|cc|cpp|cxx|h|hpp)):(\d{1,7}): (?:Failure|FAILED:)/,
  /\(([\w.-]{1,120}\.scala):(\d{1,7})\)$/,
  /^── (?:Failure|Error) \(([\w./-]{1,200}\.R):(\d{1,7})/,
  /^([\w./-]{1,300}_test\.dart) (\d{1,7}):\d{1,7} {2,}/,
];
const DOCTEST = /^File "([^"]{1,300})", line (\d{1,7}), in \S{1,120}$/;

/** Test runners that print no stack trace: the location of the failed assertion. */
export function createTestReader(): LineReader {
  const findings: ErrorFinding[] = [];
  let isFailing = false;
  let doctest: ErrorFinding | undefined;
  let tap: { readonly place: ReturnType<typeof readPlace> } | undefined;
  const add = (finding: ErrorFinding) => {
    if (findings.length < 40) findings.push(finding);
  };
  return {
    line: (text) => {
      const trimmed = text.trim();
      if (trimmed === '') return;
      if (FAILING.test(trimmed)) isFailing = true;
      const claim = claimOf(trimmed, isFailing);
      if (claim !== undefined) add(claim);
      const named = DOCTEST.exec(trimmed);
      if (named?.[1] !== undefined) doctest = { kind: 'TestFailure', file: named[1], line: Number(named[2]) };
      else if (trimmed === 'Failed example:' && doctest !== undefined) add(doctest);
      if (isFailing && trimmed.startsWith("location: '")) tap = { place: readPlace(trimmed.slice(0, -1), 2) };
      const name = tap === undefined ? undefined : /^name: '(\w{1,60})'$/.exec(trimmed)?.[1];
      if (name !== undefined) {
        add({ kind: name, ...tap?.place });
        tap = undefined;
        isFailing = false;
      }
      const file = trimmed.startsWith('FAIL ') ? readFailedFile(trimmed) : undefined;
      if (file !== undefined) add(file);
    },
    found: () => findings,
  };
}

function claimOf(trimmed: string, isFailing: boolean): ErrorFinding | undefined {
  for (const pattern of CLAIMS) {
    const match = pattern.exec(trimmed);
    if (match?.[1] !== undefined) return { kind: 'TestFailure', file: match[1], line: Number(match[2]) };
  }
  const go = isFailing ? GO_CLAIM.exec(`${trimmed} `) : null;
  return go?.[1] === undefined ? undefined : { kind: 'TestFailure', file: go[1], line: Number(go[2]) };
}

/** Jest and Vitest: `FAIL src/cart.test.ts > adds`. */
function readFailedFile(trimmed: string): ErrorFinding | undefined {
  const file = /^FAIL {1,3}([\w./@-]{1,200}\.(?:test|spec)\.[cm]?[jt]sx?)/.exec(trimmed)?.[1];
  return file === undefined ? undefined : { kind: 'TestFailure', file };
}
