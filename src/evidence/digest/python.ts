import { deepestOwn, type ErrorFinding, type Frame, type LineReader } from './finding.ts';

const FILE_LINE = /^(\s{0,40})File "([^"]{1,400})", line (\d{1,7})/;
const RAISED = /^([A-Za-z_][\w.]{0,120})(?::|$)/;
const CHAINED = /^(?:During handling of the above exception|The above exception was the direct cause)/;

/** The text below the frames is arbitrary; only a class name is used. */
const isClass = (kind: string): boolean => /(?:^|\.)(?:[A-Z]\w{0,80}|timeout|error|gaierror)$/.test(kind);
const indentOf = (text: string): number => text.length - text.trimStart().length;

/** Python: frames first, the deepest last; the exception follows, indented less than its frames. */
export function createPythonReader(): LineReader {
  const findings: ErrorFinding[] = [];
  let frames: Frame[] = [];
  let depth = 0;
  let isChained = false;
  /** Where the current chain of exceptions begins. */
  let chain = 0;
  let isGroup = false;
  const add = (finding: ErrorFinding) => {
    // The last exception of a chain is the one that ended the program; a group is only the sum of its members.
    if (isChained || isGroup) findings.splice(chain, 0, finding);
    else if (findings.length < 40) {
      chain = findings.length;
      findings.push(finding);
    }
    isChained = false;
    isGroup = /ExceptionGroup$/.test(finding.kind);
  };
  return {
    line: (text) => {
      const trimmed = text.trimStart();
      if (CHAINED.test(trimmed)) isChained = true;
      if (text.includes('Traceback (most recent call last)') || trimmed === 'Failed example:') frames = [];
      const place = trimmed.startsWith('File "') ? FILE_LINE.exec(text) : null;
      if (place?.[2] !== undefined) {
        depth = place[1]?.length ?? 0;
        frames.unshift({ file: place[2], line: Number(place[3]) });
      } else if (frames.length > 0 && indentOf(text) <= Math.max(0, depth - 2)) {
        const kind = RAISED.exec(trimmed)?.[1];
        if (kind === undefined) return;
        add({ kind: isClass(kind) ? kind : 'Exception', ...deepestOwn(frames) });
        frames = [];
      }
    },
    found: () => findings,
  };
}

const SECTION = /^(?:_{3,80} .{1,200} _{3,80}$|={3,80} |-{3,80} Captured )/;
const IN = /^(\S{1,300}\.py):(\d{1,7}): in /;
const LAST = /^(\S{1,300}\.py):(\d{1,7}): ([A-Za-z_][\w.]{0,80})?(?: \S|:|$)/;
const CALLED = /^(\S{1,300}\.py):(\d{1,7}):\s{0,2}$/;
const RAISED_BY_E = /^E {2,8}([A-Za-z_][\w.]{0,80})(?::|$)/;
const MISSING_FIXTURE = /^E {2,8}fixture '[^']{1,80}' not found/;
const FIXTURE_FILE = /^file (\S{1,300}\.py), line (\d{1,7})$/;
const SUMMARY = /^(?:FAILED|ERROR) (\S{1,300}\.py)(?:::\S{1,200})?(?: - ([\w.]{1,80}))?/;

/** pytest: frames as `file:line: in name`, the exception in lines that begin with E, the place of the failure last. */
export function createPytestReader(): LineReader {
  const findings: ErrorFinding[] = [];
  let frames: Frame[] = [];
  let kind: string | undefined;
  let isInside = false;
  const end = () => {
    if (kind !== undefined && frames.length > 0 && findings.length < 40)
      findings.push({ kind, ...deepestOwn(frames) });
    frames = [];
    kind = undefined;
  };
  return {
    line: (text) => {
      if (SECTION.test(text)) {
        end();
        isInside = text.startsWith('_') || /^=+ (?:FAILURES|ERRORS) =/.test(text);
        return;
      }
      const summed = SUMMARY.exec(text);
      if (summed?.[1] !== undefined) {
        const name = /(?:Error|Exception|Failed|Exit)$/.test(summed[2] ?? '') ? summed[2] : undefined;
        findings.push({
          kind: name ?? (summed[2] === 'assert' ? 'AssertionError' : 'TestFailure'),
          file: summed[1],
        });
        return;
      }
      if (!isInside) return;
      if (text.startsWith('E ')) {
        if (MISSING_FIXTURE.test(text)) kind = 'fixture not found';
        else
          kind ??= /^E {2,8}assert /.test(text) ? 'AssertionError' : className(RAISED_BY_E.exec(text)?.[1]);
        return;
      }
      const called = IN.exec(text) ?? CALLED.exec(text) ?? FIXTURE_FILE.exec(text);
      if (called?.[1] !== undefined) frames.unshift({ file: called[1], line: Number(called[2]) });
      const last = called === null ? LAST.exec(text) : null;
      if (last?.[1] === undefined) return;
      kind = className(last[3]) ?? (last[3] === 'assert' ? 'AssertionError' : kind);
      frames.unshift({ file: last[1], line: Number(last[2]) });
      end();
    },
    found: () => {
      end();
      return findings;
    },
  };
}

const className = (name: string | undefined): string | undefined =>
  name !== undefined && isClass(name) ? name : undefined;
