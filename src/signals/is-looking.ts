import { isChange } from './command-role.ts';
import { bothEnds } from './lines.ts';
import { readCall } from './read-call.ts';
import type { TurnReading } from './read-turn.ts';

/** Of longer texts only the start and the end are read. */
const WORDS_CAP = 3000;

/** The task is to examine something broken, … */
const ABOUT_A_FAULT =
  /\b(?:fail(?:s|ed|ing|ures?)?|broken|red|crash(?:es|ed|ing)?|errors?(?! (?:handling|messages?|pages?|boundar|codes?|class|types?|states?))|exceptions?(?! (?:handling|class))|bugs?|flaky|reproduce|investigate|debug|diagnos\w{1,6}|why|which tests?|find out|doesn't work|does not work|hangs?)\b|fehler|kaputt|schlägt fehl|falla|échoue|失败|报错|错误/i;
/** … or the agent announces that it only examines. */
const ONLY_LOOKING =
  /\b(?:baseline|reproduce|see (?:the failures?|what fails|which|how it fails|it fail|them fail|red)|before (?:changing|any change|i change|making))\b/i;
/** A failing check is the expected result. */
const RED_WANTED =
  /\b(?:tdd|test[- ]first|test[- ]driven|red[- ]green|failing test|test that fails|(?:should|must|will|has to|have to|expected to|expect it to|expect them to|expect this to) (?:fail|be rejected|exit with [1-9]|throw)|expect(?:ed)? (?:a )?(?:failure|red)|see (?:it|them) fail|see red)\b/i;
const TEST_PATH = /(?:^|[/_.-])(?:tests?|specs?|__tests__)(?:[/_.-]|$)/i;

/**
 * Whether a failed check says nothing about this turn: the agent announced the failure, or nothing has been changed yet
 * and the task is about something broken, or only tests were written because the task asked for tests first. A check
 * that fails before any change shows the initial state, not the result of the turn.
 */
export function isLooking({ evidence, said, calls }: TurnReading): boolean {
  const changed = changedPaths(evidence.earlier, calls);
  const task = bothEnds(evidence.task, WORDS_CAP);
  const words = bothEnds(said, WORDS_CAP);
  if (RED_WANTED.test(words)) return true;
  if (changed.length === 0)
    return RED_WANTED.test(task) || ABOUT_A_FAULT.test(task) || ONLY_LOOKING.test(words);
  return RED_WANTED.test(task) && changed.every((path) => TEST_PATH.test(path));
}

/** The files changed so far; an empty name stands for a change to an unknown file. */
function changedPaths(
  earlier: TurnReading['evidence']['earlier'],
  calls: TurnReading['calls'],
): readonly string[] {
  const views = [...earlier.filter(({ failed }) => !failed).map(readCall), ...calls.map(({ view }) => view)];
  return views.flatMap((view) => {
    if (view.kind === 'edit') return view.paths.length > 0 ? view.paths : [''];
    return view.programs.some(isChange) ? [''] : [];
  });
}
