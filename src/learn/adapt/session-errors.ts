import { digestError } from '../../evidence/digest/digest-error.ts';
import type { AppraisedTurn } from '../../evidence/evidence-reader.ts';
import { readEdits } from '../../evidence/signals/reverted-edits.ts';
import { isCheck, isInline } from '../../evidence/tools/shell-command.ts';
import { isFailedCall, readTurn, type ToolCallReading } from '../../evidence/turn-reading.ts';
import { errorKeyOf } from '../../text/error-key.ts';
import { oneLine } from '../../text/visible-text.ts';
import { callLikeness } from '../live/find-corrected-call.ts';
import { isLook } from '../live/session-material.ts';
import { readToolInput } from '../live/tool-input.ts';

/** A tool call of a session. */
interface SessionCall extends ToolCallReading {
  readonly turn: string;
  /** The check that it runs: a test, a build, the program itself. */
  readonly check?: CheckRun;
  /** The digests of a call that failed, by what makes the errors the same. */
  readonly errors: ReadonlyMap<string, string>;
}

interface CheckRun {
  readonly name: string;
  readonly args: readonly string[];
}

/** An error that a check showed, and a later run of the check did not. */
interface HealedError {
  readonly error: string;
  /** What was done in between, a line each. */
  readonly repair: readonly string[];
  /** The turns of the failure, of the repair and of the check that passed. */
  readonly turns: readonly string[];
}

interface OpenError {
  /** Absent where the output names no error. */
  readonly error?: string;
  readonly turns: readonly string[];
}

interface SessionErrors {
  readonly healed: readonly HealedError[];
  /** Errors of checks that never passed afterwards. */
  readonly open: readonly OpenError[];
  /** Errors that came up three times and more. */
  readonly repeated: readonly {
    readonly error: string;
    readonly times: number;
    readonly turns: readonly string[];
  }[];
  /** Calls that failed and are no checks. */
  readonly faults: readonly {
    readonly tool: string;
    readonly error: string;
    readonly turn: string;
  }[];
}

const OFTEN = 3;
/** `npm run lint` is no corrected `npm run build:all`. */
const PUT_RIGHT = 0.65;
const MOST_TURNS = 8;

/** What went wrong in the calls of a session, and what made it right. Outages and what people rejected are left out. */
export function readSessionErrors(turns: readonly AppraisedTurn[]): SessionErrors {
  const calls = turns.flatMap(({ evidence }) =>
    readTurn(evidence).calls.map((call) => readSessionCall(evidence.turn, call)),
  );
  const failing = calls.flatMap((call, at) => (isFailedCall(call) ? [{ call, at }] : []));
  const lastOf = new Map<string, number>();
  const countOf = new Map<string, string[]>();
  for (const { call, at } of failing)
    for (const key of call.errors.keys()) {
      if (call.check !== undefined) lastOf.set(key, at);
      countOf.set(key, [...(countOf.get(key) ?? []), call.turn]);
    }
  const digestOf = new Map(failing.flatMap(({ call }) => [...call.errors]));
  const ends = [...lastOf].map(([key, at]) => ({ key, at, passed: findPass(calls, at) }));
  const vague = failing.findLast(({ call }) => call.check !== undefined && call.errors.size === 0);
  return {
    healed: ends.flatMap(({ key, at, passed }) => {
      if (passed === undefined) return [];
      const next = calls.findIndex((call, index) => index > at && isSameCheck(call, calls[at]));
      const steps = calls.slice(at + 1, next < 0 ? passed : Math.min(next, passed)).filter(isRepair);
      const end = calls[passed];
      const isPutRight = end !== undefined && isCommandPutRight(calls[at], end);
      const repair = repairLines(isPutRight ? [...steps, end] : steps);
      if (repair.length === 0) return [];
      const ids = [calls[at], ...steps, calls[passed]].flatMap((call) => call?.turn ?? []);
      return [{ error: digestOf.get(key) ?? key, repair, turns: [...new Set(ids)].slice(-MOST_TURNS) }];
    }),
    open: [
      ...ends.flatMap(({ key, at, passed }) =>
        passed === undefined
          ? [{ error: digestOf.get(key) ?? key, turns: calls[at] === undefined ? [] : [calls[at].turn] }]
          : [],
      ),
      ...(vague === undefined || findPass(calls, vague.at) !== undefined
        ? []
        : [{ turns: [vague.call.turn] }]),
    ],
    repeated: [...countOf].flatMap(([key, ids]) =>
      ids.length >= OFTEN
        ? [
            {
              error: digestOf.get(key) ?? key,
              times: ids.length,
              turns: [...new Set(ids)].slice(-MOST_TURNS),
            },
          ]
        : [],
    ),
    faults: failing
      .filter(({ call }) => call.check === undefined)
      .map(({ call }) => ({
        tool: call.part.name,
        error: [...call.errors.values()][0] ?? call.outcome?.reason ?? '',
        turn: call.turn,
      })),
  };
}

function readSessionCall(turn: string, call: ToolCallReading): SessionCall {
  const { view, part, outcome } = call;
  const program = view.programs.findLast((one) => isCheck(one) && !isInline(one));
  const isRun = program !== undefined || outcome?.kind === 'red' || outcome?.kind === 'green';
  const args = program?.args.filter((arg) => !arg.startsWith('-')) ?? [];
  const digests = isFailedCall(call) ? digestError(outcome?.text ?? '') : [];
  return {
    ...call,
    turn,
    ...(isRun ? { check: { name: program?.name ?? part.name, args } } : {}),
    errors: new Map(
      digests.flatMap((digest) => {
        const key = errorKeyOf(digest);
        return key === undefined ? [] : [[key, digest] as const];
      }),
    ),
  };
}

/** The first run after a failure that passed: of the same check, of one that includes it, or of the command put right. */
function findPass(calls: readonly SessionCall[], failed: number): number | undefined {
  const at = calls.findIndex(
    (call, index) =>
      index > failed &&
      (isSameCheck(call, calls[failed]) || isCommandPutRight(calls[failed], call)) &&
      (call.outcome?.kind === 'green' || call.outcome?.kind === 'ok'),
  );
  return at < 0 ? undefined : at;
}

/** The call itself was wrong, not what it checked, and the other one is the same with other arguments. */
function isCommandPutRight(failed: SessionCall | undefined, call: SessionCall): boolean {
  if (failed?.outcome?.kind !== 'fault' || failed.part.name !== call.part.name) return false;
  const [before, after] = [readToolInput(failed.part.arguments), readToolInput(call.part.arguments)];
  return JSON.stringify(before) !== JSON.stringify(after) && callLikeness(before, after) >= PUT_RIGHT;
}

/** `pytest` includes `pytest tests/test_load.py`. */
const isSameCheck = ({ check }: SessionCall, failed: SessionCall | undefined): boolean =>
  check !== undefined &&
  check.name === failed?.check?.name &&
  check.args.every((arg, at) => arg === failed.check?.args[at]);

/** It worked and changed something. An edit that says nothing was made. */
const isRepair = ({ view, part, outcome, check }: SessionCall): boolean =>
  check === undefined &&
  (outcome?.kind === 'ok' || (outcome?.kind === 'unclear' && view.kind === 'edit')) &&
  !isLook(view, part.arguments);

const MOST_LINES = 8;
const LONGEST_COMMAND = 200;
const LONGEST_WORDS = 80;
/** What redaction leaves of a secret. A command with one cannot be run again. */
const SECRET = '[[secret:';

function repairLines(steps: readonly SessionCall[]): readonly string[] {
  const lines = steps.flatMap(({ view, part }) =>
    view.kind === 'edit' ? editLines(part) : commandLine(part.arguments),
  );
  return [...new Set(lines.filter((line) => !line.includes(SECRET)))].slice(-MOST_LINES);
}

function commandLine(text: string): readonly string[] {
  const input = readToolInput(text);
  const line = input.kind === 'command' ? oneLine(input.words.join(' ')) : '';
  return line === '' || line.length > LONGEST_COMMAND ? [] : [line];
}

/** A short replacement with its words, else the name of the file. */
const editLines = (part: SessionCall['part']): readonly string[] =>
  readEdits(part).map(({ path, before, after }) => {
    const file = oneLine(path.split(/[\\/]/).at(-1) ?? '').slice(0, LONGEST_WORDS) || 'a file';
    const isShort = [before, after].every(
      (text) => text.trim() !== '' && text.length <= LONGEST_WORDS && !text.trim().includes('\n'),
    );
    return isShort ? `in ${file}: ${oneLine(before)} → ${oneLine(after)}` : `edit ${file}`;
  });
