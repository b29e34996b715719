import { asArray, asNumber, asObject, asString, type JsonObject } from '../core/json.ts';
import { dollars, localTime, plural, relativeTime } from '../text/phrases.ts';
import { shortId } from '../text/short-id.ts';
import { cutToWidth, wrapText } from '../text/text-width.ts';
import { whoOf } from '../text/who.ts';
import { checkLines } from './check-lesson.ts';
import { dim, type Part, type Printer } from './print.ts';

/** A JSON object of the lessons API. */
export type LessonJson = Readonly<Record<string, unknown>>;

const timeOf = (value: unknown): number => Date.parse(text(value));

/** From this width on a list also says what each lesson is for. */
const WIDE = 110;
/** What the other columns need on a narrow terminal. */
const NARROW_REST = 50;

/** The columns of `lessons list`. Without a width a program reads them, and gets every word. */
export function printLessons(
  printer: Printer,
  lessons: readonly LessonJson[],
  width: number | undefined,
): void {
  const isWide = width === undefined || width >= WIDE;
  const hasKinds = isWide && lessons.some(({ kind }) => kind !== 'skill');
  const wide = <T>(...cells: readonly T[]): readonly T[] => (isWide ? cells : []);
  const titleWidth = isWide ? Number.POSITIVE_INFINITY : Math.max(20, width - NARROW_REST);
  printer.table(
    [
      'LESSON',
      ...wide('ID'),
      'STATE',
      ...(hasKinds ? ['KIND'] : []),
      'KEPT',
      'CHANGED',
      ...wide(width === undefined ? 'EFFECT' : 'EFFECT (scored sessions)', 'FOR'),
    ],
    lessons,
    (lesson) => [
      cutToWidth(titleText(lesson), titleWidth),
      ...wide(shortId(text(lesson.id))),
      stateOf(lesson),
      ...(hasKinds ? [text(lesson.kind)] : []),
      keptCell(asObject(lesson.adherence), isWide),
      relativeTime(timeOf(lesson.changedAt), Date.now()),
      ...wide(
        width === undefined ? effectCell(lesson) : effectCell(lesson).replace(/; too early to tell.*$/, ''),
        purposeOf(lesson),
      ),
    ],
  );
}

/** Of an older daemon, the name. */
export const titleText = ({ title, name }: LessonJson): string => text(title) || text(name);

/** What a lesson is for; nothing where it is a quotation, which the title repeats. */
const purposeOf = ({ description }: LessonJson): string =>
  /^".*"$/s.test(text(description)) ? '' : text(description);

const stateOf = (lesson: LessonJson): string =>
  [
    text(lesson.state),
    lesson.isUnused ? 'not in use' : '',
    lesson.pinned ? 'pinned' : '',
    lesson.frozen ? 'frozen' : '',
  ]
    .filter((word) => word !== '')
    .join(', ');

/** `kept 6 of 7`; on a narrow terminal without what is known where nothing was checked. */
const keptCell = ({ words }: JsonObject, isWide: boolean): string =>
  isWide ? text(words) : text(words).replace(/, (?:not corrected again \d+|nothing to check yet)/, '');

/** What closed a lesson, or what its trial decided, says more than an effect that is not measured. */
function effectCell(lesson: LessonJson): string {
  const effect = asObject(lesson.effect);
  const trial = asObject(lesson.trial);
  const isDecided = trial.outcome !== undefined && trial.outcome !== 'untested';
  const isMeasured = effect.verdict !== undefined && effect.verdict !== 'unknown';
  return (
    asString(asObject(lesson.closed).words) ??
    (isDecided && !isMeasured ? asString(trial.words) : undefined) ??
    describeEffect(effect) ??
    ''
  );
}

/** A lesson in full: its text, why it is in its state, its evidence, its effect and its history. */
export function printLesson(printer: Printer, lesson: LessonJson, now: number): void {
  const why = asObject(lesson.why);
  printer.line(
    { text: titleText(lesson), style: 'bold' },
    `  ${shortId(text(lesson.id))} r${text(lesson.revision)}`,
  );
  printer.line(dim(text(lesson.description)));
  printer.line('');
  for (const line of text(lesson.content).split('\n')) printer.line(`  ${line}`);
  printer.line('');
  const scope = Object.entries(asObject(lesson.scope)).map(([name, pattern]) =>
    name === 'project' ? `project ${asString(lesson.project) ?? text(pattern)}` : `${name} ${text(pattern)}`,
  );
  const since = timeOf(why.since);
  printer.fields([
    ['state', `${stateOf(lesson)}, since ${localTime(since)} (${relativeTime(since, now)})`],
    ['why', asString(why.because) ?? text(lesson.reason)],
    ...field('next', nextStep(lesson, asString(why.fix))),
    [
      isAction(lesson) ? 'acts for' : 'shown to',
      `${scope.join(', ') || 'every agent'}${lesson.isAlways === true ? ', in every task' : ''}`,
    ],
    ...field(
      'shared',
      lesson.isAlways === true && asObject(lesson.scope).agent !== undefined
        ? 'with your other agents once library.shareAgents is true'
        : undefined,
    ),
    ...field('does', isAction(lesson) ? JSON.stringify(asObject(lesson.overlay).payload) : undefined),
    [
      'check',
      checkLines(asObject(lesson))
        .join('; ')
        .replace(/^no check: /, 'none: '),
    ],
    ['kept', asString(asObject(lesson.adherence).words) ?? 'not shown yet'],
    ...breakRows(asArray(lesson.brokenIn).map(asObject), now),
    ...field('effect', describeEffect(asObject(lesson.effect))),
    ...useRows(asArray(lesson.uses).map(asObject)),
    ...field('trial', asString(asObject(lesson.trial).words)),
    ...field('from', asString(lesson.origin)),
    [
      'written',
      `by ${text(lesson.writtenBy)}${priceOf(asObject(lesson.cost))}, ${localTime(timeOf(lesson.createdAt))}`,
    ],
    ...quoteRows(asObject(lesson.evidence), asObject(lesson.overlay), now),
    ...linkRows(asArray(lesson.linked).map(asObject)),
  ]);
  printer.line('');
  printer.table(
    ['WHEN', 'WHO', 'WHAT', 'GEN', 'WHY'],
    asArray(lesson.history as JsonObject[]).map(asObject),
    (event) => [
      localTime(timeOf(event.at)),
      whoOf(text(event.by)),
      `${text(event.op)} → ${text(event.state)} r${text(event.revision)}`,
      text(event.generation),
      text(event.reason),
    ],
  );
}

/** ` for $0.004`; nothing where no model was paid or its price is unknown. */
const priceOf = ({ usd }: JsonObject): string =>
  asNumber(usd) === undefined ? '' : ` for ${dollars(asNumber(usd) ?? 0)}`;

/** `about         Deploy on weekdays, Write release notes (retired)`: a row for each type of link. */
function linkRows(linked: readonly JsonObject[]): readonly (readonly [string, string])[] {
  const rows = new Map<string, string[]>();
  for (const { type, state, ...names } of linked)
    rows.set(text(type), [
      ...(rows.get(text(type)) ?? []),
      state === 'retired' || state === 'rejected' ? `${titleText(names)} (${text(state)})` : titleText(names),
    ]);
  return [...rows].map(([type, names]) => [type.replace('-', ' '), names.join(', ')]);
}

/** It changes how requests are served, and is in no prompt. */
const isAction = ({ kind }: LessonJson): boolean => kind === 'route' || kind === 'limit' || kind === 'flow';

const field = (label: string, value: string | undefined): readonly (readonly [string, string])[] =>
  value === undefined ? [] : [[label, value]];

/** The command for what can be done about a lesson's state. */
function nextStep({ state, name }: LessonJson, fix: string | undefined): string | undefined {
  if (state === 'proposed') return `${fix ?? ''} (or: instar lessons drop ${text(name)})`;
  if (state === 'trial') return `${fix ?? ''} ends the trial; instar lessons drop ${text(name)} ends its use`;
  if (fix === undefined) return undefined;
  return state === 'live' ? `${fix} ends its use` : `${fix} brings it back`;
}

/** `broken        in session third, turn t_12, 3 min ago (instar sessions show third)`. */
const breakRows = (breaks: readonly JsonObject[], now: number): readonly (readonly [string, string])[] =>
  breaks.map(({ session, turn, at }) => [
    'broken',
    `in session ${shortId(text(session))}, turn ${shortId(text(turn))}, ${relativeTime(timeOf(at), now)}`,
  ]);

const MOST_QUOTES = 12;

/** `“use ISO dates”: you, 3 min ago`. */
function quoteRows(
  evidence: JsonObject,
  overlay: JsonObject,
  now: number,
): readonly (readonly [string, Part])[] {
  const quotes = asArray(evidence.quotes).map(asObject);
  const turns = asArray(evidence.turns).length;
  const rows = quotes.slice(0, MOST_QUOTES).map((quote): readonly [string, Part] => {
    const said = asString(quote.text);
    const whom = asString(quote.by) ?? 'recorded';
    const when = quote.at === undefined ? '' : `, ${relativeTime(timeOf(quote.at), now)}`;
    return ['evidence', `${said === undefined ? '(erased)' : `“${said}”`}: ${whom}${when}`];
  });
  const rest = quotes.length - rows.length;
  if (rest > 0) rows.push(['evidence', `and ${plural(rest, 'more quote')} (--json has all)`]);
  const events = asArray(asObject(overlay.from).records);
  if (events.length > 0)
    rows.push([
      'evidence',
      `event ${events.map(String).join(', ')} and others like it (instar adapt events)`,
    ]);
  if (turns > 0 || rows.length === 0)
    rows.push(['evidence', turns === 0 ? 'none recorded' : `${plural(turns, 'turn')} in all`]);
  return rows;
}

type ReviewPart = 'waiting' | 'undecided' | 'byFile' | 'same' | 'contradictions' | 'forgettable';

/** Lessons that wait for approval, duplicate or contradict another, or are not used: rows for `printer.fields`. */
export function reviewRows(review: LessonJson, now: number): readonly (readonly [string, Part])[] {
  const list = (key: ReviewPart): readonly LessonJson[] => (review[key] ?? []) as readonly LessonJson[];
  const pair = ({ titles, names }: LessonJson): string =>
    asArray((titles ?? names) as readonly string[])
      .map((one) => `“${String(one)}”`)
      .join(' and ');
  return [
    ...list('waiting').flatMap((lesson): readonly (readonly [string, Part])[] => [
      ['needs you', `${titleText(lesson)}: ${text(lesson.reason) || 'every change needs approval'}`],
      ['needs you', { text: `→ instar lessons keep ${text(lesson.name)}, or drop it`, style: 'cyan' }],
    ]),
    ...list('undecided').flatMap((lesson): readonly (readonly [string, Part])[] => [
      ['on trial', `${titleText(lesson)}: ${text(lesson.reason)}`],
      ['on trial', { text: `→ instar lessons keep ${text(lesson.name)} --live, or drop it`, style: 'cyan' }],
    ]),
    ...list('byFile').map((lesson): readonly [string, Part] => [
      'by file',
      `${titleText(lesson)}: ${text(lesson.what)} ${relativeTime(timeOf(lesson.at), now)}`,
    ]),
    ...list('same').map((one): readonly [string, Part] => ['duplicates', pair(one)]),
    ...list('contradictions').map((one): readonly [string, Part] => [
      'contradicts',
      `${pair(one)}: ${text(one.why)}`,
    ]),
    ...list('forgettable').map((one): readonly [string, Part] => [
      'unused',
      `${titleText(one)}: ${text(one.reason)}`,
    ]),
  ];
}

/** Of a lesson of the team: what became of the sessions in which each member was shown it. */
const useRows = (uses: readonly JsonObject[]): readonly (readonly [string, string])[] =>
  uses.map(({ member, sessions, worked, failed }) => [
    'used',
    `${member === undefined ? 'here' : `by ${text(member)}`} in ${plural(Number(sessions), 'session')}: ${text(worked)} worked, ${text(failed)} failed in spite of it`,
  ]);

/** The effect in words; undefined for a person's word, which is not measured. */
const describeEffect = (effect: JsonObject): string | undefined => asString(effect.words);

/** A sentence that continues under itself. */
export function printWrapped(printer: Printer, words: string, width: number | undefined): void {
  for (const line of width === undefined ? [words] : wrapText(words, width)) printer.line(line);
}

const text = (value: unknown): string => (value === undefined || value === null ? '' : String(value));
