import { keywordsOf } from '../../text/topic-words.ts';
import { truncateEnd } from '../../text/truncate.ts';
import { oneLine } from '../../text/visible-text.ts';
import { taskLine } from '../distiller/write-lesson.ts';
import { nameExperience } from './draft-experience.ts';
import type { CallNote } from './find-corrected-call.ts';
import type { Procedure } from './find-procedure.ts';
import type { ToolAttempt } from './live-material.ts';
import { callText, inlineCode, readToolInput } from './tool-input.ts';

const MOST_STEPS = 12;
const MOST_FILES = 4;
const FEWEST_STEPS = 2;
const MOST_FAILED = 4;
const LONGEST_DESCRIPTION = 280;

/**
 * A procedure in a fixed frame, with its calls letter by letter. Undefined where it would not be one: no proof, no way that
 * failed, a single step, a step that cannot be quoted whole, or so many edited files that the work was the edits.
 */
export function writeProcedure({ steps, failed, proof }: Procedure): CallNote | undefined {
  const tried = failed.flatMap((one) => {
    const call = quoteCall(one);
    return call === undefined
      ? []
      : [{ call, error: one.digest === undefined ? undefined : inlineCode(one.digest) }];
  });
  const done = steps.map((step) => (step.path === undefined ? quoteCall(step) : inlineCode(step.path)));
  const files = steps.filter(({ path }) => path !== undefined);
  const calls = done.filter((_, at) => steps[at]?.path === undefined);
  const [first] = tried;
  if (proof?.proof === undefined || first === undefined || done.includes(undefined)) return undefined;
  if (calls.length < FEWEST_STEPS || files.length > MOST_FILES || steps.length > MOST_STEPS) return undefined;
  const lines = steps.map((step, at) => `${at + 1}. ${step.path === undefined ? '' : 'Change '}${done[at]}`);
  const task = taskLine(proof.task ?? '');
  return {
    name: `how-to-${nameExperience(task === '' ? callText(proof, readToolInput(proof.input)) : task)}`,
    description: describe(
      calls.flatMap((call) => call ?? []),
      first.call,
    ),
    content: [
      'This worked here, in this order:',
      lines.join('\n'),
      `The last of them showed it: ${proof.proof}.`,
      'This did not work:',
      tried
        .slice(0, MOST_FAILED)
        .map(({ call, error }) => `- Not ${call}${error === undefined ? '' : `, which ended with ${error}`}`)
        .join('\n'),
    ].join('\n\n'),
    keywords: keywordsOf(
      `${task} ${calls.join(' ')} ${failed.map(({ digest }) => digest ?? '').join(' ')}`,
      8,
    ),
  };
}

/** The point in one line: the commands that worked, and the one that did not. */
function describe(calls: readonly string[], failed: string): string {
  const all = `${calls.join(', then ')} worked here, not ${failed}.`;
  if (all.length <= LONGEST_DESCRIPTION) return all;
  return truncateEnd(
    `${calls.at(-1)} worked here, after ${calls[0]}; ${failed} did not.`,
    LONGEST_DESCRIPTION,
  );
}

/** A call as code, letter by letter; undefined for scripts of several lines and for what does not fit. */
function quoteCall(attempt: ToolAttempt): string | undefined {
  const input = readToolInput(attempt.input);
  const text = callText(attempt, input);
  // Blanks inside of a command may matter: what cannot be quoted as it was sent is not quoted.
  const isExact =
    input.kind !== 'command' || !/[ \t]{2,}|\\[nt]/.test(attempt.input.replace(/":\s+"/g, '":"'));
  return oneLine(text) === '' || !isExact ? undefined : inlineCode(text);
}
