import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Argument, InvalidArgumentError, Option } from 'commander';
import type { DaemonApi } from '../core/daemon-api.ts';
import { asArray, asNumber, asObject, asString, compact, type JsonObject } from '../core/json.ts';
import { PRACTICE_KINDS } from '../core/practice.ts';
import { dollars, plural } from '../text/phrases.ts';
import {
  type CommandContext,
  CommandError,
  type DeclareCommand,
  EXIT,
  type ExitCode,
  type Positional,
} from './context.ts';
import { dim, type Printer } from './print.ts';
import { createProgress, type ProgressState } from './progress.ts';
import { withApi } from './with-api.ts';

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

function practiceTasks(options: TaskOptions, context: CommandContext): Promise<ExitCode> {
  const { args, add, drop } = options;
  const [first] = args;
  if (add === true || drop === true) {
    if (first !== undefined)
      return add === true ? addTasks(options, context) : excludeTasks(options, context);
    const what = add === true ? 'no file was named' : 'no task was named';
    throw new CommandError(
      EXIT.wrongUse,
      what,
      `instar practice tasks ${add === true ? '--add FILE' : '--drop TASK'}`,
    );
  }
  return first === undefined ? listTasks(options, context) : showTask(options, context);
}

const runOrPlan = (options: RunOptions, context: CommandContext): Promise<ExitCode> =>
  options.plan === true ? plan(options, context) : run(options, context);

const withSession = (command: import('commander').Command) =>
  command
    .addOption(
      new Option('--kind <kind>', 'the kind of session (default: what is due)').choices([...PRACTICE_KINDS]),
    )
    .option('--tasks <n>', 'number of tasks', parseCount)
    .option('--group <n>', 'attempts at each task', parseCount)
    .option('--domain <name>', 'only tasks of this domain');

function parseCount(text: string): number {
  if (!/^[1-9]\d{0,3}$/.test(text)) throw new InvalidArgumentError('Give a whole number from 1 to 9999.');
  return Number(text);
}

const requestOf = ({ kind, tasks, domain, group }: SessionOptions): JsonObject =>
  compact({ kind, tasks, domain, group });

const show = (
  context: CommandContext,
  ask: (api: DaemonApi) => Promise<JsonObject>,
  print: (answer: JsonObject, printer: Printer) => void,
  isDone: (answer: JsonObject) => boolean = () => true,
): Promise<ExitCode> =>
  withApi(context, async ({ api }) => {
    const answer = await ask(api);
    if (context.printer.json) context.printer.document(answer);
    else print(answer, context.printer);
    return isDone(answer) ? EXIT.ok : EXIT.failed;
  });

const status = (_: object, context: CommandContext): Promise<ExitCode> =>
  show(context, (api) => api.practice({ do: 'status' }), showStatus);

function showStatus(answer: JsonObject, printer: Printer): void {
  const running = asObject(answer.running);
  const due = asObject(answer.due);
  const tasks = asObject(answer.tasks);
  const rows: (readonly [string, string])[] = [];
  rows.push(['session', running.run === undefined ? 'none is running' : progressOf(running)]);
  if (typeof answer.problem === 'string') rows.push(['problem', answer.problem]);
  if (typeof answer.whyNot === 'string') rows.push(['not now', answer.whyNot]);
  rows.push(['due', due.kind === undefined ? 'nothing' : `${due.kind}: ${due.why}`]);
  rows.push([
    'tasks',
    `${tasks.count}: ${tasks.learn} to learn from, ${tasks.gate} to measure lessons on, ${tasks.report} for reports`,
  ]);
  for (const fault of asArray(answer.faults).map(asObject))
    rows.push(['file', `${fault.file}:${fault.line}: ${fault.what}. ${fault.fix}`]);
  for (const one of asArray(answer.yields).map(asObject))
    rows.push([
      'brought',
      `${one.kind}: ${plural(Number(one.sessions), 'session')}, ${plural(Number(one.learned), 'lesson')} on trial, ${one.helpful} measured to help, ${one.tokens} tokens, ${dollars(Number(one.usd))}`,
    ]);
  for (const one of asArray(answer.origins).map(asObject))
    rows.push([
      'from',
      `${one.origin} tasks: ${plural(Number(one.learned), 'lesson')} for ${one.tokens} tokens of attempts`,
    ]);
  const sessions = asArray(answer.sessions).map(asObject);
  rows.push(...weightsRows(asObject(sessions.find(({ weights }) => weights !== undefined))));
  printer.fields(rows);
  if (sessions.length === 0) return;
  printer.line('');
  printer.table([
    [dim('session'), dim('kind'), dim('tasks'), dim('end'), dim('learned'), dim('why')],
    ...sessions.map(({ run, kind, tasks: count, end, learned, why }) => [
      `${run}`,
      `${kind}`,
      `${count}`,
      `${end}`,
      `${learned ?? ''}`,
      `${why}`,
    ]),
  ]);
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

const plan = (options: SessionOptions, context: CommandContext): Promise<ExitCode> =>
  show(
    context,
    (api) => api.practice({ do: 'plan', ...requestOf(options) }),
    (answer, printer) => {
      if (typeof answer.continues === 'string')
        return printer.line(
          `The session ${answer.continues} was interrupted and goes on with: instar practice run`,
        );
      printer.line(
        `${answer.kind}: ${plural(Number(answer.tasks), 'task')} × ${answer.epochs} × ${answer.groupSize} attempts`,
        dim(` (${answer.why})`),
      );
      const total = asObject(answer.total);
      printer.table([
        [dim('stage'), dim('calls'), dim('tokens'), dim('cost'), dim('from')],
        ...asArray(answer.stages)
          .map(asObject)
          .map(({ stage, calls, tokens, usd, isMeasured }) => [
            `${stage}`,
            `${calls}`,
            `${tokens}`,
            dollars(Number(usd)),
            dim(isMeasured === true ? 'measured' : 'estimated'),
          ]),
        ['total', `${total.calls}`, `${total.tokens}`, dollars(Number(total.usd)), ''],
      ]);
      if (typeof answer.whyNot === 'string') printer.note(`It cannot begin now: ${answer.whyNot}`);
      else if (answer.isPriced === false)
        printer.note(
          'The price of a model is unknown: the cost is too low. Set it in the provider’s entry (price).',
        );
      if (Number(answer.tasks) === 0)
        printer.note('There are no tasks yet. Add some with: instar practice tasks --add FILE.jsonl');
    },
  );

const POLL_MS = 500;

interface RunOptions extends SessionOptions {
  readonly detach?: true;
  readonly plan?: true;
}

const run = (options: RunOptions, context: CommandContext): Promise<ExitCode> =>
  withApi(context, async ({ api }) => {
    const { printer } = context;
    const begun = await api.practice({ do: 'run', ...requestOf(options) });
    if (begun.started !== true) {
      if (printer.json) printer.document(begun);
      else printer.line(`Nothing was practised. ${asString(begun.why) ?? ''}`);
      return EXIT.failed;
    }
    if (options.detach === true) {
      if (printer.json) printer.document(begun);
      else printer.line('The session runs in the background. See: instar practice');
      return EXIT.ok;
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
    throw new CommandError(EXIT.failed, now.problem, 'the session goes on with: instar practice run');
  const answer = await api.practice({ do: 'report' });
  if (context.printer.json) context.printer.document(answer);
  else showReport(answer, context.printer);
  return answer.end === 'done' || answer.end === 'budget' ? EXIT.ok : EXIT.failed;
}

const stop = (_: object, context: CommandContext): Promise<ExitCode> =>
  show(
    context,
    (api) => api.practice({ do: 'stop' }),
    ({ stopped }, printer) =>
      printer.line(
        stopped === true
          ? 'The session is stopped. It goes on with: instar practice run'
          : 'No session is running.',
      ),
  );

const report = (
  { args: [id], out }: { readonly args: readonly string[]; readonly out?: string },
  context: CommandContext,
): Promise<ExitCode> =>
  show(
    context,
    (api) => api.practice(compact({ do: 'report', run: id })),
    (answer, printer) => showReport(answer, printer),
  ).then(async (code) => {
    if (out === undefined) return code;
    return withApi(context, async ({ api }) => {
      const file = path.resolve(out);
      writeFileSync(file, practiceMarkdown(await api.practice(compact({ do: 'report', run: id }))));
      context.printer.note(`The report is in ${file}`);
      return code;
    });
  });

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
      tasks.map((task) => [task.prompt ?? task.id, task.origin, rewardsOf(task.rewards), task.failed]),
    ),
    '## Learned',
    table(
      ['lesson', 'says', 'gate', 'measured', 'now'],
      lessons.map(({ name, says, outcome, why, tested, state }) => {
        const verdict = [outcome, ...asArray(why)].join('; ');
        return [name, says, verdict, tested, state];
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
    ['session', `${answer.kind} ${answer.run}: ${answer.end}`],
    ['why', `${answer.why}`],
    ...(typeof answer.note === 'string' ? [['note', answer.note] as const] : []),
    [
      'attempts',
      `${counts.graded ?? 0} graded, ${counts.ungraded ?? 0} without a grade, ${counts.infrastructure ?? 0} broken off`,
    ],
    ...asArray(answer.failures)
      .map(asObject)
      .map(({ why, count }) => ['broken off', `${count}: ${why}`] as const),
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
  printer.table([
    [dim('lesson'), dim('now'), dim('measured'), dim('says')],
    ...lessons.map(({ name, outcome, why, state, tested, says }) => [
      `${name}`,
      `${state ?? outcome}`,
      asString(tested) ?? asArray(why).map(String).join('; '),
      `${says ?? ''}`,
    ]),
  ]);
}

const listTasks = ({ domain }: { readonly domain?: string }, context: CommandContext): Promise<ExitCode> =>
  show(
    context,
    (api) => api.practice(compact({ do: 'tasks', domain })),
    (answer, printer) => {
      const tasks = asArray(answer.tasks).map(asObject);
      if (tasks.length === 0)
        return printer.line('There are no tasks yet. Add some with: instar practice tasks --add FILE.jsonl');
      printer.table([
        [dim('task'), dim('from'), dim('split'), dim('graded by'), dim('expected'), dim('request')],
        ...tasks.map(({ id, origin, split, check, expected, prompt }) => [
          `${id}`,
          `${origin}`,
          `${split}`,
          `${check ?? 'comparison'}`,
          `${expected}`,
          `${prompt}`,
        ]),
      ]);
    },
  );

const showTask = ({ args: [id = ''] }: Positional, context: CommandContext): Promise<ExitCode> =>
  show(
    context,
    (api) => api.practice({ do: 'task', id }),
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

const addTasks = ({ args: [file = ''] }: Positional, context: CommandContext): Promise<ExitCode> => {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new CommandError(
      EXIT.wrongUse,
      `${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
      'give a file with one JSON object a line',
    );
  }
  return show(
    context,
    (api) => api.practice({ do: 'add', text, file: path.basename(file) }),
    ({ added, known, duplicates, faults }, printer) => {
      printer.line(`${plural(Number(added), 'task')} added, ${known} known already, ${duplicates} repeated`);
      for (const fault of asArray(faults).map(asObject))
        printer.note(`${fault.file}:${fault.line}: ${fault.what}. ${fault.fix}`);
    },
    ({ added }) => Number(added) > 0,
  );
};

const excludeTasks = ({ args: id }: Positional, context: CommandContext): Promise<ExitCode> =>
  show(
    context,
    (api) => api.practice({ do: 'exclude', ids: [...id] }),
    ({ excluded, unknown }, printer) =>
      printer.line(`${plural(Number(excluded), 'task')} excluded, ${unknown} not known`),
    ({ excluded }) => Number(excluded) > 0,
  );
