import type { LessonsApi } from '../core/daemon-api.ts';
import { asArray, asNumber, asObject, asString, type JsonObject } from '../core/json.ts';
import { plural } from '../text/phrases.ts';
import { askOwner, isAtTerminal } from './confirm-owner.ts';
import { EXIT } from './context.ts';
import type { Part } from './print.ts';
import type { LessonJson } from './show-lessons.ts';
import { onApi } from './with-api.ts';

interface ConsolidateOptions {
  readonly plan?: true;
  readonly yes?: true;
}

/** It gives an agent no new text and can be undone, so that a flag may replace the answer. */
export const consolidateLessons = onApi(async ({ plan, yes }: ConsolidateOptions, context) => {
  const { api, printer } = context;
  const planned = await api.consolidate({});
  const changes = asArray(planned.changes);
  printer.fields(planRows(planned));
  const question = `Make these changes (${plural(changes.length, 'change')})? instar generations rollback undoes it.`;
  const isWanted =
    changes.length > 0 &&
    plan !== true &&
    (yes === true || (isAtTerminal(context) && (await askOwner(context, question))));
  if (!isWanted) {
    printer.document(planned);
    if (changes.length > 0) printer.note('nothing was changed; do it with: instar lessons consolidate --yes');
    else printer.line('nothing to consolidate: no two lessons say the same, and none is unused');
    return EXIT.ok;
  }
  const done = await api.consolidate({ apply: true });
  const refused = asArray(done.refused).map(asObject);
  printer.document(done);
  for (const { id, why } of refused)
    printer.line({ text: '✗ ', style: 'red' }, `${String(id)}: ${String(why)}`);
  const count = asArray(done.changes).length - refused.length;
  printer.line(`${plural(count, 'change')} made; generation ${String(done.generation)}`);
  return refused.length === 0 ? EXIT.ok : EXIT.failed;
});

const STEPS: Readonly<Record<string, string>> = {
  contradiction: 'contradicts',
  merge: 'duplicates',
  archive: 'unused',
};

const UNDECIDED: Readonly<Record<string, string>> = {
  ask: 'needs you',
  practise: 'to practise',
};

/** What it would do, and why; rows for `printer.fields`. */
function planRows({ changes, open, left }: JsonObject): readonly (readonly [string, Part])[] {
  const titlesOf = (one: JsonObject): string =>
    asArray(one.titles)
      .map((title) => `“${String(title)}”`)
      .join(' and ');
  const rows = asArray(changes)
    .map(asObject)
    .map((one): readonly [string, Part] => [
      STEPS[asString(one.step) ?? ''] ?? '',
      `${titlesOf(one)}: ${String(one.why)}`,
    ]);
  const undecided = asArray(open)
    .map(asObject)
    .map((one): readonly [string, Part] => [
      one.by === 'ask' && one.isDoubtful === true
        ? 'possible contradiction'
        : (UNDECIDED[asString(one.by) ?? ''] ?? ''),
      `${titlesOf(one)}: ${String(one.why)}`,
    ]);
  const more = asNumber(left) ?? 0;
  return [
    ...rows,
    ...undecided,
    ...(more > 0 ? [['later', `${plural(more, 'more change')} in the next run`] as const] : []),
  ];
}

/** Which lessons `--archived` and `--search` mean. */
export async function chooseLessons(
  lessonsApi: Pick<LessonsApi, 'all'>,
  isArchived: boolean,
  search: string | undefined,
): Promise<(lesson: LessonJson) => boolean> {
  const words = search?.toLowerCase().split(/\s+/);
  const texts = new Map<unknown, string>();
  for (const { id, text } of words === undefined ? [] : (await lessonsApi.all()).map(asObject)) {
    const { name, description, content } = asObject(text);
    texts.set(id, `${String(name)}\n${String(description)}\n${String(content)}`.toLowerCase());
  }
  return ({ id, state, reason }) =>
    (!isArchived || (state === 'retired' && String(reason).startsWith('archived:'))) &&
    (words ?? []).every((word) => (texts.get(id) ?? '').includes(word));
}
