import type { Lesson, LessonPlace, LessonText, PlacedLessons } from '../core/lesson.ts';
import type { Recollection } from '../core/recollection.ts';
import { writtenDay } from '../text/phrases.ts';
import { truncateEnd } from '../text/truncate.ts';
import { SHOWN_HEADINGS } from '../text/typed-text.ts';
import { oneLine } from '../text/visible-text.ts';
import { contentOf } from './check-overlay.ts';
import { byPlaceInBlock } from './identity-tier.ts';
import { firstRule, isSituation, promptName, quotedRule } from './title.ts';

/*
 * The only place where lessons are rendered: production, practice and the gate show the same bytes. The text depends only
 * on the lessons' texts and the order of the lines, never on dates or scores; a session's text is made once and kept, so that
 * a provider's prompt cache can hold it.
 */

const {
  lessons: HEADING,
  update: UPDATE_HEADING,
  again: AGAIN,
  past: PAST,
  reminder: REMINDER,
} = SHOWN_HEADINGS;
const FRAMING =
  'Lessons from earlier work with this user. Follow them where they fit the task; what the user says now comes first.';
const LINES =
  'Also learned, one rule a line, for tasks that they fit (the tool pull_experiences, if you have it, gives the whole text by name):';
const REPLACES = 'A skill below replaces the earlier one of its name.';
const WITHDRAWN = 'No longer valid, to be disregarded: ';

/**
 * The block at the beginning of a thread: identities, then the lines of `index` in their order, then the other `lessons` with their bodies, by
 * id. Empty for no lessons. The lines are a paragraph of their own, which no lesson's text can end.
 */
export function renderBlock(lessons: readonly Lesson[], index: readonly Lesson[] = []): string {
  if (lessons.length === 0 && index.length === 0) return '';
  const [who, advice] = withIdentitiesApart(lessons);
  return [HEADING, FRAMING, ...renderEach(who), ...renderIndex(index), ...renderEach(advice)].join('\n\n');
}

/** Who the agent is stands before all that it was taught. */
const withIdentitiesApart = (lessons: readonly Lesson[]): readonly [readonly Lesson[], readonly Lesson[]] => [
  lessons.filter(({ kind }) => kind === 'identity'),
  lessons.filter(({ kind }) => kind !== 'identity'),
];

interface Delta {
  /** New and revised lessons, with their bodies. */
  readonly lessons: readonly Lesson[];
  /** New and revised ones by a line each, the nearest to the task first. */
  readonly index?: readonly Lesson[];
  /** The names of withdrawn ones. */
  readonly withdrawn: readonly string[];
  /** The thread has no block that would say what these are. */
  readonly isFirst?: boolean;
  /** Says why they come now. One line. */
  readonly lead?: string;
}

/** The text that is added later in a thread; empty when nothing is new. */
export function renderDelta({ lessons, index = [], withdrawn, isFirst = false, lead }: Delta): string {
  if (lessons.length === 0 && index.length === 0 && withdrawn.length === 0) return '';
  const names = [...withdrawn].map(joinLines).sort();
  const [who, advice] = withIdentitiesApart(lessons);
  return [
    UPDATE_HEADING,
    ...(names.length === 0 ? [] : [`${WITHDRAWN}${names.join(', ')}`]),
    ...(isFirst && lessons.length + index.length > 0 ? [FRAMING] : []),
    ...(lead === undefined ? [] : [lead]),
    ...(isFirst ? renderEach(who) : []),
    ...renderIndex(index),
    ...(lessons.length === 0 ? [] : isFirst ? renderEach(advice) : [REPLACES, ...renderEach(lessons)]),
  ].join('\n\n');
}

/** The names of the lessons that a delta withdraws, from the paragraph under its heading; no lesson's text can stand there. */
export function withdrawnIn(delta: string): readonly string[] {
  const [heading, paragraph = ''] = delta.split('\n\n', 2);
  if (heading !== UPDATE_HEADING) return [];
  return paragraph.startsWith(WITHDRAWN) ? paragraph.slice(WITHDRAWN.length).split(', ') : [];
}

const renderIndex = (index: readonly Lesson[]): readonly string[] =>
  index.length === 0 ? [] : [[LINES, ...index.map(renderLine)].join('\n')];

const LONGEST_SITUATION = 90;
const LONGEST_RULE = 130;
const LONGEST_LINE = 200;
/** A shorter description names a topic; a longer one says what to do. */
const TELLING = 60;
/** A lesson as one line that holds its rule: its description, and the first rule of its text where that is missing. */
export const renderLine = ({ text }: Lesson): string => `- ${joinLines(promptName(text))}: ${ruleLine(text)}`;

function ruleLine(text: LessonText): string {
  const description = joinLines(text.description);
  // A description that quotes a person is the rule itself; the body has the same words.
  const rule = quotedRule(text) === undefined ? firstRule(text) : '';
  const isSaid = rule === '' || description.includes(rule) || rule.includes(description);
  if (isSaid || (!isSituation(description) && description.length >= TELLING)) {
    const longer = rule.length > description.length && isSaid ? rule : description;
    return truncateEnd(longer, LONGEST_LINE);
  }
  const situation = truncateEnd(description, LONGEST_SITUATION).replace(/[.:;,]$/, '');
  return `${situation}: ${truncateEnd(rule, LONGEST_RULE)}`;
}

const renderEach = (lessons: readonly Lesson[]): readonly string[] =>
  [...lessons].sort(byPlaceInBlock).map(renderLesson);

function renderLesson({ text }: Lesson): string {
  const description = joinLines(text.description);
  const heading = `### ${joinLines(promptName(text))}${description === '' ? '' : `\n_${description}_`}`;
  const body = keepInside(contentOf(text));
  return body === '' ? heading : `${heading}\n\n${body}`;
}

/** Names and descriptions are one line each, also imported ones: a second line could be a heading. */
const joinLines = (text: string): string => text.split(/\s/).filter(Boolean).join(' ');

/**
 * A body cannot end its own section: a line that looks like one of our headings is indented by four spaces, which makes it
 * plain text in Markdown and leaves a comment in a script valid, and an open code fence is closed. Besides, only line ends
 * and the white space around the body change.
 */
function keepInside(content: string): string {
  const body = content
    .replace(/\r\n?|[\u0085\u2028\u2029\v\f]/g, '\n')
    .replace(/^(?=(?: |\p{Cf}){0,3}(?:###(?!#)|##[ \t]*active skills))/gimu, '    ')
    .trimEnd()
    .replace(/^\n+/, '');
  const fence = openFence(body);
  return fence === undefined ? body : `${body}\n${fence}`;
}

/** The fence of an unclosed code block. */
function openFence(body: string): string | undefined {
  let open: string | undefined;
  for (const [, fence = '', rest = ''] of body.matchAll(/^ {0,3}(`{3,}|~{3,})(.*)$/gm)) {
    if (open === undefined) open = fence;
    else if (fence.startsWith(open) && rest.trim() === '') open = undefined;
  }
  return open;
}

/*
 * Lessons for models of a few billion parameters. They answer a block with headings instead of following it, and follow the same
 * words where a user would have said them: in the user's message (docs/start.md).
 */

const LEAD = 'As I said before: ';

/**
 * What was written by a model or by a person, as it was written; then the user's own words, a line each. By id; empty for none. `index`: what
 * people told and has no room for its text.
 */
export function renderSaid(lessons: readonly Lesson[], index: readonly Lesson[] = []): string {
  const shortened = index.toSorted(byPlaceInBlock);
  const words = [...lessons.toSorted(byPlaceInBlock), ...shortened].map(readWords);
  const texts = words
    .slice(0, lessons.length)
    .flatMap((one) => (one.isUser || one.words === '' ? [] : [one.words]));
  const lines = shortened.filter((lesson) => !readWords(lesson).isUser).map(renderLine);
  const written = [...texts, ...(lines.length === 0 ? [] : [lines.join('\n')])];
  const own = [...new Set(words.flatMap((one) => (one.isUser ? [one.words] : [])))];
  return [...written, ...(own.length === 0 ? [] : [`${LEAD}${own.join('\n')}`])].join('\n\n');
}

const AGAIN_FRAMING =
  'The beginning of this conversation was shortened. Before, the user said, word for word (what the user says now comes first):';

/** Sentences of the user that the conversation has lost. */
export const renderQuotes = (quotes: readonly string[], place: LessonPlace): string =>
  place === 'message'
    ? `${LEAD}${quotes.map(oneLine).join('\n')}`
    : [AGAIN, AGAIN_FRAMING, quotes.map((quote) => `- "${oneLine(quote)}"`).join('\n')].join('\n\n');

const PAST_FRAMING =
  'Found for this message: what the user said before, word for word, the oldest first. Where two differ, the later one holds. Ignore what does not answer the message.';

/** What the user said in earlier sessions, with its day. */
export function renderPast(quotes: readonly Recollection[], place: LessonPlace): string {
  const lines = quotes.map(renderQuote).join('\n');
  return place === 'message' ? `What I said before:\n${lines}` : [PAST, PAST_FRAMING, lines].join('\n\n');
}

/** The day on which it was said, the words, and the times that they name. */
function renderQuote({ at, text, times }: Recollection): string {
  const said = new Date(at);
  const weekday = new Intl.DateTimeFormat('en', { weekday: 'long' }).format(said);
  return `- ${writtenDay(said)} (${weekday}): "${oneLine(text)}"${describeTimes(times)}`;
}

/** What "yesterday" in a quotation was: " (yesterday: 3 May 2026)". */
export const describeTimes = (times: Recollection['times']): string =>
  times.length === 0 ? '' : ` (${times.map(({ words, means }) => `${words}: ${means}`).join(', ')})`;

/** A rule that is shown once more. */
export interface RemindedRule {
  readonly lesson: Lesson;
  /** The answer that did not keep to it: the last one, or one before. Absent: it only stands far back. */
  readonly broken?: 'last' | 'earlier';
}

/** A line for each rule. It stands behind a message, far from the text that says what lessons are. */
export function renderReminder(rules: readonly RemindedRule[], place: LessonPlace): string {
  const lines = rules.map(({ lesson: { text }, broken }) => {
    const quoted = quotedRule(text);
    const words = quoted === undefined ? ruleLine(text) : oneLine(quoted);
    if (place === 'message') return `${LEAD}${words}${BROKEN_SAID[broken ?? 'far']}`;
    const lead = quoted === undefined ? 'The rule' : 'You were told';
    return `${lead}: "${words}" — ${BROKEN_TOLD[broken ?? 'far']}`;
  });
  return place === 'message' ? lines.join('\n') : [REMINDER, lines.join('\n')].join('\n\n');
}

const BROKEN_TOLD = {
  last: 'the last answer did not keep to it.',
  earlier: 'an earlier answer did not keep to it.',
  far: 'it is about what you are doing now.',
} as const;

/** In the words of the user. */
const BROKEN_SAID = {
  last: '\nYour last answer did not keep to that.',
  earlier: '\nOne of your answers did not keep to that.',
  far: '',
} as const;

/** A lesson that quotes has its rule in its description. */
function readWords({ text }: Lesson) {
  const content = contentOf(text);
  const quoted = quotedRule(text);
  if (quoted === undefined) return { words: content.trim() || oneLine(text.description), isUser: false };
  const isUser = content.startsWith('The user said');
  return { words: isUser ? oneLine(quoted) : `A check said: ${oneLine(quoted)}`, isUser };
}

/** What a new session is shown: lessons with their text, and others by a line each. */
export function placeLessons(
  place: LessonPlace,
  lessons: readonly Lesson[],
  index: readonly Lesson[],
): PlacedLessons {
  if (place === 'system') return { text: renderBlock(lessons, index) };
  return { text: renderSaid(lessons, index), place };
}
