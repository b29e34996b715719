import { EXIT, type ExitCode } from './command-error.ts';
import type { CommandContext } from './context.ts';
import type { Printer } from './print.ts';
import { withDesk } from './with-desk.ts';

type Shown = Readonly<Record<string, unknown>>;

export const reviewLessons = (
  { apply }: { readonly apply?: true },
  context: CommandContext,
): Promise<ExitCode> =>
  withDesk(context, async (_, shelf) => {
    const found = await shelf.review();
    const { changes, ...told } = found;
    const done =
      apply && (changes as readonly Shown[]).length > 0
        ? await shelf.change({ changes: changes ?? [], reason: 'put in order' })
        : undefined;
    const { printer } = context;
    if (printer.json) printer.document(done === undefined ? told : { ...told, done });
    else {
      show(printer, told);
      if (done !== undefined) printer.line(`done; generation ${String(done.generation)}`);
      else if ((changes as readonly Shown[]).length > 0)
        printer.note('instar lessons review --apply merges and retires these');
    }
    return EXIT.ok;
  });

function show(printer: Printer, told: Shown): void {
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
