import type { Statement } from './statements.ts';
import { isDenying, isForbidding, isRule } from './words-of-rules.ts';

/** A kind of rule that a shortened prompt may abbreviate but not omit. */
export interface RuleClass {
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
export function classesIn(statements: readonly Statement[]): readonly RuleClass[] {
  const prose = statements.filter(({ isExample, isCode }) => !isExample && !isCode);
  const leads = new Set(prose.map(({ lead }) => lead));
  const rules = prose.filter(({ text, isItem }) => isItem || isRule(text));
  return RULE_CLASSES.filter(
    ({ isIn }) => [...leads].some(isIn) || rules.filter(({ text }) => isIn(text)).length > 1,
  );
}
