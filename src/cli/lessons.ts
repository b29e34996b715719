import path from 'node:path';
import {
  exportSkillFiles,
  importSkillFiles,
  type SkillReport,
} from '../lessons/skill-files/import-export.ts';
import { type CommandContext, CommandError, EXIT, type ExitCode } from './context.ts';
import type { Part, Printer } from './print.ts';
import { withApi } from './with-api.ts';

interface Listing {
  readonly state?: string;
  readonly kind?: string;
  readonly all?: true;
}

interface Named {
  readonly args: readonly string[];
}

type Shown = Readonly<Record<string, unknown>>;

const OVER = new Set<unknown>(['retired', 'rejected']);

export const listLessons = ({ state, kind, all }: Listing, context: CommandContext): Promise<ExitCode> =>
  withApi(context, async (_, shelf) => {
    const found = await shelf.list({ ...(state ? { state } : {}), ...(kind ? { kind } : {}) });
    const list = all || state !== undefined ? found : found.filter((lesson) => !OVER.has(lesson.state));
    const { printer } = context;
    if (printer.json) printer.document(list);
    else if (list.length === 0) printer.note('nothing learned yet');
    else {
      const rows = list.map((lesson) => [
        text(lesson.id),
        text(lesson.state) + (lesson.pinned ? ' (pinned)' : ''),
        text(lesson.kind),
        text(lesson.name),
        describeEffect(lesson.effect as Shown),
        text(lesson.description).slice(0, 60),
      ]);
      printer.table([['LESSON', 'STATE', 'KIND', 'NAME', 'EFFECT', 'WHEN'].map(dim), ...rows]);
    }
    return EXIT.ok;
  });

export const showLesson = ({ args }: Named, context: CommandContext): Promise<ExitCode> =>
  withApi(context, async (_, shelf) => {
    const name = args[0] ?? '';
    const lesson = await shelf.show(name);
    if (lesson === undefined) throw unknownLesson(name);
    if (context.printer.json) context.printer.document(lesson);
    else show(context.printer, lesson);
    return EXIT.ok;
  });

export const whyLessons = ({ args }: Named, context: CommandContext): Promise<ExitCode> =>
  withApi(context, async (_, shelf) => {
    const turn = args[0] ?? '';
    const told = await shelf.why(turn);
    if (told === undefined)
      throw new CommandError(EXIT.failed, `no turn is called ${turn}`, 'see: instar sessions show SESSION');
    if (context.printer.json) context.printer.document(told);
    else explain(context.printer, told);
    return EXIT.ok;
  });

function show(printer: Printer, lesson: Shown): void {
  printer.line({ text: text(lesson.name), style: 'bold' }, `  ${text(lesson.id)} r${text(lesson.revision)}`);
  printer.line({ text: text(lesson.description), style: 'dim' });
  printer.line('');
  for (const line of text(lesson.content).split('\n')) printer.line(`  ${line}`);
  printer.line('');
  const evidence = lesson.evidence as Shown;
  const scope = Object.entries(lesson.scope as Shown).map(([field, pattern]) => `${field} ${text(pattern)}`);
  printer.table([
    [dim('state'), `${text(lesson.state)}${lesson.reason ? `: ${text(lesson.reason)}` : ''}`],
    [dim('scope'), scope.join(', ') || 'anywhere'],
    [dim('effect'), describeEffect(lesson.effect as Shown)],
    [dim('from'), `${text(evidence.learner)}, ${(evidence.turns as readonly unknown[]).length} turns`],
    [dim('hash'), text(lesson.hash)],
  ]);
  for (const { turn, text: words } of evidence.quotes as readonly Shown[])
    printer.line({ text: `  “${text(words) || 'erased'}” `, style: 'dim' }, text(turn));
  printer.line('');
  printer.table([
    ['WHEN', 'WHO', 'WHAT', 'GEN', 'WHY'].map(dim),
    ...(lesson.history as readonly Shown[]).map((event) => [
      text(event.at),
      text(event.by),
      `${text(event.op)} → ${text(event.state)} r${text(event.revision)}`,
      text(event.generation),
      text(event.reason),
    ]),
  ]);
}

function explain(printer: Printer, told: Shown): void {
  const shown = told.shown as readonly Shown[];
  printer.line(
    { text: text(told.turn), style: 'bold' },
    ` generation ${text(told.generation)}, ${shown.length === 0 ? 'nothing shown' : `${shown.length} shown`}`,
  );
  if (told.note !== undefined) printer.line(text(told.note));
  for (const choice of told.choices as readonly Shown[]) {
    const domain = choice.domain as Shown;
    printer.line('');
    printer.line(
      `${text(choice.at)} ${text(choice.why)}: domain ${text(domain.name)} (${text(domain.reason)}), compared by ${text(choice.engine)}`,
    );
    printer.table([
      ['LESSON', 'NAME', 'RELEVANCE', 'ACTIVATION', 'VERDICT'].map(dim),
      ...(choice.considered as readonly Shown[]).map((one) => [
        text(one.id),
        text(one.name),
        share(one.relevance),
        share(one.activation),
        text(one.verdict),
      ]),
    ]);
  }
}

/** `+0.12 [0.02, 0.22]`, or how far the measurement has come. */
function describeEffect(effect: Shown): string {
  const { difference, low, high } = effect;
  const counts = `${text((effect.with as Shown | undefined)?.n ?? 0)} with, ${text((effect.without as Shown | undefined)?.n ?? 0)} without`;
  if (typeof difference !== 'number' || typeof low !== 'number' || typeof high !== 'number') return counts;
  return `${signed(difference)} [${signed(low)}, ${signed(high)}] ${counts}`;
}

const signed = (value: number): string => `${value < 0 ? '' : '+'}${value.toFixed(2)}`;
const share = (value: unknown): string => (typeof value === 'number' ? value.toFixed(2) : '');
const text = (value: unknown): string => (value === undefined || value === null ? '' : String(value));
const dim = (label: string): Part => ({ text: label, style: 'dim' });
export const unknownLesson = (name: string): CommandError =>
  new CommandError(
    EXIT.failed,
    `no lesson is called ${name}, or several are`,
    'see: instar lessons list --all',
  );

interface Changing {
  readonly args: readonly string[];
  readonly reason?: string;
  readonly hash?: string;
  readonly live?: true;
  readonly off?: true;
}
type Plan = (lesson: Shown, options: Changing) => Readonly<Record<string, string | boolean>>;

export const approveLesson = command((lesson, { live }) => {
  const next = live || lesson.state === 'trial' ? 'live' : 'trial';
  return { op: 'move', to: next };
});
export const rejectLesson = command(() => ({ op: 'move', to: 'rejected' }));
export const retireLesson = command((_, { reason }) => ({
  op: 'retire',
  reason: reason ?? 'retired by a person',
}));
export const pinLesson = command((_, { off }) => ({ op: 'mark', pinned: !off }));
export const freezeLesson = command((_, { off }) => ({ op: 'mark', frozen: !off }));

/** One change to one lesson, bound to the words that were there when it was looked up, or to those that were shown. */
function command(plan: Plan): (options: Changing, context: CommandContext) => Promise<ExitCode> {
  return (options, context) =>
    withApi(context, async (_, shelf) => {
      const name = options.args[0] ?? '';
      const lesson = await shelf.show(name);
      if (lesson === undefined) throw unknownLesson(name);
      const id = String(lesson.id);
      const done = await shelf.change({
        changes: [{ id, ...plan(lesson, options) }],
        shown: { [id]: options.hash ?? String(lesson.hash) },
        ...(options.reason === undefined ? {} : { reason: options.reason }),
      });
      const result = (done.results as readonly Shown[])[0] ?? {};
      if (result.status === 'refused') throw new CommandError(EXIT.failed, `${id}: ${String(result.why)}`);
      const now = (await shelf.show(id)) ?? lesson;
      if (context.printer.json) context.printer.document({ ...done, lesson: now });
      else
        context.printer.line(
          result.status === 'same'
            ? `${id} ${String(now.name)} was so already: ${String(now.state)}`
            : `${id} ${String(now.name)} is ${String(now.state)}; generation ${String(done.generation)}`,
        );
      return EXIT.ok;
    });
}

interface Importing {
  readonly args: readonly string[];
  readonly as: 'proposed' | 'trial' | 'live';
}

interface Exporting {
  readonly args: readonly string[];
  readonly all?: true;
  readonly overwrite?: true;
}

export const importLessons = ({ args, as }: Importing, context: CommandContext): Promise<ExitCode> =>
  withApi(
    context,
    async (_, shelf) => {
      const from = path.resolve(args[0] ?? '');
      return tell(await importSkillFiles(shelf, from, as), context, `no skill was found in ${from}`);
    },
    true,
  );

export const exportLessons = (
  { args, all, overwrite }: Exporting,
  context: CommandContext,
): Promise<ExitCode> =>
  withApi(context, async (_, shelf) => {
    const options = { all: all ?? false, overwrite: overwrite ?? false };
    const report = await exportSkillFiles(shelf, path.resolve(args[0] ?? ''), options);
    return tell(report, context, 'there is no skill to write yet');
  });

/** Some that could not be taken do not undo the others; they make the exit code. */
function tell(report: SkillReport, { printer }: CommandContext, nothing: string): ExitCode {
  const { done, faults, generation } = report;
  if (done.length === 0 && faults.length === 0) throw new CommandError(EXIT.failed, nothing);
  if (printer.json) printer.document(report);
  else {
    for (const { name, what, notes } of done) {
      printer.line({ text: '✓ ', style: 'green' }, `${name}: ${what}`);
      for (const note of notes) printer.line({ text: `  ${note}`, style: 'dim' });
    }
    for (const { file, why } of faults) printer.line({ text: '✗ ', style: 'red' }, `${file} ${why}`);
    if (generation !== undefined) printer.line(`generation ${generation}`);
  }
  return faults.length === 0 ? EXIT.ok : EXIT.failed;
}

export const reviewLessons = (
  { apply }: { readonly apply?: true },
  context: CommandContext,
): Promise<ExitCode> =>
  withApi(context, async (_, shelf) => {
    const found = await shelf.review();
    const { changes, ...told } = found;
    const done =
      apply && (changes as readonly Shown[]).length > 0
        ? await shelf.change({ changes: changes ?? [], reason: 'put in order' })
        : undefined;
    const { printer } = context;
    if (printer.json) printer.document(done === undefined ? told : { ...told, done });
    else {
      showReview(printer, told);
      if (done !== undefined) printer.line(`done; generation ${String(done.generation)}`);
      else if ((changes as readonly Shown[]).length > 0)
        printer.note('instar lessons review --apply merges and retires these');
    }
    return EXIT.ok;
  });

function showReview(printer: Printer, told: Shown): void {
  const list = (key: string): readonly Shown[] => told[key] as readonly Shown[];
  const pair = ({ names }: Shown): string => (names as readonly string[]).join(' and ');
  for (const lesson of list('waiting'))
    printer.line(
      { text: 'waits for you  ', style: 'yellow' },
      `${String(lesson.name)} (${String(lesson.id)})`,
    );
  for (const one of list('same')) printer.line({ text: 'says the same  ', style: 'cyan' }, pair(one));
  for (const one of list('contradictions'))
    printer.line({ text: 'contradicts    ', style: 'red' }, `${pair(one)}: ${String(one.why)}`);
  for (const one of list('forgettable'))
    printer.line({ text: 'not needed     ', style: 'dim' }, `${String(one.name)}: ${String(one.reason)}`);
  if (['waiting', 'same', 'contradictions', 'forgettable'].every((key) => list(key).length === 0))
    printer.note('all is in order');
}
