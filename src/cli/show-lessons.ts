import { plural } from '../text/phrases.ts';
import { dim, type Part, type Printer } from './print.ts';

/** A JSON object of the lessons API. */
export type LessonJson = Readonly<Record<string, unknown>>;

export const lessonRow = (lesson: LessonJson): readonly string[] => [
  text(lesson.id),
  text(lesson.state) + (lesson.isUnused ? ' (not in use)' : lesson.pinned ? ' (pinned)' : ''),
  text(lesson.kind),
  text(lesson.name),
  describeEffect(lesson.effect as LessonJson),
  text(lesson.description).slice(0, 60),
];

/** A lesson in full: its text, scope, effect, evidence and history. */
export function printLesson(printer: Printer, lesson: LessonJson): void {
  printer.line({ text: text(lesson.name), style: 'bold' }, `  ${text(lesson.id)} r${text(lesson.revision)}`);
  printer.line(dim(text(lesson.description)));
  printer.line('');
  for (const line of text(lesson.content).split('\n')) printer.line(`  ${line}`);
  printer.line('');
  const evidence = lesson.evidence as LessonJson;
  const scope = Object.entries(lesson.scope as LessonJson).map(
    ([field, pattern]) => `${field} ${text(pattern)}`,
  );
  printer.table([
    [dim('state'), `${text(lesson.state)}${lesson.reason ? `: ${text(lesson.reason)}` : ''}`],
    [dim('scope'), scope.join(', ') || 'anywhere'],
    [dim('effect'), describeEffect(lesson.effect as LessonJson)],
    [
      dim('from'),
      `${text(evidence.learner)}, ${plural((evidence.turns as readonly unknown[]).length, 'turn')}`,
    ],
    [dim('hash'), text(lesson.hash)],
  ]);
  for (const { turn, text: quote } of evidence.quotes as readonly LessonJson[])
    printer.line(dim(`  “${text(quote) || 'erased'}” `), text(turn));
  printer.line('');
  printer.table([
    ['WHEN', 'WHO', 'WHAT', 'GEN', 'WHY'].map(dim),
    ...(lesson.history as readonly LessonJson[]).map((event) => [
      text(event.at),
      text(event.by),
      `${text(event.op)} → ${text(event.state)} r${text(event.revision)}`,
      text(event.generation),
      text(event.reason),
    ]),
  ]);
}

/** Which lessons a turn was shown, and how each candidate was judged. */
export function printExplanation(printer: Printer, explanation: LessonJson): void {
  const shown = explanation.shown as readonly LessonJson[];
  printer.line(
    { text: text(explanation.turn), style: 'bold' },
    ` generation ${text(explanation.generation)}, ${shown.length === 0 ? 'no lessons shown' : `${plural(shown.length, 'lesson')} shown`}`,
  );
  if (explanation.note !== undefined) printer.line(text(explanation.note));
  for (const choice of explanation.choices as readonly LessonJson[]) {
    const domain = choice.domain as LessonJson;
    printer.line('');
    printer.line(
      `${text(choice.at)} ${text(choice.why)}: domain ${text(domain.name)} (${text(domain.reason)}), compared by ${text(choice.engine)}`,
    );
    printer.table([
      ['LESSON', 'NAME', 'RELEVANCE', 'ACTIVATION', 'VERDICT'].map(dim),
      ...(choice.considered as readonly LessonJson[]).map((one) => [
        text(one.id),
        text(one.name),
        decimals(one.relevance),
        decimals(one.activation),
        text(one.verdict),
      ]),
    ]);
  }
}

const REVIEW_PARTS = ['waiting', 'byFile', 'same', 'contradictions', 'forgettable'] as const;

/** Lessons that wait for approval, duplicate or contradict another, or are not used. */
export function printReview(printer: Printer, review: LessonJson): void {
  const list = (key: (typeof REVIEW_PARTS)[number]): readonly LessonJson[] =>
    (review[key] ?? []) as readonly LessonJson[];
  const pair = ({ names }: LessonJson): string => (names as readonly string[]).join(' and ');
  const label = (name: string, style: 'yellow' | 'cyan' | 'red' | 'dim'): Part => ({
    text: name.padEnd(14),
    style,
  });
  for (const lesson of list('waiting')) {
    printer.line(label('needs review', 'yellow'), `${String(lesson.name)} (${String(lesson.id)})`);
    if (lesson.reason !== undefined) printer.line(dim(`${' '.repeat(14)}${text(lesson.reason)}`));
  }
  for (const lesson of list('byFile'))
    printer.line(
      label('by file', 'yellow'),
      `${text(lesson.name)} (${text(lesson.id)}): ${text(lesson.what)} ${text(lesson.at)}`,
    );
  for (const one of list('same')) printer.line(label('duplicates', 'cyan'), pair(one));
  for (const one of list('contradictions'))
    printer.line(label('contradicts', 'red'), `${pair(one)}: ${String(one.why)}`);
  for (const one of list('forgettable'))
    printer.line(label('unused', 'dim'), `${String(one.name)}: ${String(one.reason)}`);
  if (REVIEW_PARTS.every((key) => list(key).length === 0)) printer.note('nothing to review');
}

/** `+0.12 [0.02, 0.22]`, or the number of sessions measured so far. */
function describeEffect(effect: LessonJson): string {
  const { difference, low, high } = effect;
  const sessions = (arm: unknown): string => text((arm as LessonJson | undefined)?.n ?? 0);
  const counts = `${sessions(effect.with)} with, ${sessions(effect.without)} without`;
  if (typeof difference !== 'number' || typeof low !== 'number' || typeof high !== 'number') return counts;
  return `${signed(difference)} [${signed(low)}, ${signed(high)}] ${counts}`;
}

const signed = (value: number): string => `${value < 0 ? '' : '+'}${value.toFixed(2)}`;
const decimals = (value: unknown): string => (typeof value === 'number' ? value.toFixed(2) : '');
const text = (value: unknown): string => (value === undefined || value === null ? '' : String(value));
