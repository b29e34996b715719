import { readFileSync } from 'node:fs';
import { asArray, asObject, asString, compact, type JsonObject, parseJson } from '../core/json.ts';
import { type DeclareCommand, failure, type Positional } from './context.ts';
import { findLesson } from './find-lesson.ts';
import { rare } from './help.ts';
import { onApi } from './with-api.ts';

/** `instar lessons check NAME`. */
export const declareCheckLesson: DeclareCommand = (lessons, act) => {
  lessons
    .command('check', rare)
    .argument('<lesson>', 'id or name of a lesson')
    .option('--set <file>', 'the check in this file (JSON) in place of the one it has')
    .option('--confirm', 'the check is right: use it as if it had been proven')
    .option('--remove', 'take the check away')
    .description('Show how Instar tells whether work kept to a rule; confirm, replace or remove that check.')
    .action(act(checkLesson));
};

interface CheckOptions extends Positional {
  readonly set?: string;
  readonly confirm?: true;
  readonly remove?: true;
}

const checkLesson = onApi(async ({ args, ...options }: CheckOptions, { lessonsApi, printer }) => {
  const name = args[0] ?? '';
  const lesson = await findLesson(lessonsApi, name);
  const id = asString(lesson.id) ?? name;
  if (options.set === undefined && options.confirm !== true && options.remove !== true) {
    printer.document(
      compact({
        check: lesson.check ?? null,
        noCheck: lesson.noCheck ?? null,
        cannotCheck: lesson.cannotCheck,
      }),
    );
    for (const line of checkLines(lesson)) printer.line(line);
    return;
  }
  const done = await lessonsApi.change({
    changes: [changeOf(id, lesson, options)],
    reason: reasonOf(options),
  });
  const { status, why } = asObject(asArray(done.results)[0]);
  if (status === 'refused') throw failure(String(why), 'see: instar lessons check NAME');
  const after = (await lessonsApi.show(id)) ?? {};
  printer.document({ check: after.check ?? null });
  for (const line of checkLines(after)) printer.line(line);
});

const reasonOf = ({ set, remove }: CheckOptions | Omit<CheckOptions, 'args'>): string =>
  remove === true
    ? 'its check was removed'
    : set === undefined
      ? 'its check was confirmed'
      : 'its check was set';

function changeOf(id: string, lesson: JsonObject, { set, remove }: Omit<CheckOptions, 'args'>): JsonObject {
  if (remove === true) return { op: 'check', id };
  if (set !== undefined) return { op: 'check', id, check: readFile(set) };
  const { words: _, ...check } = asObject(lesson.check);
  if (lesson.check === undefined)
    throw failure('it has no check to confirm', 'set one: instar lessons check NAME --set FILE');
  return { op: 'check', id, check };
}

/** What a person need not write is filled in. */
function readFile(file: string): JsonObject {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    const { message } = error as Error;
    throw failure(`${file} cannot be read: ${message}`);
  }
  const check = parseJson(text);
  if (typeof check !== 'object' || check === null || Array.isArray(check))
    throw failure(`${file} is no JSON object`, 'see the form: instar lessons check NAME --json');
  return {
    appliesWhen: [],
    ...(check as JsonObject),
    standing: 'accepted',
    by: 'person',
    proof: 'set by a person',
  };
}

/** For `lessons check` and `lessons show`. */
export function checkLines(lesson: JsonObject): readonly string[] {
  const { words, standing, proof } = asObject(lesson.check);
  if (words === undefined) return [`no check: ${asString(lesson.noCheck) ?? 'not known'}`];
  return [
    String(words),
    `${String(standing)}: ${String(proof)}`,
    ...[asString(lesson.cannotCheck) ?? []].flat(),
  ];
}
