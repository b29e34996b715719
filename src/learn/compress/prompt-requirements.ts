import { collapseSpaces, containsPhrase } from '../../text/contains-phrase.ts';
import { topicStems } from '../../text/topic-words.ts';
import {
  isDenying,
  isExampleWord,
  isForbidding,
  isRule,
  readStatements,
  type Statement,
} from './statements.ts';

/** What a shortened prompt must keep, and what it may contain. */
export interface PromptRequirements {
  readonly tools: readonly string[];
  /** Verbatim. */
  readonly literals: readonly string[];
  readonly prohibitions: readonly Prohibition[];
  readonly classes: readonly RuleClass[];
  /** The shortened prompt may contain no term that is not in here. */
  readonly known: { readonly text: string; readonly literals: ReadonlySet<string> };
}

/** The tools of a request that its prompt mentions. */
export const mentionedTools = (prompt: string, offered: readonly string[]): readonly string[] =>
  [...new Set(offered)].filter((name) => name !== '' && containsPhrase(prompt, name)).sort();

export function readRequirements(prompt: string, offered: readonly string[]): PromptRequirements {
  const statements = readStatements(prompt);
  const text = collapseSpaces(prompt);
  const isWhole = (words: string): boolean => containsPhrase(text, words);
  const tools = new Set([
    ...mentionedTools(prompt, offered),
    ...findToolNames(statements.filter(({ isExample }) => !isExample)),
  ]);
  return {
    tools: [...tools].filter(isWhole),
    literals: [...requiredTerms(statements)].filter((words) => isWhole(words) && !tools.has(words)),
    prohibitions: prohibitionsIn(statements),
    classes: ruleClassesIn(statements),
    known: { text, literals: new Set([...exactTermsIn(statements), ...findToolNames(statements)]) },
  };
}

const SNAKE = '[a-z][a-z0-9]{0,40}(?:_[a-z0-9]{1,40}){1,8}';
const NAME = '[A-Za-z][\\w.:-]{0,63}';

/** Phrases that name a tool. */
const MENTIONS: readonly RegExp[] = [
  new RegExp(`\`(${NAME})\` tools?\\b`, 'g'),
  new RegExp(`\\btools? \`(${NAME})\``, 'g'),
  new RegExp(`\\b(${SNAKE}|[a-z]{1,40}[A-Z]\\w{0,60}) tool\\b`, 'g'),
  /\b(?:the|an?|use|using|via|with|call|calling|invoke) ([A-Z][A-Za-z0-9]{1,60}) tool\b/g,
  new RegExp(`\\b(?:call|calling|invoke|invoking|use|using|via|with) (?:the )?\`?(${SNAKE})\\b`, 'g'),
  new RegExp(`\\b(${SNAKE})\\(`, 'g'),
];
/** In a list of tools, the name precedes the description. */
const LISTED = /^[`*]{0,3}([a-z][\w.-]{0,63}|[A-Za-z]\w{0,40}_\w{1,40})[`*]{0,3} ?(?::|—|–|- |\()/;

/** The tool names that statements mention. */
export function findToolNames(statements: readonly Statement[]): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { text, lead, isItem } of statements) {
    for (const pattern of MENTIONS) for (const [, name = ''] of text.matchAll(pattern)) names.add(name);
    const listed = isItem && /\btool/i.test(lead) ? LISTED.exec(text)?.[1] : undefined;
    if (listed !== undefined) names.add(listed);
  }
  names.delete('');
  return names;
}

const CODE = /(?<!`)`(?!`)([^`]{1,400})`(?!`)|(?<!`)``(?!`)(.{1,400}?)``(?!`)/g;
const ELEMENT = /<(?:name|location|path|tool)>([^<]{1,400})<\//g;
const URL = /\b[a-z][a-z0-9+.-]{1,12}:\/\/[^\s<>"'`)\]]{1,500}/gi;
/** Exact terms that are not marked as code: paths, file names, reply tags, placeholders, constants. */
const BARE: readonly RegExp[] = [
  /(?<![\w/.:~<-])(?:~|\.{1,2})?\/[\w.@-][\w.@/*{}$-]{0,200}/g,
  /\[\[[^[\]]{1,80}\]\]/g,
  /\{\{[^{}]{1,80}\}\}/g,
  /\b[A-Z][A-Z0-9]{0,40}(?:_[A-Z0-9]{1,40}){1,8}\b/g,
  /(?<![\w@./-])[\w-]{2,63}(?:\.[\w-]{1,63}){0,6}\.[A-Za-z]{2,24}\b/g,
];
/** Exact terms as well, but too common in prose to be required. */
const NAMES: readonly RegExp[] = [
  /\b[A-Za-z][A-Za-z0-9]{0,40}(?:_[A-Za-z0-9]{1,40}){1,8}\b/g,
  /\b[a-z]{1,40}[A-Z][A-Za-z0-9]{0,60}\b/g,
  /(?<![\w.%+-])[\w.%+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}/g,
  /(?<![\w.,:-])\d(?:[\d.,:]{0,30}\d)(?![\w-])/g,
];

const trimmed = (literal: string): string => literal.trim().replace(/(?<=[^.])[.,;:!?]{1,3}$/, '');

/** The terms that the rules among statements require verbatim. Examples require nothing. */
function requiredTerms(statements: readonly Statement[]): ReadonlySet<string> {
  const found = new Set<string>();
  for (const { text, lead, isItem, isCode, isExample } of statements) {
    if (isExample) continue;
    if (isCode) {
      if (isRule(lead)) found.add(text);
      continue;
    }
    for (const [, inside = ''] of text.matchAll(ELEMENT)) found.add(trimmed(inside));
    if (!isItem && !isRule(text) && !isRule(lead)) continue;
    for (const { literal, at } of exactTerms(text)) {
      if (!isExampleWord(text.slice(0, at))) found.add(literal);
    }
  }
  found.delete('');
  return found;
}

/** All exact terms of statements: a shortened prompt may not add any. */
export function exactTermsIn(statements: readonly Statement[]): ReadonlySet<string> {
  const found = new Set<string>();
  for (const { text, isCode } of statements) {
    if (isCode) found.add(text);
    for (const { literal } of exactTerms(text)) found.add(literal);
    for (const pattern of NAMES) for (const [name] of text.matchAll(pattern)) found.add(name);
  }
  found.delete('');
  return found;
}

/** The exact terms of a sentence, with their positions. */
function exactTerms(text: string): readonly { readonly literal: string; readonly at: number }[] {
  const code = [...text.matchAll(CODE)].map((match) => ({
    literal: (match[1] ?? match[2] ?? '').trim(),
    at: match.index,
  }));
  const prose = text.replace(CODE, (span) => ' '.repeat(span.length));
  const links = [...prose.matchAll(URL)];
  const rest = prose.replace(URL, (link) => ' '.repeat(link.length));
  const bare = [...links, ...BARE.flatMap((pattern) => [...rest.matchAll(pattern)])];
  return [...code, ...bare.map((match) => ({ literal: trimmed(match[0]), at: match.index }))];
}

/** A sentence of a prompt that forbids something. */
interface Prohibition {
  readonly text: string;
  readonly stems: ReadonlySet<string>;
  readonly literals: readonly string[];
}

/** Common stems that suffice for a long sentence: the rest of it is not about what is forbidden. */
const MOST_SHARED = 3;

/** Prohibitions among statements: sentences that forbid, and items of a list whose lead forbids. */
function prohibitionsIn(statements: readonly Statement[]): readonly Prohibition[] {
  return statements
    .filter(({ isCode, isExample }) => !isCode && !isExample)
    .filter(({ text, lead, isItem }) => isForbidding(text) || (isItem && isForbidding(lead)))
    .map(({ text }) => ({
      text,
      stems: topicStems(text),
      literals: exactTerms(text).map(({ literal }) => literal),
    }))
    .filter(({ stems }) => stems.size > 0);
}

/**
 * Prohibitions that a shortened text lost. One is kept when a negative sentence shares enough stems with it and, if it has
 * exact terms, one of those.
 */
export function lostProhibitions(
  prohibitions: readonly Prohibition[],
  shortened: readonly Statement[],
): readonly Prohibition[] {
  const denials = shortened
    .map(({ text, lead }) => `${lead} ${text}`)
    .filter(isDenying)
    .map((text) => ({ text, stems: topicStems(text) }));
  return prohibitions.filter(({ stems, literals }) => {
    const enough = Math.min(MOST_SHARED, Math.ceil(stems.size / 3));
    return !denials.some(
      (denial) =>
        countShared(stems, denial.stems) >= enough &&
        (literals.length === 0 || literals.some((literal) => denial.text.includes(literal))),
    );
  });
}

function countShared(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  let shared = 0;
  for (const stem of one) if (other.has(stem)) shared++;
  return shared;
}

/** A kind of rule that a shortened prompt may abbreviate but not omit. */
interface RuleClass {
  readonly name: string;
  /** For the model that shortens. */
  readonly about: string;
  /** Whether a sentence is about it. */
  readonly isIn: (text: string) => boolean;
  /** Whether a shortened sentence is about it: accepts more wordings. */
  readonly isKept: (text: string) => boolean;
}

const tells =
  (pattern: RegExp) =>
  (text: string): boolean =>
    pattern.test(text);

const both = (pattern: RegExp): Pick<RuleClass, 'isIn' | 'isKept'> => ({
  isIn: tells(pattern),
  isKept: tells(pattern),
});

export const RULE_CLASSES: readonly RuleClass[] = [
  {
    name: 'tools',
    about: 'which tools there are, by name, and what each is for and not for',
    ...both(/\btools?\b/i),
  },
  {
    name: 'prohibitions',
    about: 'what must never be done, and what may not be left to someone else',
    isIn: isForbidding,
    isKept: isDenying,
  },
  { name: 'skills', about: 'how a skill is chosen and when it is read', ...both(/\bskills?\b/i) },
  {
    name: 'memory',
    about: 'when memory has to be searched or written before an answer',
    ...both(/\bmemor(?:y|ies)\b/i),
  },
  {
    name: 'settings',
    about: 'what may be updated or configured, and on whose word',
    isIn: tells(/\b(?:config(?:uration|s)?|settings?|self-?updates?|upgrades?)\b/i),
    isKept: tells(/\b(?:config\w*|settings?|(?:self-?)?updat\w+|upgrad\w+)\b/i),
  },
  {
    name: 'replies',
    about: 'how replies and messages are written: tags, channels, when to stay silent',
    isIn: tells(/\b(?:repl(?:y|ies|ying)|messag\w+|channels?)\b/i),
    isKept: tells(/\b(?:repl(?:y|ies|ying)|messag\w+|channels?|respon[ds]\w*|answer\w*)\b/i),
  },
  { name: 'heartbeats', about: 'what to do when a heartbeat comes', ...both(/heartbeats?/i) },
];

/** The classes that a prompt has rules of: a heading names them, or at least two rules do. */
function ruleClassesIn(statements: readonly Statement[]): readonly RuleClass[] {
  const prose = statements.filter(({ isExample, isCode }) => !isExample && !isCode);
  const leads = new Set(prose.map(({ lead }) => lead));
  const rules = prose.filter(({ text, isItem }) => isItem || isRule(text));
  return RULE_CLASSES.filter(
    ({ isIn }) => [...leads].some(isIn) || rules.filter(({ text }) => isIn(text)).length > 1,
  );
}
