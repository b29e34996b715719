import type { CommandContext } from './context.ts';
import { CommandError, EXIT, type ExitCode } from './context.ts';
import type { Part } from './print.ts';
import { withApi } from './with-api.ts';

interface Named {
  readonly args: readonly string[];
}

type Shown = Readonly<Record<string, unknown>>;

export const listGenerations = (_: Named, context: CommandContext): Promise<ExitCode> =>
  withApi(context, async (_desk, shelf) => {
    const list = [...(await shelf.generations())].reverse();
    if (context.printer.json) context.printer.document(list);
    else
      context.printer.table([
        ['GENERATION', 'WHEN', 'WHO', 'WHY'].map(dim),
        ...list.map(({ generation, at, by, reason }) => [generation, at, by, reason].map(String)),
      ]);
    return EXIT.ok;
  });

export const diffGenerations = ({ args }: Named, context: CommandContext): Promise<ExitCode> =>
  withApi(context, async (_, shelf) => {
    const newest = Number((await shelf.generations()).at(-1)?.generation ?? 0);
    const from = Number(args[0]);
    const to = args[1] === undefined ? newest : Number(args[1]);
    const diff = await shelf.diff(from, to);
    if (diff === undefined) throw unknown(from > newest ? from : to);
    const { printer } = context;
    if (printer.json) printer.document(diff);
    else {
      const lines = (key: string, mark: string, style: 'green' | 'red' | 'yellow'): void => {
        for (const lesson of diff[key] as readonly Shown[])
          printer.line({ text: `${mark} `, style }, `${String(lesson.name)} (${String(lesson.id)})`);
      };
      lines('added', '+', 'green');
      lines('removed', '-', 'red');
      lines('revised', '~', 'yellow');
      if (['added', 'removed', 'revised'].every((key) => (diff[key] as readonly Shown[]).length === 0))
        printer.note('no difference');
    }
    return EXIT.ok;
  });

export const rollbackGeneration = ({ args }: Named, context: CommandContext): Promise<ExitCode> =>
  withApi(context, async (_, shelf) => {
    const to = Number(args[0]);
    const done = await shelf.rollback(to);
    if (done === undefined) throw unknown(to);
    if (context.printer.json) context.printer.document(done);
    else
      context.printer.line(
        `prompts contain what they did in generation ${to}; this is generation ${String(done.generation)}`,
      );
    return EXIT.ok;
  });

const dim = (label: string): Part => ({ text: label, style: 'dim' });
const unknown = (generation: number): CommandError =>
  new CommandError(EXIT.failed, `there is no generation ${generation}`, 'see: instar generations list');
