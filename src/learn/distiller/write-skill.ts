import { createHash } from 'node:crypto';
import { findLiterals, quoteLiterals } from '../../text/literals.ts';
import { topicStems } from '../../text/topic-words.ts';
import { truncateEnd } from '../../text/truncate.ts';
import { isInstructionVerb } from '../../text/verbs.ts';
import { oneLine, visibleText } from '../../text/visible-text.ts';
import type { CATEGORIES } from '../evolver/read-skills.ts';
import { withoutExamples } from './contrast-patterns.ts';
import type { FeedbackRule } from './demand-patterns.ts';
import type { ExtractedRule } from './extract-rules.ts';
import { uncapitalize } from './phrasing.ts';
import { isNovelRule, knowledgeOfRules, type RuleGroup } from './rule-novelty.ts';
import { hasLiteralShape, isFiller, subjectWords, withoutLiterals } from './subject-terms.ts';

const LONGEST_STEP = 480;
const LONGEST_TITLE = 90;
const LONGEST_DESCRIPTION = 280;
const MOST_STEPS = 5;
const MOST_EXAMPLES = 3;
const MOST_SAID = 4;

export interface SkillDraft {
  readonly name: string;
  readonly description: string;
  readonly content: string;
  readonly category: string;
}

/** A group of observations as one skill: steps, examples, an anti-pattern, and the quoted feedback. */
export function writeSkill(group: RuleGroup): SkillDraft {
  const [{ rule: lead }] = group;
  const rules = group.map(({ rule }) => rule);
  const tasks = group.flatMap(({ failure }) => (failure === undefined ? [] : [failure.task]));
  const about = [lead.todo, ...lead.more].join(' ');
  const activity = activityOf(about) ?? taskKind(tasks);
  return {
    name: nameSkill(lead),
    description: truncateEnd(describe(oneLine(lead.todo), activity), LONGEST_DESCRIPTION),
    content: contentOf(lead, rules, activityOf(about)),
    category: categoryOf(about),
  };
}

/** A rule that states its own condition needs no other. */
const describe = (todo: string, activity: string): string =>
  /^(?:when|whenever|before|after|if|once|every time|each time)\b/i.test(todo)
    ? `${todo}.`
    : `When you ${activity}: ${uncapitalize(todo.replace(/^deliver what is wanted: /i, ''))}.`;

function contentOf(
  lead: ExtractedRule,
  rules: readonly ExtractedRule[],
  activity: string | undefined,
): string {
  const steps = [
    ...stepsOf(lead, rules),
    activity === undefined
      ? 'Hold to this in every task that it could concern, also where the task does not mention it.'
      : `Hold to this whenever you ${activity}, also where the task does not mention it.`,
    'Before you say that you are done, look at what you produced once more and put right what breaks this.',
  ];
  const examples = unique(
    rules.flatMap(({ example }) => (example === undefined ? [] : [example])),
    figureless,
  );
  const code = rules.find((rule) => rule.code !== undefined)?.code;
  const said = unique(
    rules.map((rule) => rule.said.join(' ')),
    withoutExamples,
  ).slice(0, MOST_SAID);
  return [
    `## ${truncateEnd(oneLine(lead.todo), LONGEST_TITLE)}`,
    '',
    ...steps.map((step, index) => `${index + 1}. ${step}`),
    '',
    ...examples
      .slice(0, MOST_EXAMPLES)
      .map((example) => `Example: ${truncateEnd(oneLine(example), LONGEST_STEP)}`),
    ...(code === undefined ? [] : ['Example:', ...fenced(code)]),
    `Anti-pattern: ${antiPattern(lead, rules)}`,
    '',
    ...said.map((words) => `> ${truncateEnd(oneLine(words), LONGEST_STEP)}`),
  ].join('\n');
}

const FIXED =
  /^(?:\d\. )?(?:hold to this (?:in every task that it could concern|whenever you [^.\n]{1,80}), also where the task does not mention it\.?|before you say that you are done, look at what you produced once more and put right what breaks this\.?)$|^anti-pattern: (?:doing what step 1 rules out because it is quicker or was not mentioned this time|calling the task done while what step 1 asks for is not there|going by habit or by what is usual elsewhere where step 1 says how it is done here)\.?$/i;

/** Whether a line is this program's own wording, which no record can influence. */
export const isFixedWording = (line: string): boolean => FIXED.test(line.trim());

/** The leading rule, and of the others what it leaves open: its numbers and literals replace older ones. */
function stepsOf(lead: ExtractedRule, rules: readonly ExtractedRule[]): readonly string[] {
  const others = rules.slice(1).filter((rule) => addsTo(lead, rule));
  const sentences = [lead, ...others].flatMap(({ todo, more }) => [todo, ...more]);
  return unique(
    sentences.map((sentence) => `${quoteLiterals(truncateEnd(oneLine(sentence), LONGEST_STEP))}.`),
  ).slice(0, MOST_STEPS);
}

function addsTo(lead: ExtractedRule, other: ExtractedRule): boolean {
  const isMore = isNovelRule(knowledgeOfRules([lead]), { rule: other });
  const differs =
    lead.ownMarks.size > 0 && [...other.ownMarks].some((mark) => !hasLiteralShape(lead.marks, mark));
  return isMore && !differs && figuresOf(other).every((figure) => figuresOf(lead).includes(figure));
}

const figuresOf = ({ todo }: ExtractedRule): readonly string[] => withoutExamples(todo).match(/\d+/g) ?? [];

function antiPattern(lead: ExtractedRule, rules: readonly ExtractedRule[]): string {
  const wrongs = unique(
    rules.flatMap(({ wrong }) => (wrong === undefined ? [] : [truncateEnd(oneLine(wrong), 200)])),
  );
  if (wrongs.length > 0)
    return `${wrongs.slice(0, 3).map(quoted).join(', ')} in place of what step 1 asks for.`;
  if (lead.kind === 'ban')
    return 'doing what step 1 rules out because it is quicker or was not mentioned this time.';
  if (lead.kind === 'lack') return 'calling the task done while what step 1 asks for is not there.';
  return 'going by habit or by what is usual elsewhere where step 1 says how it is done here.';
}

const quoted = (text: string): string => (/^["'`“«]/.test(text) ? text : `"${text}"`);

function fenced(code: string): readonly string[] {
  const lines = visibleText(code).split('\n').slice(0, 8);
  const fence = code.includes('```') ? '~~~~' : '```';
  return [fence, ...lines.map((line) => truncateEnd(line, 200)), fence];
}

const figureless = (text: string): string => text.replace(/\d/g, '#').replace(/"/g, '');

/** Removes duplicates: of two texts with the same `keyOf`, the first stays. */
const unique = (
  texts: readonly string[],
  keyOf: (text: string) => string = (text) => text,
): readonly string[] => {
  const seen = new Set<string>();
  return texts.filter((text) => {
    const key = figureless(oneLine(keyOf(text)).toLowerCase());
    return seen.has(key) ? false : seen.add(key);
  });
};

const BANS = new Set(['stop', 'avoid', 'refrain', 'allowed', 'forbidden', 'prohibited', 'banned']);
const MOST_WORDS = 4;
const LONGEST = 48;
const LABEL = /^(?:keep to this|mind this|deliver what is (?:wanted|expected)): /i;
const CONDITION =
  /^(?:when|whenever|if|before|after|once|as soon as|every time|each time|for|in|on)\b([^,]{2,120}), (.+)$/i;

/**
 * A name from the verb, its object and then the condition: `sort-keys-json-file`. Literals are used only where words are too
 * few; a rule without Latin letters is named by its hash.
 */
function nameSkill({ kind, todo }: FeedbackRule): string {
  const general = plain(withoutExamples(todo.replace(LABEL, '')));
  const [, condition = '', deed = general] = CONDITION.exec(general) ?? [];
  const words = uniqueByStem([...leadingVerb(deed), ...wordsOf(deed), ...wordsOf(condition)]).slice(
    0,
    MOST_WORDS,
  );
  const [first, ...rest] = words;
  const pieces = words.length < MOST_WORDS ? piecesOf(plain(todo), words.length < 2) : [];
  const name = uniqueByStem([...(first === undefined ? [] : [first]), ...pieces, ...rest]).slice(
    0,
    MOST_WORDS + 1,
  );
  if (name.length === 0) return `rule-${createHash('sha256').update(todo).digest('hex').slice(0, 10)}`;
  while (name.length > 1 && name.join('-').length > LONGEST) name.pop();
  return `${kind === 'ban' ? 'never-' : ''}${name.join('-')}`;
}

const plain = (text: string): string => text.normalize('NFKD').replace(/\p{M}/gu, '');

/** The leading verb, unless it is too general to name a rule. */
function leadingVerb(deed: string): readonly string[] {
  const [first = ''] = deed.toLowerCase().match(/[a-z]+/) ?? [];
  return isInstructionVerb(first) &&
    !/^(?:do|be|have|make|use|put|keep|get|go|take|ensure|let|include)$/.test(first) &&
    !BANS.has(first)
    ? [first]
    : [];
}

const wordsOf = (text: string): readonly string[] =>
  subjectWords(text).filter(
    (word) => /^[a-z][a-z0-9]{1,23}$/.test(word) && !isFiller(word) && !BANS.has(word),
  );

/** `notes.txt` → notes, txt. A literal with digits is an example or a format. */
const piecesOf = (todo: string, isShort: boolean): readonly string[] =>
  findLiterals(todo)
    .filter((literal) => isShort || /^[^\d\s]{2,24}$/.test(literal))
    .slice(0, 1)
    .flatMap((literal) => literal.toLowerCase().match(/(?<![a-z0-9])[a-z]{2,15}(?![a-z0-9])/g) ?? []);

function uniqueByStem(words: readonly string[]): readonly string[] {
  const seen = new Set<string>();
  return words.filter((word) => {
    const [stem = word] = topicStems(word);
    return seen.has(stem) ? false : seen.add(stem);
  });
}

type Category = (typeof CATEGORIES)[number];

/** The activity in which a rule with these words applies. The pattern that matches first in the sentence wins. */
const BY_RULE: readonly (readonly [RegExp, string, Category])[] = [
  [/\bcommit (?:message|subject|title|trailer|body)s?\b|\btrailers?\b/i, 'write a commit message', 'coding'],
  [/\bcommits?\b|\bcommitt/i, 'commit changes', 'coding'],
  [/\b(?:pull|merge) requests?\b|\bPRs?\b/, 'open a pull request', 'coding'],
  [/\bbranch(?:es)?\b/i, 'name or create a branch', 'coding'],
  [
    /\bsecrets?\b|\bpasswords?\b|\bcredentials?\b|\bapi keys?\b|\btokens?\b|\bpermissions?\b/i,
    'work with secrets or permissions',
    'security',
  ],
  [
    /\b(?:e-?)?mails?\b|\bgreet|\bclients?\b|\bsalutation\b|\bcustomers?\b|\bletters?\b/i,
    'write to people',
    'communication',
  ],
  [
    /\bnew (?:\p{L}+ )?(?:files?|documents?)\b|\bfiles? (?:that )?(?:you|a task) (?:creates?|writes?|wrote|touches)\b|\b(?:new|written|created) or changed files?\b|\bcreate an? file\b|\bwhatever you create\b/iu,
    'create a file',
    'productivity',
  ],
  [
    /\bexisting files?\b|\bfiles? that (?:is already there|already exists?|exists?)\b|\bfiles? you (?:update|edit|change|modify|touch)\b|\bold version\b/i,
    'change a file that is already there',
    'productivity',
  ],
  [
    /\b(?:each|every|a|finished|the) (?:finished )?tasks?\b|\bfinished tasks?\b|\byou are done\b|^append\b|^log (?:each|every)\b/i,
    'finish a task',
    'productivity',
  ],
  [/\bmigrations?\b|\bsql\b|\bquer(?:y|ies)\b|\bdatabase\b/i, 'write SQL or change a database', 'coding'],
  [
    /\bjson\b|\byaml\b|\byml\b|\btoml\b|\bxml\b/i,
    'write or edit structured files such as JSON or YAML',
    'coding',
  ],
  [
    /\bcsv\b|\btsv\b|\bspreadsheets?\b|\bcolumns?\b|\btables?\b|\brows?\b/i,
    'write tables or CSV files',
    'data_analysis',
  ],
  [
    /\b(?:timestamps?|dates?|time ?zones?|datetimes?|times|clock)\b(?!.*\bfile ?names?\b)/i,
    'write a date or a time',
    'general',
  ],
  [
    /\bfile ?names?\b|\bname (?:files|each file|every file|new files|each new file|of an? (?:new )?file)\b|\bnamed\b|\brename|\bnaming\b/i,
    'name a file',
    'productivity',
  ],
  [/\btickets?\b|\bissue numbers?\b/i, 'mention a ticket', 'productivity'],
  [
    /\bfigures? .{0,40}\bunits?\b|\bunits?\b|\bamounts?\b|\bcurrenc|\bprices?\b|\bpercent|\bdecimals?\b|\bnumbers?\b|\bround(?:ed)?\b/i,
    'write an amount or a figure',
    'data_analysis',
  ],
  [
    /\breports?\b|\bsummar|\bdocuments?\b|\bmarkdown\b|\breadme\b|\bheadings?\b|\bcaptions?\b|\bfigures?\b|\bparagraphs?\b|\bbullet points?\b|\bdocs\b/i,
    'write documents or reports',
    'productivity',
  ],
  [/\btests?\b|\bfixtures?\b|\btested\b/i, 'write or run tests', 'coding'],
  [/\bscripts?\b|\bshell\b|\bbash\b|\bcron\b/i, 'write scripts', 'automation'],
  [/\bdeploy|\breleas|\bversions?\b|\bchangelog\b/i, 'release or deliver something', 'automation'],
  [/\bback ?ups?\b|\bedit|\bmodif|\boverwrit/i, 'edit existing files', 'productivity'],
  [/\bdelet|\bdrop(?:ping)?\b|\bremov|\berase/i, 'delete something', 'automation'],
  [/\bconfig/i, 'change configuration', 'automation'],
  [
    /\bsources?\b|\bcite|\bcitations?\b|\breferences?\b/i,
    'write something that rests on sources',
    'research',
  ],
  [
    /\bcode\b|\bfunctions?\b|\bimports?\b|\bmodules?\b|\bclass(?:es)?\b|\bvariables?\b|\bidentifiers?\b|\bcomments?\b|\bindent|\blint/i,
    'write code',
    'coding',
  ],
];

/** The activity that a task asks for, where the rule does not name one. */
const BY_TASK: readonly (readonly [RegExp, string])[] = [
  [/\b(?:edit|update|modify|change|fix|refactor|rename|correct|adjust|migrate)\b/i, 'edit files'],
  [/\b(?:create|write|generate|draft|add|produce|save|export|build|make|prepare|compile)\b/i, 'write files'],
  [
    /\b(?:analy[sz]e|compare|summari[sz]e|review|investigate|research|find out)\b/i,
    'analyse or report something',
  ],
  [/\b(?:send|reply|answer|tell|message|post)\b/i, 'write to people'],
];

/** The row that matches earliest in a rule: sentences begin with what they are about. */
function rowOf(rule: string): (typeof BY_RULE)[number] | undefined {
  const spoken = withoutLiterals(withoutExamples(rule));
  let best: (typeof BY_RULE)[number] | undefined;
  let first = Number.POSITIVE_INFINITY;
  for (const row of BY_RULE) {
    const at = spoken.search(row[0]);
    if (at < 0 || at >= first) continue;
    best = row;
    first = at;
  }
  return best ?? BY_RULE.find(([pattern]) => pattern.test(rule));
}

const SUBJECT =
  /^((?:all |our |the |an? )?[\p{L}-]+(?: [\p{L}-]+){0,4}?) (?:must|should|shall|has to|have to|needs?|ought to|may|are|is|go|goes|end|ends|take|takes)\b/iu;

/** The activity in which a rule applies, such as "write a date or a time"; undefined when the rule does not say. */
function activityOf(rule: string): string | undefined {
  const known = rowOf(rule)?.[1];
  const where =
    known?.endsWith('a time') && /\bin(?:to)? (?:an? |the )?files?\b/i.test(rule) ? ' into a file' : '';
  return known === undefined ? subjectOf(rule) : `${known}${where}`;
}

/** "Plots need error bars" applies to whoever deals with plots. */
function subjectOf(rule: string): string | undefined {
  const subject = SUBJECT.exec(rule)?.[1];
  return subject === undefined ||
    subjectWords(subject).length === 0 ||
    /^(?:you|we|the (?:result|output))\b/i.test(subject)
    ? undefined
    : `deal with ${uncapitalize(subject.replace(/^(?:all|our) /i, ''))}`;
}

/** What the tasks asked for, such as "edit files". */
function taskKind(tasks: readonly string[]): string {
  const asked = BY_TASK.filter(([pattern]) => tasks.some((task) => pattern.test(task.slice(0, 2000))));
  return asked.length === 0
    ? 'do a task of this kind'
    : asked
        .slice(0, 2)
        .map(([, activity]) => activity)
        .join(' or ');
}

const categoryOf = (rule: string): Category => rowOf(rule)?.[2] ?? 'general';
