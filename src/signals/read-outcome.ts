import type { ToolOutcome } from '../core/evidence.ts';
import { isCheck, isInline, isProgram, isQuestion, isReading } from './command-role.ts';
import { countErrors } from './count-errors.ts';
import { countTests } from './count-tests.ts';
import { readExitCode } from './exit-code.ts';
import { findCommandFault, findToolFault, hasCrashed } from './find-fault.ts';
import { findOutage } from './find-outage.ts';
import { headLines } from './lines.ts';
import type { CallView } from './read-call.ts';
import { readEnvelope } from './read-envelope.ts';
import { readInterruption } from './read-interruption.ts';

/**
 * The outcome of a call.
 * `ok`: the tool reports success. `green`: checks passed. `fault`: the call was wrong. `red`: the call was right, and
 * the checked code is broken. `outage`: it failed for external reasons. `rejected`: a person did not allow it.
 * `unclear`: the text does not decide it.
 */
export type OutcomeKind = 'ok' | 'green' | 'fault' | 'red' | 'outage' | 'rejected' | 'unclear';

export interface CallOutcome {
  readonly kind: OutcomeKind;
  /** Short; fixed wording. */
  readonly reason: string;
  /** The tool's output without the client's wrapping; for the digest. */
  readonly text: string;
  /** The reason of the person who rejected it. */
  readonly words?: string;
}

/** Exit codes of a process that was ended from outside (a time limit, a signal, the kernel). */
const ENDED: ReadonlyMap<number, string> = new Map([
  [124, 'timed out'],
  [130, 'interrupted'],
  [137, 'killed'],
  [143, 'terminated'],
]);
/** The reason when a tool reports only that it failed. */
const VAGUE = 'the tool says so';
const CURL_OUTAGES = new Set([6, 28, 35, 52, 56]);
const DONE =
  /^(?:The file .{1,400} has been (?:updated|created)|File (?:created|written|updated) successfully|Successfully (?:replaced|wrote|created|edited|applied)|Success\. Updated the following files|Edit applied successfully|Wrote file successfully|Created new file)/;

/** Reads a result in its client's format. Words like "error" in the content do not count, only what the tool reports. */
export function readOutcome(call: CallView, outcome: ToolOutcome): CallOutcome {
  const interruption = readInterruption(outcome.text);
  if (interruption !== undefined) return { ...interruption, text: outcome.text };
  const envelope = readEnvelope(outcome.text, call.kind);
  const text = envelope?.text ?? unwrap(outcome.text);
  const code = envelope?.exitCode ?? (call.kind === 'read' ? undefined : readExitCode(text, isShown(call)));
  const toolFault = call.kind === 'shell' && code !== undefined ? undefined : faultOf(call, outcome, text);
  const isHidden = code === 0 && isMasked(call);
  const said = isHidden ? undefined : (envelope?.failed ?? (code === undefined ? undefined : code !== 0));
  const failed = outcome.isError === true || (said ?? toolFault !== undefined);
  const checked = call.kind === 'shell' || call.kind === 'other' ? readChecks(call, text) : undefined;
  if (failed) return { ...readFailure(call, text, code, toolFault), text };
  if (checked === 'red') return { kind: 'red', reason: 'checks failed', text };
  if (said === undefined && call.kind === 'shell') {
    const plain = readPlainOutput(call, text);
    if (plain !== undefined) return { ...plain, text };
  }
  if (checked === 'green') return { kind: 'green', reason: 'checks passed', text };
  const isDone = said === false || outcome.isError === false || DONE.test(text.slice(0, 600));
  return isDone
    ? { kind: 'ok', reason: code === 0 ? 'exit code 0' : 'the tool says so', text }
    : { kind: 'unclear', reason: '', text };
}

const unwrap = (text: string): string => {
  const from = text.startsWith('<tool_use_error>') ? '<tool_use_error>'.length : 0;
  return text.slice(from).replace('</tool_use_error>', '');
};

/** The content of a file may begin with any words; an error message instead of it is short. */
function faultOf(call: CallView, outcome: ToolOutcome, text: string): string | undefined {
  if (outcome.text.startsWith('<tool_use_error>')) return findToolFault(text) ?? VAGUE;
  const fault = findToolFault(text);
  if (
    fault === undefined &&
    call.kind === 'other' &&
    /^(?:Error|ERROR): {1,2}\S/.test(text) &&
    text.length < 4000
  )
    return VAGUE;
  return call.kind === 'read' && text.length > 1500 ? undefined : fault;
}

type Reading = Pick<CallOutcome, 'kind' | 'reason'>;

function readFailure(
  call: CallView,
  text: string,
  code: number | undefined,
  toolFault: string | undefined,
): Reading {
  const fault = toolFault ?? findCommandFault(text);
  const isNamed = fault !== undefined && fault !== VAGUE;
  const tests = countTests(text);
  const isRed = call.programs.some(isCheck) && !call.programs.some(isInline);
  if (code === 1 && isAsking(call) && fault === undefined && !tests?.failed && !hasCrashed(text, true))
    return { kind: 'unclear', reason: 'the answer is no' };
  if (fault === 'no-such-file' && isProbe(call)) return { kind: 'unclear', reason: 'not all files exist' };
  const ended = code === undefined ? undefined : ENDED.get(code);
  if (ended !== undefined) return { kind: 'outage', reason: ended };
  const outage = !isNamed && !tests?.failed ? findOutage(text) : undefined;
  if (outage !== undefined) return { kind: 'outage', reason: outage };
  if (call.programs.at(-1)?.name === 'curl' && code !== undefined && CURL_OUTAGES.has(code))
    return { kind: 'outage', reason: `curl ${code}` };
  const said = fault ?? (code === undefined ? VAGUE : `exit code ${code}`);
  const isWrongCall =
    fault === 'command-not-found' || fault === 'missing-script' || fault === 'unknown-option';
  return {
    kind: isRed && !isWrongCall ? 'red' : 'fault',
    reason: tests?.failed ? `${tests.failed} tests failed` : said,
  };
}

/** Reads the summary of a test run or a compiler, also when a pipe hid the exit code. */
function readChecks(call: CallView, text: string): 'red' | 'green' | undefined {
  const isRun =
    call.kind === 'shell'
      ? call.programs.some(isCheck)
      : /(?:^|[_-])(?:tests?|lint|build|typecheck)(?:[_-]|$)/i.test(call.name);
  if (!isRun) return undefined;
  const tests = countTests(text);
  const isBuild = !call.programs.some(isProgram);
  if (tests?.failed || (isBuild && countErrors(text) > 0)) return 'red';
  return tests === undefined ? undefined : 'green';
}

/** The exit code is that of the last pipeline; with a test program (`grep`) in it, 1 means "no". */
function isAsking({ programs }: CallView): boolean {
  const from = programs.findLastIndex(({ joint }) => joint !== '|');
  return programs.slice(Math.max(0, from)).some(isQuestion);
}

/** The exit code 0 is that of a `true`, an `echo` or a `tail` after the program. */
function isMasked({ programs }: CallView): boolean {
  const last = programs.at(-1);
  const isHiding = last !== undefined && last.joint !== '&&' && last.joint !== '' && isReading(last);
  return isHiding && !programs.every(isReading);
}

/** Checks which of several files exist. */
const isProbe = ({ programs }: CallView): boolean =>
  programs.length > 0 &&
  programs.every(({ name, args }) => {
    const names = args.filter((arg) => !arg.startsWith('-'));
    return (name === 'ls' || name === 'stat') && (names.length > 1 || names.some((one) => one.includes('*')));
  });

/** The output is existing content. */
const isShown = ({ programs }: CallView): boolean => programs.length > 0 && programs.every(isReading);

/** Without an exit code the output decides, unless it only shows existing content. */
function readPlainOutput(call: CallView, text: string): Reading | undefined {
  const [first = ''] = headLines(text, 1);
  const isOwnWord = call.programs.some(
    ({ name }) => first.startsWith(`${name}: `) || (name === 'git' && first.startsWith('fatal: ')),
  );
  if (isShown(call) && !isOwnWord) return undefined;
  const fault = findCommandFault(text);
  if (fault === undefined && !hasCrashed(isShown(call) ? first : text, !call.programs.some(isProgram)))
    return undefined;
  const outage = findOutage(text);
  if (outage !== undefined && fault === undefined) return { kind: 'outage', reason: outage };
  const isRed = fault === undefined && call.programs.some(isCheck) && !call.programs.some(isInline);
  return { kind: isRed ? 'red' : 'fault', reason: fault ?? 'it crashed' };
}
