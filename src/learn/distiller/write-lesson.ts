import { createHash } from 'node:crypto';
import type { FailureCase } from '../../core/learn.ts';
import type { LessonText } from '../../core/lesson.ts';
import { slugOfRule } from '../../lessons/title.ts';
import { CORRECTING_CLAUSES, CORRECTING_PHRASES } from '../../reader/cues/reaction-phrases.ts';
import { isRevocation } from '../../reader/cues/revocations.ts';
import { isGeneralStatement, isHabit, isOrder } from '../../reader/cues/standing-phrases.ts';
import { foldWords } from '../../reader/own-sentences.ts';
import { sentencesOf } from '../../text/sentences.ts';
import { truncateEnd } from '../../text/truncate.ts';
import { oneLine } from '../../text/visible-text.ts';
import { replacesWords } from '../compare-words.ts';
import { cutQuote, hasSubject, isAboutSame, type Matter, readMatter } from './matter.ts';
import type { Speaker } from './sayings.ts';

/** What a lesson quotes. All of it is in the record, letter by letter. */
export interface QuotedLesson {
  readonly speaker: Speaker;
  /** How often it was said. */
  readonly count: number;
  /** The words that hold now come first, then earlier ones. */
  readonly quotes: readonly [string, ...string[]];
  /** What the agent was asked to do, newest first. */
  readonly tasks: readonly string[];
  /** What the agent had answered, where the words alone do not tell what they are about. */
  readonly answer?: string;
}

const LONGEST_DESCRIPTION = 240;
const LONGEST_TASK = 160;
const LONGEST_ANSWER = 200;
const MOST_EARLIER = 3;
const MOST_TASKS_SHOWN = 2;
const MOST_TRIGGERS = 8;
const LONGEST_NAME = 48;
const MOST_NAME_WORDS = 5;

const SAID: Readonly<Record<Speaker, string>> = { user: 'The user said', check: 'A check said' };
const TASK = 'The task was:';
const ANSWER = 'This was about what the agent had written:';
const EARLIER = 'Said earlier on the same matter:';
const WORKED = 'When this error came up again:';
const FIX = 'this command got past it:';

const FRAME =
  /^(?:the user|a check) said(?:, \d{1,4} times)?:?$|^(?:the task was|this was about what the agent had written|said earlier on the same matter|when this error came up again|this command got past it):?$/i;

/** Whether a line is this program's own wording, which no record can influence. The quotes stand on lines of their own. */
export const isFrameLine = (line: string): boolean => FRAME.test(line.trim());

/** The text of a lesson: a line that says who said it, and under it the words. */
export function writeLesson({ speaker, count, quotes, tasks, answer }: QuotedLesson) {
  const [lead, ...rest] = quotes;
  const earlier = rest
    .filter((quote) => !replacesWords(lead, quote))
    .map((quote) => ruleIn(quote))
    .filter(hasSubject);
  const rule = ruleIn(lead, rest);
  const times = count > 1 ? `, ${count} times` : '';
  return {
    name: nameOf(rule),
    description: `"${cutQuote(oneLine(rule), LONGEST_DESCRIPTION)}"`,
    content: [
      `${SAID[speaker]}${times}:`,
      quoted(lead),
      ...(tasks.length === 0 ? [] : [TASK, ...tasks.slice(0, MOST_TASKS_SHOWN).map(quoted)]),
      ...(answer === undefined ? [] : [ANSWER, quoted(answer)]),
      ...(earlier.length === 0 ? [] : [EARLIER, ...earlier.slice(0, MOST_EARLIER).map(quoted)]),
    ].join('\n\n'),
  };
}

const quoted = (text: string): string =>
  text
    .split('\n')
    .map((line) => `> ${line}`)
    .join('\n');

/** What a lesson of this learner quotes, from its text; undefined for a text that it did not write. */
export function readLesson({ content }: Pick<LessonText, 'content'>): QuotedLesson | undefined {
  const [head = '', ...blocks] = content.split('\n\n');
  const [, who, times] = /^(The user|A check) said(?:, (\d{1,4}) times)?:$/.exec(head) ?? [];
  if (who === undefined) return undefined;
  const found = new Map<string, string[]>([['', []]]);
  let section = '';
  for (const block of blocks)
    if (block.startsWith('> ')) found.get(section)?.push(block.replace(/^> /gm, ''));
    else if (isFrameLine(block)) {
      section = block;
      found.set(section, []);
    }
  const [lead] = found.get('') ?? [];
  const [answer] = found.get(ANSWER) ?? [];
  if (lead === undefined) return undefined;
  return {
    speaker: who === 'A check' ? 'check' : 'user',
    count: Number(times ?? 1),
    quotes: [lead, ...(found.get(EARLIER) ?? [])],
    tasks: found.get(TASK) ?? [],
    ...(answer === undefined ? {} : { answer }),
  };
}

/** An error that came up again, and the agent's command after which it did not. */
export const writeFix = (error: string, command: string) => ({
  name: `when-${slug(error.split(/[^A-Za-z0-9]+|(?<=[a-z])(?=[A-Z])/)) || 'error'}`,
  description: `${error}: ${command}`,
  content: [WORKED, quoted(error), FIX, quoted(command)].join('\n\n'),
});

/** Words of somebody else may follow: a rule behind them is not the person's. */
const REPORTS = /\b(?:sa(?:id|ys?|ying)|told|tells?|claim\w*|wrote|writes?|asked|reads?|mean\w*)\b|[:"“„]$/i;
const NO_REFERENCE = /\b(?:an? )?\w+ one\b|\bthis (?:repo|project|team|house|\w+base)\b/gi;
const MORE_THAN_TWO_WORDS = /\S\s+\S+\s+\S|\p{Lo}{6}/u;

/** A quote from its rule on, or from what was also said in other words, without the sighs before it. */
function ruleIn(quote: string, others: readonly string[] = []): string {
  const sentences = sentencesOf(quote);
  const told = others.flatMap(sentencesOf).map(readMatter);
  let at = sentences.findIndex(isRule);
  if (at < 0) at = sentences.findIndex((one) => told.some((other) => isAboutSame(readMatter(one), other)));
  // "Always do that." "Ever." What stands before it is the rule.
  const isPlain = (one = ''): boolean =>
    MORE_THAN_TWO_WORDS.test(one) && !REFERS.test(one.replace(NO_REFERENCE, ''));
  while (at > 0 && !isPlain(sentences[at])) at--;
  const rest = readMatter(sentences.slice(Math.max(0, at)).join(' '));
  const before = sentences.slice(0, Math.max(0, at));
  const isLeftOut = before.every((one) => isSigh(one, rest) && !REPORTS.test(one));
  const end = isLeftOut ? before.reduce((to, one) => quote.indexOf(one, to) + one.length, 0) : 0;
  return quote.slice(end).trimStart();
}

/** Whether a sentence of a quote says how things are done, and not only what was wrong. */
export const statesRule = (quote: string): boolean => sentencesOf(quote).some(isRule);

function isRule(sentence: string): boolean {
  const folded = foldWords(sentence);
  const isSaid = isOrder(folded) || isHabit(folded) || isRevocation(folded) || isGeneralStatement(folded);
  return isSaid && readMatter(sentence).terms.size > 0;
}

/** A sentence that names nothing new, or only what was wrong. */
function isSigh(sentence: string, { terms: rest }: Matter): boolean {
  const { terms } = readMatter(sentence);
  if ([...terms].every(([term, isWanted]) => rest.get(term) === isWanted)) return true;
  const folded = foldWords(sentence);
  const isBlame = [...CORRECTING_CLAUSES, ...CORRECTING_PHRASES].some((pattern) => pattern.test(folded));
  const isRequest =
    /\b(?:use|should|must|needs?|ha(?:ve|s) to|want)\b/.test(folded) || [...terms.values()].includes(false);
  return (isBlame || /^(?:and )?gone\b|(?:\.{3}|…)$/.test(folded)) && !isRequest;
}

/** A name that says what the rule's title says. */
const nameOf = (rule: string): string =>
  slugOfRule(rule) ?? `said-${createHash('sha256').update(rule).digest('hex').slice(0, 10)}`;

function slug(words: readonly string[]): string {
  const own = [...new Set(words.map((word) => word.toLowerCase()))]
    .filter((word) => /^[a-z0-9]{2,24}$/.test(word))
    .slice(0, MOST_NAME_WORDS);
  while (own.length > 1 && own.join('-').length > LONGEST_NAME) own.pop();
  const name = own.join('-');
  return /^[a-z]/.test(name) ? name : name === '' ? '' : `about-${name}`;
}

/** What was asked for, in one line: the first line of a task that says something. */
export function taskLine(task: string): string {
  const lines = task.slice(0, 4000).split('\n').map(oneLine).filter(Boolean);
  const [first = ''] = lines.filter(hasSubject);
  return truncateEnd(first === '' ? (lines[0] ?? '') : first, LONGEST_TASK);
}

/** The tasks of failures, each once, the newest first. */
export const requestsOf = (failures: readonly FailureCase[]): readonly string[] => [
  ...new Map(
    failures
      .toSorted((a, b) => b.at - a.at)
      .map(({ task, request = task }) => taskLine(request))
      .filter((request) => request !== '')
      .map((request) => [readMatter(request).print, request]),
  ).values(),
];

/** Whether the user set the task: what an agent reports about itself is not quoted. */
export const isAskedByUser = ({ task, passages }: FailureCase): boolean =>
  !passages.some(({ origin, text }) => text === task && origin !== 'user');

/** The tasks as triggers: what needed the lesson before is what will need it again. */
export const triggersOf = (requests: readonly string[]): readonly string[] =>
  [...new Set(requests)].slice(0, MOST_TRIGGERS);

const REFERS =
  /(?<![\p{L}])(?:it|its|that|this|these|those|them|they|there|one|same|es|das|dies|ihn|eso|esto|ça|cela|isso|это|так)(?![\p{L}])|[这那它]|それ|これ/iu;
const FEW_TERMS = 1;
const RUN = 5;
const CALL = /^[\w.:-]{1,80}\(/;

/**
 * The agent's sentence that a quote is about, where the quote alone does not tell. Not one that repeats what a tool, a page
 * or a client wrote.
 */
export function answerFor(quote: string, { passages, material }: FailureCase): string | undefined {
  const { terms } = readMatter(quote);
  if (terms.size > (REFERS.test(quote) ? FEW_TERMS + 1 : FEW_TERMS)) return undefined;
  const outside = [...passages, ...(material?.passages ?? [])].filter(
    ({ origin }) => origin === 'tool' || origin === 'web' || origin === 'client',
  );
  const runs = new Set(outside.flatMap(({ text }) => runsOf(text)));
  const theirs = new Set(outside.flatMap(({ text }) => [...readMatter(text).terms.keys()]));
  const isOwn = (sentence: string): boolean => {
    const about = [...readMatter(sentence).terms.keys()];
    const shared = about.filter((term) => theirs.has(term)).length;
    return shared * 2 < about.length && !runsOf(sentence).some((run) => runs.has(run));
  };
  const said = passages
    .filter(({ origin }) => origin === 'assistant')
    .flatMap(({ text }) => text.split('\n').filter((line) => !CALL.test(line)))
    .flatMap(sentencesOf)
    .map(oneLine)
    .filter((sentence) => sentence.length <= LONGEST_ANSWER && hasSubject(sentence))
    .filter(isOwn);
  const near = said.find((sentence) =>
    [...readMatter(sentence).terms.keys()].some((term) => terms.has(term)),
  );
  return near ?? said[0];
}

function runsOf(text: string): readonly string[] {
  const words =
    text
      .slice(0, 100_000)
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.slice(RUN - 1).map((_, at) => words.slice(at, at + RUN).join(' '));
}
