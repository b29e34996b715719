import type { CheckedPart, CheckedWork, CheckTest } from '../../core/check.ts';
import { type RuleReading, readRule } from './rule-words.ts';
import { patternOf } from './test-text.ts';

/** What a check is drafted from: the words of a rule and, where there are any, the answers before and after they were said. */
export interface RuleEvidence {
  readonly rule: string;
  readonly corrected?: CheckedWork | undefined;
  readonly revised?: CheckedWork | undefined;
  /** The task in which it was said, where there is no answer. */
  readonly request?: string | undefined;
}

/** A check whose scope is still open. */
export interface CheckSketch {
  readonly looksAt: CheckedPart;
  /** The thing that the rule is about is there. */
  readonly about: readonly CheckTest[];
  readonly holdsWhen: readonly CheckTest[];
  /** It asks for something that other work need not have: it must know where the rule applies. */
  readonly isDemand?: true;
  /** What of the rule it is about, where it may be about a part of the rule only. */
  readonly covers?: readonly string[];
  /** Work, or a text of the checked part, that keeps the rule and that breaks it, made from literals of the rule. */
  readonly keeping?: string | CheckedWork;
  readonly breaking?: string | CheckedWork;
}

export interface RuleMaterial extends RuleEvidence {
  readonly words: RuleReading;
  /** The parts of the work that changed, or that there are. */
  readonly parts: readonly CheckedPart[];
}

export function openRuleMaterial(evidence: RuleEvidence): RuleMaterial {
  const { corrected, revised } = evidence;
  const request = corrected?.request ?? revised?.request ?? evidence.request;
  const parts = (['commands', 'files', 'reply'] as const).filter(
    (part) => partText(corrected, part) !== '' && (revised === undefined || partText(revised, part) !== ''),
  );
  return { ...evidence, request, words: readRule(evidence.rule, request), parts };
}

export function partText(work: CheckedWork | undefined, part: CheckedPart): string {
  if (work === undefined) return '';
  if (part === 'reply') return work.reply;
  if (part === 'work')
    return (['reply', 'files', 'commands'] as const).map((one) => partText(work, one)).join('\n');
  return part === 'commands' ? work.commands.join('\n') : work.files.map(({ text }) => text).join('\n');
}

export interface PatternLike {
  readonly pattern: string;
  readonly flags?: string | undefined;
}

export const isIn = (
  work: CheckedWork | undefined,
  part: CheckedPart,
  { pattern, flags }: PatternLike,
): boolean => patternOf(pattern, flags).test(partText(work, part));

/** Only the corrected answer has it, or only the revised one. */
export function sideOf(
  material: RuleMaterial,
  part: CheckedPart,
  like: PatternLike,
): 'corrected' | 'revised' | undefined {
  const { corrected, revised } = material;
  if (corrected === undefined) return undefined;
  const before = isIn(corrected, part, like);
  const after = isIn(revised, part, like);
  if (before && !after) return 'corrected';
  return after && !before ? 'revised' : undefined;
}

export const quotePattern = (literal: string): string => literal.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');

/** A pattern for a literal as people write it: between word ends, with any blanks and any apostrophe. */
export function literalPattern(literal: string): string {
  const body = quotePattern(literal.trim()).replace(/\s+/g, '[.,]?\\s+').replace(/['’]/g, "['’]");
  const start = /^[A-Za-z0-9_]/.test(literal.trim()) ? '\\b' : '';
  const end = /[A-Za-z0-9_]$/.test(literal.trim()) ? '\\b' : '';
  return start + body + end;
}

/** A pattern for anything of the same shape as an example: `MSKU1234567` is four capitals and seven digits. */
export function shapePattern(example: string): string {
  const shape = example.trim().replace(/\p{Lu}+|\d+|\s+|[^\p{Lu}\d\s]+/gu, (run) => {
    if (/^\d/.test(run)) return run.length > 3 ? `\\d{${run.length}}` : '\\d+';
    if (/^\s/.test(run)) return '\\s?';
    if (/^[€$£]/.test(run)) return `\\s?${quotePattern(run)}\\s?`;
    return /^\p{Lu}/u.test(run) && run.length > 1 ? `[A-Z]{${run.length}}` : quotePattern(run);
  });
  const start = /^[A-Za-z]/.test(example.trim()) ? '\\b' : /^\d/.test(example.trim()) ? '(?:^|[^\\d.,])' : '';
  return start + shape + (/[A-Za-z0-9]$/.test(example.trim()) ? '\\b' : '');
}

export const either = (patterns: readonly string[]): string =>
  patterns.length === 1 ? (patterns[0] ?? '') : patterns.map((pattern) => `(?:${pattern})`).join('|');

export const absent = (test: PatternTest): CheckTest => ({
  is: 'pattern',
  ...test,
  max: 0,
});

/** A text of this many words had room for what a rule forbids; fewer say little, and are asked for where the revised answer is that short. */
const ENOUGH_WORDS = [20, 3];

/** What is forbidden came up: it is there, or there is enough text for it to be missing. The best first. */
export const cameUp = (unwanted: readonly PatternTest[]): readonly CheckTest[] =>
  ENOUGH_WORDS.map((words) => roomFor(unwanted, words));

function roomFor(unwanted: readonly PatternTest[], words: number): CheckTest {
  const [first] = unwanted;
  const flags = [...new Set(unwanted.map((test) => test.flags ?? '').join(''))].join('');
  const place = unwanted.every((test) => test.in === first?.in) ? first?.in : undefined;
  return {
    is: 'pattern',
    pattern: either([...unwanted.map(({ pattern }) => pattern), `(?:\\S+\\s+){${words - 1}}\\S`]),
    ...(flags === '' ? {} : { flags }),
    ...(place === undefined || place === 'first-line' || place === 'last-line' ? {} : { in: place }),
    means: `${unwanted.map(({ means }) => means).join(' or ')}, or ${words} words`,
  };
}

export type PatternTest = Omit<CheckTest & { is: 'pattern' }, 'is' | 'max'>;

/** A text for somebody else is asked for. */
const DRAFTING =
  '\\b(?:draft|compose|rewrite|rephrase|reword|proofread|translat\\w+|e-?mails?|mails?|letters?|posts?|messages?|tweets?|newsletters?|speech|apolog\\w+|übersetz\\w+|brief|nachricht|tradu\\w+|lettre|courriel|correo|carta|mensaje)\\b';

/** Who asks for it by name ("what does X mean?", "convert 5 miles") gets it, unless the rule was said about such a request. */
export function notAskedFor({ request }: RuleMaterial, pattern: string, means: string): readonly CheckTest[] {
  if (request !== undefined && patternOf(pattern, 'i').test(request)) return [];
  return [{ is: 'pattern', pattern, flags: 'i', in: 'request', max: 0, means }];
}

/** A rule about how the agent itself speaks does not hold for texts that it writes for others, unless it was said about one. */
export const ownVoice = ({ request, corrected }: RuleMaterial): readonly CheckTest[] =>
  corrected !== undefined && patternOf(DRAFTING, 'i').test(request ?? '')
    ? []
    : [
        {
          is: 'pattern',
          pattern: DRAFTING,
          flags: 'i',
          in: 'request',
          max: 0,
          means: 'wish for a text for others',
        },
      ];
