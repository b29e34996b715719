import { CommandError, EXIT, type ExitCode } from './command-error.ts';
import type { CommandContext } from './context.ts';
import type { Part, Printer } from './print.ts';
import { withDesk } from './with-desk.ts';

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
  withDesk(context, async (_, shelf) => {
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
  withDesk(context, async (_, shelf) => {
    const name = args[0] ?? '';
    const lesson = await shelf.show(name);
    if (lesson === undefined) throw unknownLesson(name);
    if (context.printer.json) context.printer.document(lesson);
    else show(context.printer, lesson);
    return EXIT.ok;
  });

export const whyLessons = ({ args }: Named, context: CommandContext): Promise<ExitCode> =>
  withDesk(context, async (_, shelf) => {
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
