import { asArray, asObject, asString, type JsonObject } from '../core/json.ts';
import { localTime, plural, relativeTime } from '../text/phrases.ts';
import { shortId } from '../text/short-id.ts';
import type { CommandContext } from './context.ts';
import { dim, lineWidth, type Part } from './print.ts';
import { printWrapped, titleText } from './show-lessons.ts';

/** Of lessons that were not shown for the same kind of reason, this many are named. */
const MOST_OF_A_KIND = 5;

/** The forms in which something stands in a prompt. */
const FORMS: Readonly<Record<string, string>> = { shown: 'shown', listed: 'a line', quoted: 'said before' };

/** Verdicts about lessons that were in use and in scope come first; of the others fewer are of interest. */
const HEADINGS: readonly (readonly [heading: string, verdicts: readonly string[]])[] = [
  ['held out', ['held-out']],
  [
    'not shown',
    [
      'over-limit',
      'over-budget',
      'near-duplicate',
      'hidden-by-age',
      'no-error',
      'not-relevant',
      'no-task',
      'block-frozen',
    ],
  ],
  ['none for it', ['aux-call', 'no-key', 'unreadable', 'not-recorded']],
  ['other scope', ['other-agent', 'other-project', 'other-run-kind', 'other-domain', 'private']],
  ['not in use', ['not-approved', 'written-later', 'retired', 'rejected', 'expired', 'kind-not-shown']],
];

/** Which lessons a turn was shown, which not, and why: one line for each lesson. */
export function printExplanation(
  context: CommandContext,
  explanation: JsonObject,
  now: number,
  isAll: boolean,
): void {
  const { printer } = context;
  const shown = asArray(explanation.shown).length;
  const at = Date.parse(asString(explanation.at) ?? '');
  const where = [asString(explanation.agent), asString(explanation.project)].filter(
    (word) => word !== undefined,
  );
  const say = (words: string): void => printWrapped(printer, words, lineWidth(context.stdout, context.env));
  const count = shown === 0 ? 'no lessons shown' : `${plural(shown, 'lesson')} shown`;
  say(
    `turn ${shortId(asString(explanation.turn) ?? '')} of ${where.join(' in ')}, ${localTime(at)} (${relativeTime(at, now)}), generation ${String(explanation.generation)}: ${count}`,
  );
  const note = asString(explanation.note);
  if (note !== undefined) say(note);
  const { tier, target, reason } = asObject(explanation.route);
  if (tier !== undefined) say(`router: ${String(tier)} ${String(target)}: ${String(reason)}`);
  const lessons = asArray(explanation.lessons).map(asObject);
  const rows = HEADINGS.flatMap(([heading, verdicts]) =>
    rowsOf(
      heading,
      lessons.filter(({ verdict }) => verdicts.includes(asString(verdict) ?? '')),
      isAll,
    ),
  );
  const ranked = asArray(explanation.ranking)
    .map(asObject)
    .flatMap((one) => rowsOf(FORMS[asString(one.verdict) ?? ''] ?? '', [one], true));
  if (ranked.length + rows.length > 0) printer.line('');
  printer.fields([...ranked, ...rows]);
  const compared = asArray(explanation.choices)
    .map(asObject)
    .findLast(({ engine }) => asString(engine) !== 'none');
  if (compared === undefined || lessons.length === 0) return;
  const { name = 'general', reason: why = 'default' } = asObject(compared.domain);
  const by = asString(compared.fallback) ?? `compared by ${String(compared.engine)}`;
  printer.note(dim(`${by}; domain ${String(name)} (${String(why)})`));
}

const idOf = ({ id }: JsonObject): string => (typeof id === 'string' ? ` (${shortId(id)})` : '');

function rowsOf(
  heading: string,
  lessons: readonly JsonObject[],
  isAll: boolean,
): readonly (readonly [string, Part])[] {
  const named = isAll ? lessons : lessons.slice(0, MOST_OF_A_KIND);
  const rows = named.map((lesson): readonly [string, Part] => [
    heading,
    `${titleText(lesson)}${idOf(lesson)}: ${asString(lesson.because) ?? ''}`,
  ]);
  const rest = lessons.length - named.length;
  return rest === 0 ? rows : [...rows, [heading, dim(`and ${rest} more (--all names them)`)]];
}
