import { type Command, Option } from 'commander';
import { neutralise, neutraliseLine } from '../base/printable.ts';
import type { LessonsApi } from '../core/daemon-api.ts';
import { asArray, asObject, asString } from '../core/json.ts';
import { closestWord } from '../text/closest-word.ts';
import { declareCheckLesson } from './check-lesson.ts';
import { confirmOwner } from './confirm-owner.ts';
import { chooseLessons, consolidateLessons, restoreChange } from './consolidate-lessons.ts';
import {
  type CommandAction,
  type CommandContext,
  CommandError,
  type DeclareCommand,
  EXIT,
  type ExitCode,
  type Positional,
} from './context.ts';
import { declareLessonFiles } from './lesson-files.ts';
import { findNewestTurn, type TurnFilter } from './newest-turn.ts';
import { lineWidth } from './print.ts';
import { declareProposeLessons } from './propose-lessons.ts';
import { lessonWaits, printEmptyLibrary, printWaiting, waitingRows } from './say-waiting.ts';
import { declareShareLesson } from './share-lesson.ts';
import { type LessonJson, lessonTable, printLesson, reviewRows, titleText } from './show-lessons.ts';
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
    .argument('<lesson>', 'id, name or title of a lesson')
    .description('Show a lesson’s text, evidence, effect and history.')
    .action(act(showLesson));
  lessons
    .command('why')
    .argument('<turn>', 'id of a turn, or `last` for the newest one')
    .option('--agent <name>', 'last: the newest turn of this agent')
    .option('--project <project>', 'last: the newest turn in this project: its folder, label or id')
    .option('--all', 'name every lesson, also where many have the same reason')
    .description('Explain which lessons a turn was shown, which not, and why.')
    .addHelpText('after', '\nExample:\n  $ instar lessons why last\n')
    .action(act(whyLessons));
  lessons
    .command('review')
    .option('--apply', 'merge duplicates and retire unused lessons')
    .description(
      'Show what waits and why, and lessons that need a decision, duplicate another, or are unused.',
    )
    .action(act(reviewLessons));
  lessons
    .command('consolidate')
    .option('--plan', 'only show what it would do, and why')
    .option('--yes', 'do it without asking')
    .description(
      'Merge lessons that say the same, settle contradictions, archive what nothing uses, link the rest.',
    )
    .action(act(consolidateLessons));
  const changing = (name: string, description: string): Command =>
    lessons
      .command(name)
      .argument('<lesson>', 'id, name or title of a lesson')
      .option('--reason <text>', 'reason, for the history')
      .description(description);
  changing('approve', 'Approve a lesson: proposed becomes trial, trial becomes live.')
    .option('--live', 'make it live at once, without a trial')
    .option('--hash <hash>', 'only if its text is unchanged (the hash that `lessons show` prints)')
    .action(
      act(
        changeLesson(
          (lesson, { live }) => ({
            op: 'move',
            to: live || lesson.state === 'trial' ? 'live' : 'trial',
          }),
          CONFIRM_APPROVAL,
        ),
      ),
    );
  changing('reject', 'Reject a proposed lesson.')
    .option('--hash <hash>', 'only if its text is unchanged')
    .action(act(changeLesson(() => ({ op: 'move', to: 'rejected' }))));
  changing('retire', 'Stop using a lesson; it is kept and can be approved again.').action(
    act(changeLesson((_, { reason }) => ({ op: 'retire', reason: reason ?? 'retired by a person' }))),
  );
  changing('restore', 'Bring back an archived or retired lesson, in the state that it had.').action(
    act(changeLesson(restoreChange, CONFIRM_APPROVAL)),
  );
  changing('pin', 'Keep a lesson in use whatever its age and measured effect.')
    .option('--off', 'remove the pin')
    .action(act(changeLesson((_, { off }) => ({ op: 'mark', pinned: !off }))));
  changing('freeze', 'Forbid learners to change a lesson.')
    .option('--off', 'allow changes again')
    .action(act(changeLesson((_, { off }) => ({ op: 'mark', frozen: !off }))));
  changing('always', 'Show a lesson to every task in its scope, whether or not it fits.')
    .option('--off', 'only to tasks that it fits')
    .action(act(markAlways));
  declareCheckLesson(lessons, act);
  declareShareLesson(lessons, act);
  declareTransfer(lessons, act);
  declareLessonFiles(lessons, act);
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

/** By id, name or title. Throws for an unknown one, and for a name that several lessons have. */
async function findLesson(lessonsApi: LessonsApi, name: string): Promise<LessonJson> {
  const all = await lessonsApi.list({});
  const titled = all.filter((one) => one.title === name);
  const lesson = await lessonsApi.show(titled.length === 1 ? String(titled[0]?.id) : name);
  if (lesson !== undefined) return lesson;
  const names = all.map((one) => String(one.name));
  const isAmbiguous = names.includes(name);
  const closest = closestWord(name, names);
  const message = isAmbiguous
    ? `several lessons are named "${name}"; use an id`
    : `no lesson named "${name}"${closest === undefined ? '' : `; closest: "${closest}"`}`;
  throw new CommandError(EXIT.failed, message, 'see: instar lessons list --all');
}

interface ChangeOptions extends Positional {
  readonly reason?: string;
  readonly hash?: string;
  readonly live?: true;
  readonly off?: true;
}
/** What a person approves is what the model will read, so it is shown again. */
const CONFIRM_APPROVAL = (lesson: LessonJson): string =>
  `Use the lesson "${neutraliseLine(titleText(lesson))}" in prompts? It says:\n${neutralise(String(lesson.content))}\n`;

type PlanChange = (
  lesson: LessonJson,
  options: ChangeOptions,
) => Readonly<Record<string, string | boolean | number>>;

/** One change to one lesson. It is refused when the text is not the one that was looked up, or that `--hash` names. */
export function changeLesson(
  plan: PlanChange,
  confirm?: (lesson: LessonJson) => string,
): CommandAction<ChangeOptions> {
  return (options, context) =>
    withApi(context, async ({ lessonsApi }) => {
      const lesson = await findLesson(lessonsApi, options.args[0] ?? '');
      const id = String(lesson.id);
      if (confirm !== undefined) await confirmOwner(context, confirm(lesson));
      const done = await lessonsApi.change({
        changes: [{ id, ...plan(lesson, options) }],
        shown: { [id]: options.hash ?? String(lesson.hash) },
        ...(options.reason === undefined ? {} : { reason: options.reason }),
      });
      const result = (done.results as readonly LessonJson[])[0] ?? {};
      if (result.status === 'refused') throw new CommandError(EXIT.failed, `${id}: ${String(result.why)}`);
      const now = (await lessonsApi.show(id)) ?? lesson;
      if (context.printer.json) context.printer.document({ ...done, lesson: now });
      else
        context.printer.line(
          result.status === 'same'
            ? `“${titleText(now)}”: nothing to change, it is ${String(now.state)} already`
            : `“${titleText(now)}” is ${String(now.state)}; generation ${String(done.generation)}`,
        );
      return EXIT.ok;
    });
}

/** A new revision of the same text: what is shown to every task is measured anew. */
const markAlways: CommandAction<ChangeOptions> = (options, context) =>
  withApi(context, async ({ lessonsApi }) => {
    const named = await findLesson(lessonsApi, options.args[0] ?? '');
    const { id } = named;
    const lesson = (await lessonsApi.all()).map(asObject).find((one) => one.id === id);
    const text = asObject(lesson?.text);
    const { isAlways, ...note } = asObject(text.note);
    const wanted = options.off !== true;
    const done = await lessonsApi.change({
      changes: [
        {
          op: 'revise',
          id: String(id),
          from: lesson?.revision ?? 0,
          text: { ...text, note: { ...note, ...(wanted ? { isAlways: true } : {}) } },
        },
      ],
      reason: options.reason ?? (wanted ? 'marked for every task' : 'no longer for every task'),
    });
    const result = asObject(asArray(done.results)[0]);
    if (result.status === 'refused')
      throw new CommandError(EXIT.failed, `${String(id)}: ${String(result.why)}`);
    const { printer } = context;
    if (printer.json) printer.document({ ...done, isAlways: wanted });
    else
      printer.line(
        `“${titleText(named)}” is shown to ${wanted ? 'every task in its scope' : 'the tasks that it fits'}${
          (isAlways === true) === wanted ? ' already' : `; generation ${String(done.generation)}`
        }`,
      );
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
