import { Option } from 'commander';
import { asArray, asObject, asString } from '../core/json.ts';
import { relativeTime } from '../text/phrases.ts';
import { declareChangeLessons } from './change-lesson.ts';
import { declareCheckLesson } from './check-lesson.ts';
import { chooseLessons, consolidateLessons } from './consolidate-lessons.ts';
import {
  type CommandContext,
  CommandError,
  type DeclareCommand,
  EXIT,
  type ExitCode,
  type Positional,
} from './context.ts';
import { findLesson } from './find-lesson.ts';
import { rare } from './help.ts';
import { findNewestTurn, type TurnFilter } from './newest-turn.ts';
import { dim, lineWidth } from './print.ts';
import { declareProposeLessons } from './propose-lessons.ts';
import { lessonWaits, printEmptyLibrary, printWaiting, waitingRows } from './say-waiting.ts';
import { type LessonJson, lessonTable, printLesson, reviewRows } from './show-lessons.ts';
import { printExplanation } from './show-why.ts';
import { declareTransfer } from './transfer.ts';
import { withApi } from './with-api.ts';

export const declareLessons: DeclareCommand = (lessons, act) => {
  lessons
    .command('list')
    .description('List lessons.')
    .addOption(
      new Option('--state <state>', 'only lessons in this state').choices([
        'proposed',
        'trial',
        'live',
        'retired',
        'rejected',
      ]),
    )
    .option('--kind <kind>', 'only lessons of this kind, such as skill')
    .option('--all', 'include retired and rejected lessons')
    .option('--archived', 'only lessons that consolidation archived')
    .option('--search <text>', 'only lessons whose name, purpose or text contains these words')
    .action(act(listLessons));
  lessons
    .command('show')
    .argument('<lesson>', 'id, name or title of a lesson, or last')
    .description('Show a lesson: its text, where it comes from, whether it was kept, its history.')
    .action(act(showLesson));
  lessons
    .command('why')
    .argument('<turn>', 'id of a turn, or last: the newest one')
    .option('--agent <name>', 'last: the newest turn of this agent')
    .option('--project <project>', 'last: the newest turn in this project: its folder, label or id')
    .option('--all', 'name every lesson, also where many have the same reason')
    .description('Explain which lessons a turn was shown, which not, and why.')
    .addHelpText('after', '\nExample:\n  $ instar lessons why last\n')
    .action(act(whyLessons));
  declareChangeLessons(lessons, act);
  lessons
    .command('history')
    .description('Show everything that changed what your agents are told, newest first.')
    .action(act(lessonHistory));
  declareRareCommands(lessons, act);
};

const declareRareCommands: DeclareCommand = (lessons, act) => {
  lessons
    .command('review', rare)
    .option('--apply', 'merge duplicates and retire unused lessons')
    .description('Show lessons that need a decision, duplicate another, or are unused.')
    .action(act(reviewLessons));
  lessons
    .command('consolidate', rare)
    .option('--plan', 'only show what it would do, and why')
    .option('--yes', 'do it without asking')
    .description(
      'Merge lessons that say the same, settle contradictions, archive what nothing uses, link the rest.',
    )
    .action(act(consolidateLessons));
  declareCheckLesson(lessons, act);
  declareTransfer(lessons, act);
  declareProposeLessons(lessons, act);
};

interface ListOptions {
  readonly state?: string;
  readonly kind?: string;
  readonly all?: true;
  readonly archived?: true;
  readonly search?: string;
}

const CLOSED_STATES = new Set<unknown>(['retired', 'rejected']);

const listLessons = (options: ListOptions, context: CommandContext): Promise<ExitCode> =>
  withApi(context, async ({ api, lessonsApi }) => {
    const { state, kind, all, archived, search } = options;
    const found = await lessonsApi.list({ ...(state ? { state } : {}), ...(kind ? { kind } : {}) });
    const isListed = await chooseLessons(lessonsApi, archived === true, search);
    const list = found.filter(
      (lesson) =>
        (all || archived || state !== undefined || !CLOSED_STATES.has(lesson.state)) && isListed(lesson),
    );
    const { printer, stdout, env } = context;
    if (printer.json) printer.document(list);
    else if (list.length > 0) printer.table(lessonTable(list, Date.now(), lineWidth(stdout, env)));
    else if (archived || search !== undefined)
      printer.note(
        `no lesson ${archived ? 'is archived' : 'is in use'}${search === undefined ? '' : ` and contains “${search}”`}; see: instar lessons list --all`,
      );
    else if (state === undefined && kind === undefined)
      printEmptyLibrary(context, {
        lessons: found,
        generations: await lessonsApi.generations(),
        learning: await api.learning(),
      });
    else
      printer.note(
        `no lesson is ${[state, kind].filter(Boolean).join(' and of kind ')}; see: instar lessons list --all`,
      );
    return EXIT.ok;
  });

const showLesson = ({ args }: Positional, context: CommandContext): Promise<ExitCode> =>
  withApi(context, async ({ api, lessonsApi }) => {
    const { printer } = context;
    const lesson = await findLesson(lessonsApi, args[0] ?? '');
    if (printer.json) printer.document(lesson);
    else {
      printLesson(printer, lesson, Date.now());
      printWaiting(printer, await lessonWaits(api, new Set([lesson.id])), Date.now());
    }
    return EXIT.ok;
  });

interface WhyOptions extends Positional, TurnFilter {
  readonly all?: true;
}

const whyLessons = ({ args, all, ...filter }: WhyOptions, context: CommandContext): Promise<ExitCode> =>
  withApi(context, async ({ api, lessonsApi }) => {
    const asked = args[0] ?? '';
    const turn = asked === 'last' ? asString((await findNewestTurn(api, filter, context)).id) : asked;
    const explanation = await lessonsApi.why(turn ?? asked);
    if (explanation === undefined)
      throw new CommandError(EXIT.failed, `no turn has the id "${asked}"`, 'see: instar sessions list');
    if (context.printer.json) context.printer.document(explanation);
    else {
      printExplanation(context, explanation, Date.now(), all === true);
      const ids = new Set(asArray(explanation.lessons).map((lesson) => asObject(lesson).id));
      printWaiting(context.printer, await lessonWaits(api, ids), Date.now());
    }
    return EXIT.ok;
  });

/** Every step of the library, newest first, and the way back from each. */
const lessonHistory = (_options: object, context: CommandContext): Promise<ExitCode> =>
  withApi(context, async ({ lessonsApi }) => {
    const list = [...(await lessonsApi.generations())].reverse();
    const { printer } = context;
    if (printer.json) printer.document(list);
    else if (list.length === 0) printer.note('nothing was learned yet');
    else {
      const now = Date.now();
      printer.table([
        ['STEP', 'WHEN', 'BY', 'WHAT'].map(dim),
        ...list.map(({ generation, at, by, reason }) => [
          String(generation),
          relativeTime(Date.parse(String(at)), now),
          by === 'person' ? 'you' : String(by),
          String(reason),
        ]),
      ]);
      printer.note(dim('undo the last: instar undo; go back further: instar generations rollback STEP'));
    }
    return EXIT.ok;
  });

/** Codes of what the review lists itself. */
const IN_REVIEW: ReadonlySet<string> = new Set(['needs-approval', 'not-tested']);

const reviewLessons = ({ apply }: { readonly apply?: true }, context: CommandContext): Promise<ExitCode> =>
  withApi(context, async ({ api, lessonsApi }) => {
    const { changes, ...review } = await lessonsApi.review();
    const { waiting: all } = await api.learning();
    // Lessons that wait for a person are in the review itself.
    const learning = asArray(all).filter((one) => !IN_REVIEW.has(asString(asObject(one).code) ?? ''));
    const count = (changes as readonly LessonJson[]).length;
    const done =
      apply && count > 0
        ? await lessonsApi.change({ changes: changes ?? [], reason: 'library review' })
        : undefined;
    const { printer } = context;
    if (printer.json) printer.document({ ...review, learning, ...(done === undefined ? {} : { done }) });
    else {
      const now = Date.now();
      const rows = [...reviewRows(review, now), ...waitingRows(learning.map(asObject), now)];
      printer.fields(rows);
      if (rows.length === 0) printer.note('nothing waits, and nothing needs a decision');
      if (done !== undefined) printer.line(`done; generation ${String(done.generation)}`);
      else if (count > 0) printer.note('merge and retire these with: instar lessons consolidate');
    }
    return EXIT.ok;
  });
