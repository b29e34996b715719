import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Argument, type Command, Option } from 'commander';
import type { DaemonApi } from '../core/daemon-api.ts';
import { errorMessage } from '../core/failure.ts';
import { asArray, asNumber, asObject, asString, compact, type JsonObject } from '../core/json.ts';
import { PRACTICE_KINDS } from '../core/practice.ts';
import { dollars, plural } from '../text/phrases.ts';
import {
  type CommandAction,
  type CommandContext,
  type DeclareCommand,
  EXIT,
  type ExitCode,
  failure,
  type Positional,
  wrongUse,
} from './context.ts';
import { dim, type Printer } from './print.ts';
import { createProgress, type ProgressState } from './progress.ts';
import { wholeNumber } from './usage.ts';
import { onApi } from './with-api.ts';

interface SessionOptions {
  readonly kind?: string;
  readonly tasks?: number;
  readonly domain?: string;
  readonly group?: number;
}

export const declarePractice: DeclareCommand = (practice, act) => {
  practice
    .command('status')
    .description('Show the running session, what is due, the tasks, and what practice has brought.')
    .action(act(status));
  withSession(practice.command('run'))
    .option('--detach', 'return at once; the daemon goes on')
    .option('--plan', 'only estimate the calls, tokens and money; nothing is attempted')
    .description('Practise now: attempt tasks, learn from what separates good attempts from bad ones.')
    .action(act(runOrPlan));
  practice.command('stop').description('Stop the running session; it can go on later.').action(act(stop));
  practice
    .command('report')
    .addArgument(new Argument('[run]', 'the session (default: the last one)'))
    .option('--out <file>', 'also write every task, lesson and cost to this file, as Markdown')
    .description('Show what a session attempted, learned and cost.')
    .action(act(report));
  practice
    .command('tasks')
    .addArgument(new Argument('[tasks...]', 'show this one; with --drop: these'))
    .option('--domain <name>', 'only tasks of this domain')
    .option('--add', 'add the tasks of a file: one JSON object a line, each with a prompt')
    .option('--drop', 'exclude tasks for good, with their variations')
    .description('List, show, add and exclude the tasks of practice.')
    .action(act(practiceTasks));
};

interface TaskOptions extends Positional {
  readonly domain?: string;
  readonly add?: true;
  readonly drop?: true;
}

const practiceTasks: CommandAction<TaskOptions> = async (options, context) => {
  const { args, add, drop } = options;
  if ((add ?? drop) === undefined)
    return args[0] === undefined ? listTasks(options, context) : showTask(options, context);
  if (args[0] === undefined)
    throw wrongUse(
      add === true ? 'no file was named' : 'no task was named',
      `instar practice tasks ${add === true ? '--add FILE' : '--drop TASK'}`,
    );
  return add === true ? addTasks(options, context) : excludeTasks(options, context);
};

const runOrPlan: CommandAction<RunOptions> = (options, context) =>
  options.plan === true ? plan(options, context) : run(options, context);

const withSession = (command: Command): Command =>
  command
    .addOption(
      new Option('--kind <kind>', 'the kind of session (default: what is due)').choices([...PRACTICE_KINDS]),
    )
    .option('--tasks <n>', 'number of tasks', wholeNumber(1, 9_999))
    .option('--group <n>', 'attempts at each task', wholeNumber(1, 9_999))
    .option('--domain <name>', 'only tasks of this domain');

const requestOf = ({ kind, tasks, domain, group }: SessionOptions): JsonObject =>
  compact({ kind, tasks, domain, group });

/** Asks, and prints the answer. */
const show = <Options>(
  ask: (options: Options) => JsonObject,
  print: (answer: JsonObject, printer: Printer) => void,
  isDone: (answer: JsonObject) => boolean = () => true,
): CommandAction<Options> =>
  onApi(async (options, { api, printer }) => {
    const answer = await api.practice(ask(options));
    printer.document(answer);
    if (!printer.json) print(answer, printer);
    return isDone(answer) ? EXIT.ok : EXIT.failed;
  });

const status = show(
  () => ({ do: 'status' }),
  (answer, printer) => {
    const [running, due, tasks] = [answer.running, answer.due, answer.tasks].map(asObject);
    const sessions = asArray(answer.sessions).map(asObject);
    printer.fields([
      ['session', running?.run === undefined ? 'none is running' : progressOf(running)],
      ...textRow('problem', answer.problem),
      ...textRow('not now', answer.whyNot),
      ['due', due?.kind === undefined ? 'nothing' : `${due.kind}: ${due.why}`],
      [
        'tasks',
        Number(tasks?.count) === 0
          ? 'none yet; Instar takes some from your work, or add your own: instar practice tasks --add FILE.jsonl'
          : `${tasks?.count}: ${tasks?.learn} to learn from, ${tasks?.gate} to measure lessons on, ${tasks?.report} for reports`,
      ],
      ...asArray(answer.faults).map((fault) => ['file', faultWords(fault)] as const),
      ...asArray(answer.yields)
        .map(asObject)
        .map(
          (one) =>
            [
              'brought',
              `${one.kind}: ${plural(Number(one.sessions), 'session')}, ${plural(Number(one.learned), 'lesson')} on trial, ${one.helpful} measured to help, ${one.tokens} tokens, ${dollars(Number(one.usd))}`,
            ] as const,
        ),
      ...asArray(answer.origins)
        .map(asObject)
        .map(
          (one) =>
            [
              'from',
              `${one.origin} tasks: ${plural(Number(one.learned), 'lesson')} for ${one.tokens} tokens of attempts`,
            ] as const,
        ),
      ...weightsRows(asObject(sessions.find(({ weights }) => weights !== undefined))),
    ]);
    if (sessions.length === 0) return;
    printer.line('');
    printer.table(['SESSION', 'KIND', 'TASKS', 'END', 'LEARNED', 'WHY'], sessions, (one) => [
      one.run,
      one.kind,
      one.tasks,
      one.end,
      one.learned,
      one.why,
    ]);
  },
);

const textRow = (label: string, value: unknown): readonly (readonly [string, string])[] =>
  typeof value === 'string' ? [[label, value]] : [];

function faultWords(fault: unknown): string {
  const { file, line, what, fix } = asObject(fault);
  return `${file}:${line}: ${what}. ${fix}`;
}

/** What a session did to weights. */
const weightsRows = ({ weights }: JsonObject): readonly (readonly [string, string])[] =>
  asArray(asObject(weights).said).map((line) => ['weights', String(line)]);

const progressOf = ({
  run,
  kind,
  tasks,
  attempts,
  graded,
  kept,
  groups,
  experiences,
  decided,
  trained,
  compared,
}: JsonObject): string =>
  [
    `${kind} ${run}`,
    `${plural(Number(tasks), 'task')}`,
    `${plural(Number(attempts), 'attempt')} (${graded} graded)`,
    `${kept} of ${groups} groups differ`,
    `${plural(Number(experiences), 'experience')}`,
    `${plural(Number(decided), 'trial')} decided`,
    ...(Number(trained) > 0 ? [`weights trained on ${plural(Number(trained), 'group')}`] : []),
    ...(Number(compared) > 0 ? [`weights compared on ${plural(Number(compared), 'pair')}`] : []),
  ].join(' · ');

/** The same for the line that follows a session. */
function stateOf({
  tasks,
  epochs,
  group,
  attempts,
  graded,
  experiences,
  decided,
}: JsonObject): ProgressState {
  const [made, per] = [Number(attempts), Number(group ?? 0) * Number(epochs ?? 1)];
  const of = per > 0 ? Number(tasks) * per : undefined;
  if (of === undefined || made < of)
    return {
      phase: 'attempting',
      done: made,
      ...(of === undefined ? {} : { of }),
      detail: `${graded} graded`,
    };
  return {
    phase: 'comparing and learning',
    detail: `${plural(Number(experiences), 'experience')}, ${plural(Number(decided), 'trial')} decided`,
  };
}

const plan = show(
  (options: SessionOptions) => ({ do: 'plan', ...requestOf(options) }),
  (answer, printer) => {
    if (typeof answer.continues === 'string')
      return printer.line(
        `The session ${answer.continues} was interrupted and goes on with: instar practice run`,
      );
    printer.line(
      `${answer.kind}: ${plural(Number(answer.tasks), 'task')} × ${answer.epochs} × ${answer.groupSize} attempts`,
      dim(` (${answer.why})`),
    );
    const stages = [...asArray(answer.stages).map(asObject), { stage: 'total', ...asObject(answer.total) }];
    printer.table(['STAGE', 'CALLS', 'TOKENS', 'COST', 'FROM'], stages, (one: JsonObject) => [
      one.stage,
      one.calls,
      one.tokens,
      dollars(Number(one.usd)),
      one.isMeasured === undefined ? '' : dim(one.isMeasured === true ? 'measured' : 'estimated'),
    ]);
    if (typeof answer.whyNot === 'string') printer.note(`It cannot begin now: ${answer.whyNot}`);
    else if (answer.isPriced === false)
      printer.note(
        'The price of a model is unknown: the cost is too low. Set it in the provider’s entry (price).',
      );
    if (Number(answer.tasks) === 0) printer.note(NO_TASKS);
  },
);

const NO_TASKS = 'There are no tasks yet. Add some with: instar practice tasks --add FILE.jsonl';

const POLL_MS = 500;

interface RunOptions extends SessionOptions {
  readonly detach?: true;
  readonly plan?: true;
}

const run = onApi(async (options: RunOptions, context) => {
  const { api, printer } = context;
  const begun = await api.practice({ do: 'run', ...requestOf(options) });
  if (begun.started !== true) {
    printer.document(begun);
    printer.line(`Nothing was practised. ${asString(begun.why) ?? ''}`);
    return EXIT.failed;
  }
  if (options.detach === true) {
    printer.document(begun);
    printer.line('The session runs in the background. See: instar practice');
    return;
  }
  const stop = new AbortController();
  const onSignal = (): void => stop.abort();
  process.once('SIGINT', onSignal);
  process.once('SIGTERM', onSignal);
  const progress = createProgress(context);
  try {
    for (;;) {
      if (stop.signal.aborted) await api.practice({ do: 'stop' });
      const now = await api.practice({ do: 'status' });
      const running = asObject(now.running);
      if (running.tasks === undefined) {
        progress.clear();
        const code = await reportEnd(api, now, context);
        return stop.signal.aborted ? EXIT.interrupted : code;
      }
      progress.show(stop.signal.aborted ? { phase: 'stopping' } : stateOf(running));
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  } finally {
    process.off('SIGINT', onSignal);
    process.off('SIGTERM', onSignal);
  }
});

async function reportEnd(api: DaemonApi, now: JsonObject, context: CommandContext): Promise<ExitCode> {
  if (typeof now.problem === 'string')
    throw failure(now.problem, 'the session goes on with: instar practice run');
  const answer = await api.practice({ do: 'report' });
  context.printer.document(answer);
  showReport(answer, context.printer);
  const { graded = 0, infrastructure = 0 } = asObject(answer.counts);
  const isOver = answer.end === 'done' || answer.end === 'budget';
  // Attempts that nobody could grade brought nothing.
  return isOver && (Number(graded) > 0 || Number(infrastructure) === 0) ? EXIT.ok : EXIT.failed;
}

const stop = show(
  () => ({ do: 'stop' }),
  ({ stopped }, printer) =>
    printer.line(
      stopped === true
        ? 'The session is stopped. It goes on with: instar practice run'
        : 'No session is running.',
    ),
);

const report = onApi(
  async ({ args: [run], out }: Positional & { readonly out?: string }, { api, printer }) => {
    const answer = await api.practice(compact({ do: 'report', run }));
    printer.document(answer);
    showReport(answer, printer);
    if (out === undefined) return;
    writeFileSync(path.resolve(out), practiceMarkdown(answer));
    printer.note(`The report is in ${path.resolve(out)}`);
  },
);

/** A session of practice: its tasks with every reward, what was learned, what each stage cost. */
function practiceMarkdown(answer: JsonObject): string {
  const table = (head: readonly string[], rows: readonly (readonly unknown[])[]): string =>
    [head, head.map(() => '---'), ...rows]
      .map(
        (row) =>
          `| ${row.map((cell) => `${cell ?? ''}`.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`,
      )
      .join('\n');
  const tasks = asArray(answer.perTask).map(asObject);
  const lessons = asArray(answer.lessons).map(asObject);
  const stages = asArray(answer.stages).map(asObject);
  const forgotten = asArray(answer.forgottenTasks).map(String);
  const remarks = [
    ...(typeof answer.note === 'string' ? [`It ended early: ${answer.note}.`] : []),
    ...asArray(asObject(answer.weights).said).map((line) => `Weights: ${String(line)}.`),
    ...(forgotten.length > 0
      ? [`Tasks that passed before and do not any more: ${forgotten.join(', ')}.`]
      : []),
  ];
  const rewardsOf = (list: unknown): string =>
    asArray(list)
      .map((one) => (asNumber(one) ?? 0).toFixed(2))
      .join(' ');
  return `${[
    '# A session of practice',
    `${answer.kind} ${answer.run}, ${answer.at}: ${answer.end}. ${answer.why}`,
    remarks.map((remark) => `- ${remark}`).join('\n'),
    '## Tasks',
    table(
      ['task', 'from', 'rewards', 'not graded'],
      tasks.map((task) => [
        task.prompt ?? task.id,
        task.origin,
        [rewardsOf(task.rewards), ...asArray(task.parts).map(String)].join('; '),
        task.failed,
      ]),
    ),
    '## Learned',
    table(
      ['lesson', 'says', 'gate', 'measured', 'now'],
      lessons.map(({ title, says, outcome, why, tested, state }) => {
        const verdict = [outcome, ...asArray(why)].join('; ');
        return [title, says, verdict, tested, state];
      }),
    ),
    '## Cost',
    table(
      ['stage', 'calls', 'tokens', '$'],
      stages.map(({ stage, calls, tokens, usd }) => [stage, calls, tokens, (asNumber(usd) ?? 0).toFixed(4)]),
    ),
  ]
    .filter((part) => part !== '')
    .join('\n\n')}\n`;
}

function showReport(answer: JsonObject, printer: Printer): void {
  const counts = asObject(answer.counts);
  const spent = asObject(answer.spent);
  printer.fields([
    ['session', `${answer.kind} ${answer.run}: ${endWords(answer.end)}`],
    ['why', `${answer.why}`],
    ...textRow('note', answer.note),
    [
      'attempts',
      `${counts.graded ?? 0} graded, ${counts.ungraded ?? 0} without a grade, ${counts.infrastructure ?? 0} that could not be graded`,
    ],
    ...asArray(answer.failures)
      .map(asObject)
      .map(({ why, count }) => ['not graded', `${count}: ${why}`] as const),
    [
      'groups',
      `${counts.kept ?? 0} of ${counts.groups ?? 0} had better and worse attempts; ${counts.recorded ?? 0} from recorded work`,
    ],
    ...weightsRows(answer),
    ['spent', `${spent.tokens ?? 0} tokens, ${dollars(asNumber(spent.usd) ?? 0)}`],
  ]);
  const lessons = asArray(answer.lessons).map(asObject);
  printer.line('');
  if (lessons.length === 0) printer.line('Nothing was learned.');
  if (lessons.length === 0) return;
  printer.table(['LESSON', 'NOW', 'MEASURED', 'SAYS'], lessons, (one) => [
    one.title,
    one.state ?? one.outcome,
    asString(one.tested) ?? asArray(one.why).join('; '),
    one.says,
  ]);
}

/** `open` is what the record has of a session that nobody closed. */
const endWords = (end: unknown): string =>
  end === 'open' || end === 'aborted' ? 'interrupted; it goes on with: instar practice run' : String(end);

const listTasks = show(
  ({ domain }: TaskOptions) => compact({ do: 'tasks', domain }),
  (answer, printer) => {
    const tasks = asArray(answer.tasks).map(asObject);
    if (tasks.length === 0) return printer.line(NO_TASKS);
    printer.table(['TASK', 'FROM', 'SPLIT', 'GRADED BY', 'EXPECTED', 'REQUEST'], tasks, (one) => [
      one.id,
      one.origin,
      one.split,
      one.check ?? 'comparison',
      one.expected,
      one.prompt,
    ]);
  },
);

const showTask = show(
  ({ args: [id = ''] }: Positional) => ({ do: 'task', id }),
  ({ whole, ...task }, printer) => {
    printer.fields(
      Object.entries(task).map(([name, value]) => [
        name,
        typeof value === 'string' ? value : JSON.stringify(value),
      ]),
    );
    printer.text(JSON.stringify(whole, undefined, 2));
  },
);

const addTasks = show(
  ({ args: [file = ''] }: Positional) => ({ do: 'add', text: readTasks(file), file: path.basename(file) }),
  ({ added, known, duplicates, faults }, printer) => {
    printer.line(`${plural(Number(added), 'task')} added, ${known} known already, ${duplicates} repeated`);
    if (Number(added) === 0 && asArray(faults).length === 0)
      printer.next('a task is a line such as {"prompt": "Write the report of October", "answer": "…"}');
    for (const fault of asArray(faults)) printer.note(faultWords(fault));
  },
  ({ added }) => Number(added) > 0,
);

function readTasks(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const why = errorMessage(error);
    throw wrongUse(`${file} cannot be read: ${why}`, 'give a file with one JSON object a line');
  }
}

const excludeTasks = show(
  ({ args: ids }: Positional) => ({ do: 'exclude', ids: [...ids] }),
  ({ excluded, unknown }, printer) =>
    printer.line(`${plural(Number(excluded), 'task')} excluded, ${unknown} not known`),
  ({ excluded }) => Number(excluded) > 0,
);
