import { Option } from 'commander';
import { ApiError } from '../api/remote-api.ts';
import type { LessonsApi } from '../core/daemon-api.ts';
import { asArray, asObject, asString, type JsonObject } from '../core/json.ts';
import { declareChangeLessons } from './change-lesson.ts';
import { declareCheckLesson } from './check-lesson.ts';
import { chooseLessons, consolidateLessons } from './consolidate-lessons.ts';
import { type DeclareCommand, failure, type Positional } from './context.ts';
import { findLesson } from './find-lesson.ts';
import { lessonHistory } from './generations.ts';
import { rare } from './help.ts';
import { findNewestTurn, type TurnFilter } from './newest-turn.ts';
import { lineWidth } from './print.ts';
import { declareProposeLessons } from './propose-lessons.ts';
import { lessonWaits, printEmptyLibrary, printWaiting, waitingRows } from './say-waiting.ts';
import { type LessonJson, printLesson, printLessons, reviewRows } from './show-lessons.ts';
import { printExplanation } from './show-why.ts';
import { onApi } from './with-api.ts';

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
    .option('--apply', 'merge duplicates and drop unused lessons')
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
  declareProposeLessons(lessons, act);
};

interface ListOptions {
  readonly state?: string;
  readonly kind?: string;
  readonly all?: true;
  readonly archived?: true;
  readonly search?: string;
}

/** The history of the library; none where the key is of a member, who may not read it. */
const readableGenerations = (lessonsApi: LessonsApi): Promise<readonly JsonObject[]> =>
  lessonsApi.generations().catch((error: unknown) => {
    if (error instanceof ApiError && error.status === 403) return [];
    throw error;
  });

const CLOSED_STATES = new Set<unknown>(['retired', 'rejected']);

const listLessons = onApi(async (options: ListOptions, context) => {
  const { api, lessonsApi, printer, stdout, env } = context;
  const { state, kind, all, archived, search } = options;
  const found = await lessonsApi.list({ ...(state ? { state } : {}), ...(kind ? { kind } : {}) });
  const isListed = await chooseLessons(lessonsApi, archived === true, search);
  const list = found.filter(
    (lesson) =>
      (all || archived || state !== undefined || !CLOSED_STATES.has(lesson.state)) && isListed(lesson),
  );
  printer.document(list);
  if (list.length > 0) printLessons(printer, list, lineWidth(stdout, env));
  else if (archived || search !== undefined)
    printer.note(
      `no lesson ${archived ? 'is archived' : 'is in use'}${search === undefined ? '' : ` and contains “${search}”`}; see: instar lessons list --all`,
    );
  else if (state === undefined && kind === undefined)
    printEmptyLibrary(context, {
      lessons: found,
      generations: await readableGenerations(lessonsApi),
      learning: await api.learning(),
    });
  else
    printer.note(
      `no lesson is ${[state, kind].filter(Boolean).join(' and of kind ')}; see: instar lessons list --all`,
    );
});

const showLesson = onApi(async ({ args }: Positional, { api, lessonsApi, printer }) => {
  const lesson = await findLesson(lessonsApi, args[0] ?? '');
  printer.document(lesson);
  printLesson(printer, lesson, Date.now());
  printWaiting(printer, await lessonWaits(api, new Set([lesson.id])), Date.now());
});

interface WhyOptions extends Positional, TurnFilter {
  readonly all?: true;
}

const whyLessons = onApi(async ({ args, all, ...filter }: WhyOptions, context) => {
  const { api, lessonsApi } = context;
  const asked = args[0] ?? '';
  const turn = asked === 'last' ? asString((await findNewestTurn(api, filter, context)).id) : asked;
  const explanation = await lessonsApi.why(turn ?? asked);
  if (explanation === undefined) throw failure(`no turn has the id "${asked}"`, 'see: instar sessions list');
  context.printer.document(explanation);
  printExplanation(context, explanation, Date.now(), all === true);
  const ids = new Set(asArray(explanation.lessons).map((lesson) => asObject(lesson).id));
  printWaiting(context.printer, await lessonWaits(api, ids), Date.now());
});

/** Codes of what the review lists itself. */
const IN_REVIEW: ReadonlySet<string> = new Set(['needs-approval', 'not-tested']);

const reviewLessons = onApi(async ({ apply }: { readonly apply?: true }, { api, lessonsApi, printer }) => {
  const { changes, ...review } = await lessonsApi.review();
  const { waiting: all } = await api.learning();
  // Lessons that wait for a person are in the review itself.
  const learning = asArray(all).filter((one) => !IN_REVIEW.has(asString(asObject(one).code) ?? ''));
  const count = (changes as readonly LessonJson[]).length;
  const done =
    apply && count > 0
      ? await lessonsApi.change({ changes: changes ?? [], reason: 'library review' })
      : undefined;
  printer.document({ ...review, learning, ...(done === undefined ? {} : { done }) });

  const now = Date.now();
  const rows = [...reviewRows(review, now), ...waitingRows(learning.map(asObject), now)];
  printer.fields(rows);
  if (rows.length === 0) printer.note('nothing waits, and nothing needs a decision');
  if (done !== undefined) printer.line(`done; generation ${String(done.generation)}`);
  else if (count > 0) printer.note('merge and drop these with: instar lessons consolidate');
});
