import { Argument, InvalidArgumentError } from 'commander';
import { relativeTime } from '../text/phrases.ts';
import { shortId } from '../text/short-id.ts';
import {
  type CommandContext,
  CommandError,
  type DeclareCommand,
  EXIT,
  type ExitCode,
  type Positional,
} from './context.ts';
import { dim } from './print.ts';
import { titleText } from './show-lessons.ts';
import { withApi } from './with-api.ts';

export const declareGenerations: DeclareCommand = (generations, act) => {
  generations.command('list').description('List generations, newest first.').action(act(listGenerations));
  generations
    .command('diff')
    .addArgument(new Argument('<from>', 'number of a generation').argParser(parseGeneration))
    .addArgument(
      new Argument('[to]', 'number of a generation (default: the current one)').argParser(parseGeneration),
    )
    .description('Show which lessons changed between two generations.')
    .action(act(diffGenerations));
  generations
    .command('rollback')
    .addArgument(new Argument('<to>', 'number of a generation').argParser(parseGeneration))
    .description('Publish the lessons of an earlier generation again, as a new generation.')
    .action(act(rollbackGeneration));
};

type Row = Readonly<Record<string, unknown>>;

const listGenerations = (_options: object, context: CommandContext): Promise<ExitCode> =>
  withApi(context, async ({ lessonsApi }) => {
    const list = [...(await lessonsApi.generations())].reverse();
    if (list.length === 0 && !context.printer.json) {
      context.printer.note('No generations yet: no lesson has been published.');
      return EXIT.ok;
    }
    const now = Date.now();
    if (context.printer.json) context.printer.document(list);
    else
      context.printer.table([
        ['GENERATION', 'WHEN', 'WHO', 'WHY'].map(dim),
        ...list.map(({ generation, at, by, reason }) => [
          String(generation),
          relativeTime(Date.parse(String(at)), now),
          String(by),
          String(reason),
        ]),
      ]);
    return EXIT.ok;
  });

const diffGenerations = ({ args }: Positional, context: CommandContext): Promise<ExitCode> =>
  withApi(context, async ({ lessonsApi }) => {
    const newest = Number((await lessonsApi.generations()).at(-1)?.generation ?? 0);
    const from = Number(args[0]);
    const to = args[1] === undefined ? newest : Number(args[1]);
    const diff = await lessonsApi.diff(from, to);
    if (diff === undefined) throw unknownGeneration(from > newest ? from : to);
    const { printer } = context;
    if (printer.json) printer.document(diff);
    else {
      const lines = (key: string, mark: string, style: 'green' | 'red' | 'yellow'): void => {
        for (const lesson of diff[key] as readonly Row[])
          printer.line({ text: `${mark} `, style }, `${titleText(lesson)} (${shortId(String(lesson.id))})`);
      };
      lines('added', '+', 'green');
      lines('removed', '-', 'red');
      lines('revised', '~', 'yellow');
      if (['added', 'removed', 'revised'].every((key) => (diff[key] as readonly Row[]).length === 0))
        printer.note(`The lessons of generations ${from} and ${to} are the same.`);
    }
    return EXIT.ok;
  });

const rollbackGeneration = ({ args }: Positional, context: CommandContext): Promise<ExitCode> =>
  withApi(context, async ({ lessonsApi }) => {
    const to = Number(args[0]);
    const before = Number((await lessonsApi.generations()).at(-1)?.generation ?? 0);
    const done = await lessonsApi.rollback(to);
    if (done === undefined) throw unknownGeneration(to);
    if (context.printer.json) context.printer.document(done);
    else
      context.printer.line(
        `Rolled back to the lessons of generation ${to}, as generation ${String(done.generation)}. Undo: instar generations rollback ${before}`,
      );
    return EXIT.ok;
  });

const unknownGeneration = (generation: number): CommandError =>
  new CommandError(EXIT.failed, `There is no generation ${generation}.`, 'see: instar generations list');

function parseGeneration(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('Give the number of a generation.');
  return Number(text);
}
