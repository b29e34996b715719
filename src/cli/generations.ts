import { Argument } from 'commander';
import { asArray, asObject } from '../core/json.ts';
import { relativeTime } from '../text/phrases.ts';
import { shortId } from '../text/short-id.ts';
import { whoOf } from '../text/who.ts';
import { type DeclareCommand, failure, type Positional } from './context.ts';
import { dim } from './print.ts';
import { titleText } from './show-lessons.ts';
import { wholeNumber } from './usage.ts';
import { onApi } from './with-api.ts';

export const declareGenerations: DeclareCommand = (generations, act) => {
  const numbered = (name: string, about: string): Argument =>
    new Argument(name, about).argParser(wholeNumber(0, 999_999_999));
  generations
    .command('list')
    .description('List generations, newest first, as lessons history does.')
    .action(act(lessonHistory));
  generations
    .command('diff')
    .addArgument(numbered('<from>', 'number of a generation'))
    .addArgument(numbered('[to]', 'number of a generation (default: the current one)'))
    .description('Show which lessons changed between two generations.')
    .action(act(diffGenerations));
  generations
    .command('rollback')
    .addArgument(numbered('<to>', 'number of a generation'))
    .description('Publish the lessons of an earlier generation again, as a new generation.')
    .action(act(rollbackGeneration));
};

/** Every step of the library, newest first, and the way back from each. */
export const lessonHistory = onApi(async (_: object, { lessonsApi, printer }) => {
  const list = [...(await lessonsApi.generations())].reverse();
  printer.document(list);
  if (list.length === 0) return printer.note('nothing was learned yet');
  printer.table(['STEP', 'WHEN', 'BY', 'WHAT'], list, ({ generation, at, by, reason }) => [
    generation,
    relativeTime(Date.parse(String(at)), Date.now()),
    whoOf(String(by)),
    reason,
  ]);
  printer.note(dim('undo the last: instar undo; go back further: instar generations rollback STEP'));
});

const diffGenerations = onApi(async ({ args }: Positional, { lessonsApi, printer }) => {
  const newest = Number((await lessonsApi.generations()).at(-1)?.generation ?? 0);
  const from = Number(args[0]);
  const to = args[1] === undefined ? newest : Number(args[1]);
  const diff = await lessonsApi.diff(from, to);
  if (diff === undefined) throw unknownGeneration(from > newest ? from : to);
  printer.document(diff);
  const lines = (lessons: unknown, mark: string, style: 'green' | 'red' | 'yellow'): number => {
    for (const lesson of asArray(lessons).map(asObject))
      printer.line({ text: `${mark} `, style }, `${titleText(lesson)} (${shortId(String(lesson.id))})`);
    return asArray(lessons).length;
  };
  const count =
    lines(diff.added, '+', 'green') + lines(diff.removed, '-', 'red') + lines(diff.revised, '~', 'yellow');
  if (count === 0) printer.note(`The lessons of generations ${from} and ${to} are the same.`);
});

const rollbackGeneration = onApi(async ({ args }: Positional, { lessonsApi, printer }) => {
  const to = Number(args[0]);
  const before = Number((await lessonsApi.generations()).at(-1)?.generation ?? 0);
  const done = await lessonsApi.rollback(to);
  if (done === undefined) throw unknownGeneration(to);
  printer.document(done);
  printer.line(
    `Rolled back to the lessons of generation ${to}, as generation ${String(done.generation)}. Undo: instar generations rollback ${before}`,
  );
});

const unknownGeneration = (generation: number): Error =>
  failure(`There is no generation ${generation}.`, 'see: instar generations list');
