import { type CheckerCall, isPython, readCheckerCall, readCode } from './checker-call.ts';
import { readShellWords, type Word } from './shell-words.ts';
import type { Step } from './step.ts';

export interface ParsedCommand {
  readonly steps: readonly Step[];
  readonly notes: readonly string[];
}

/** Reads what `eval.command` asks for. Throws, saying what it did not understand: no check is skipped in silence. */
export function parseCommand(line: string): ParsedCommand {
  const calls = readShellWords(line).map(readCall);
  const steps = calls.map(({ step }) => step);
  const strays = calls.flatMap(({ stray }) => stray ?? []);
  return strays.length === 0 ? { steps, notes: [] } : mendStray(steps, strays);
}

function readCall([program, first, ...rest]: readonly Word[]): CheckerCall {
  const [called, script] = [program, first].map((word) =>
    word === undefined || 'text' in word ? word?.text : '$(…)',
  );
  if (!isPython(called)) throw new Error(`it calls ${called}, not python`);
  if (script === '-c') return { step: { kind: 'python', code: readCode(rest) } };
  const [, name] = /^(?:\.\/)?scripts\/check_(\w+)\.py$/.exec(script ?? '') ?? [];
  const call = name === undefined ? undefined : readCheckerCall(name, rest);
  if (call === undefined)
    throw new Error(`python is given ${script ?? 'nothing'}: neither -c nor one of the five checkers`);
  return call;
}

/** The published data twice gives the count of files to the check that follows the one which counts them. */
function mendStray(steps: readonly Step[], strays: readonly number[]): ParsedCommand {
  const [minCount = 1] = strays;
  const counting = steps.filter((step) => step.kind === 'filename' && 'folder' in step);
  if (strays.length > 1 || counting.length !== 1)
    throw new Error(
      'check_done_log is given --min-count, and no single check_filename --dir is there to mean it',
    );
  return {
    steps: steps.map((step) => (step === counting[0] ? { ...step, minCount } : step)),
    notes: [
      `check_done_log is given --min-count ${minCount} but counts no files: read as meant for check_filename`,
    ],
  };
}
