import type { CheckedPart, CheckedWork, CheckTest } from '../../core/check.ts';
import { findLiterals } from '../../text/literals.ts';
import { stem } from '../../text/stem.ts';
import { topicWords } from '../../text/topic-words.ts';
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

interface PatternLike {
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

/** What a rule asks for came with the revised answer; without one, the rule quotes it and the corrected answer lacks it. */
export function hasCome(
  material: RuleMaterial,
  part: CheckedPart,
  like: PatternLike,
  isQuoted: boolean,
): boolean {
  const { corrected, revised } = material;
  if (corrected !== undefined && revised !== undefined) return sideOf(material, part, like) === 'revised';
  return isQuoted && !isIn(corrected, part, like);
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

/** What a rule asks for in place of what. Passages of the rule, in which the words themselves stand near the other passage. */
interface RuleContrast {
  readonly wanted: string;
  readonly unwanted: string;
}

/** The parts of a rule that a check can be made of. */
interface RuleReading {
  readonly text: string;
  readonly contrasts: readonly RuleContrast[];
  /** Passages behind "never", "no", "avoid". */
  readonly forbidden: readonly string[];
  /** Those of them that ask for something of their own; others give a reason ("I don't read further") or point back ("never do that"). */
  readonly prohibitions: readonly string[];
  /** "no X unless Y", "and each of them Z", "no X in short answers": more than a prohibition or a limit says. */
  readonly isQualified: boolean;
  /** Literals that no negation stands before. */
  readonly required: readonly string[];
  /** "every answer", "end your replies with": whatever it asks for, it asks for in all answers. */
  readonly isEveryAnswer: boolean;
  /** The content words of its condition ("in shipping reports"), as stems; undefined without one. */
  readonly condition?: readonly string[];
  /** Its content words, as stems. */
  readonly topics: readonly string[];
}

const CLAUSE = /(?<!\b(?:mr|mrs|ms|dr))[.;!?\n]+(?=\s|$)|\s[–—-]\s/i;
/** "docker-compose isn't on these machines" */
const GONE =
  /(\S+)\s+(?:isn['’]t|is not|is no longer|aren['’]t|are not|is gone|is wrong|ist nicht|n['’]est pas|n['’]est plus)\b/giu;
const NOT = '(?:not|never|nicht|nie|niemals|pas|jamais|nunca|kein[en]?)';
const CONTRASTS: readonly { readonly pattern: RegExp; readonly isReversed?: true }[] = [
  {
    pattern:
      /^(.*?)\b(?:instead of|rather than|in place of|statt|anstatt|anstelle von|au lieu d[eu']|plutôt que|en lugar de|en vez de|over)\b(.*)$/iu,
  },
  { pattern: /^(.*?)\b(?:replace|change|swap)\b(.*?)\b(?:with|by|to|for)\b(.*)$/iu, isReversed: true },
  { pattern: new RegExp(String.raw`^(.*?\S)\s*[,(:]?\s*\b(?:and |but |und |et |y )?${NOT}\b(.*)$`, 'iu') },
];
const FORBIDS =
  /\b(?:never|don['’]?t|do not|no more|no|not|avoid|without|stop|quit|drop|cut|ditch|lose|skip|leave out|get rid of|refrain from|enough with|hands off|kein[en]?|nie|niemals|nicht|ohne|jamais|pas de|plus de|sans|nunca|sin|nada de|evita|nobody|no one|niemand|personne)\b/giu;
/** Behind these words the sentence is about something else. */
const FORBID_ENDS =
  /[,;:()!?]|(?<!\b(?:mr|mrs|ms|dr))\.(?=\s|$)|\b(?:use|but|unless|because|since|if|we['’]re|instead|please|pls|höchstens|sondern)\b/iu;
/** The subject of a statement stands before its negation; an order has none. */
const STATES =
  /\b(?:i|we|you|they|he|she|it|that|this|which|who|there|is|are|was|were|am|isn['’]t|it['’]s|that['’]s|there['’]s|ich|wir|es|das|ist|sind|je|on|ce|c['’]est|es|no)\s+(?:do |does |did |can |could |will |would |should |really |just |also )?$/iu;
const POINTS_BACK =
  /^(?:(?:ever|again|do|does|edit|touch|use|it|that|this|those|them|yourself|please|to|mehr|plus|más)\b\s*)+$/iu;
/** Behind these words stand some of many. */
const EXAMPLE = /\b(?:like|such as|e\.g\.|for example|for instance|wie|comme|como)\s*:?\s*["'`“«„]/iu;
/** How much is too much cannot be told from these words. */
const DEGREE = /\b(?:so|too|as) (?:many|much|often)\b|\b(?:less|fewer|weniger|moins de|menos)\b(?! than)/iu;
/** A second demand, of what the first one is about. */
const FURTHER =
  /(?:,|\band)\s+(?:and\s+)?(?:each (?!time)|every (?!time|single time)|all of (?:them|it)\b|make sure\b|then\b)/iu;
const EXCEPTION =
  /\b(?:except|unless|apart from|other than|außer|sauf|excepto|salvo|a menos que|es sei denn)\b|\bonly (?:in|when|if|for)\b/iu;
const EVERY_ANSWER =
  /\b(?:every|each|all|any|your|whatever)\s+(?:\p{L}+\s+)?(?:answers?|repl(?:y|ies)|responses?|messages?)\b|\b(?:jede|alle|deine)[rn]?\s+(?:Antwort|Nachricht)(?:en)?\b|\b(?:chaque|toutes? (?:les|tes)|tes)\s+réponses?\b|\b(?:cada|todas las|tus)\s+respuestas?\b/iu;
/** A clause of time always says when. */
const WHEN =
  /(?<!\b(?:even|auch|selbst|même|incluso) )\b(?:when(?:ever)?|if|wenn|quand|cuando)(?! (?:i|we) (?:read|see|hear)\b)(?: (?:you|we|i|du|wir|ich|tu|je))?\b\s*([^,.;:!?()—]+)|^anything about\s+([^,.;:!?()—]+)/iu;
/** A place says where only if the task, or the beginning of the sentence, is about it. */
const WHERE =
  /(^|[.!?;:]\s+)?\b(?:in|for|bei|beim|dans|pour|en|para)\s+(?:the |our |my |all |every |any |allen |den |les |le |la |los |las |el )?([^,.;:!?()—]+)/giu;
/** What stands behind "in" and is the place of everything. */
const NO_CONDITION =
  /^(?:this|these|that|here|general|future|particular|total|between|front|order|mind|it|me|us|you|your|now|place|prod|anything|everything|answers?|repl(?:y|ies)|responses?|messages?|chats?|texts?|writing|project|repo(?:sitory)?|codebase|monorepo|team|company|box|server|machines?|mac|line|code|english|german|french|spanish|deutsch|englisch|français|español)\b/iu;
/** They say that there is work, not which. */
const WORK_VERBS = new Set(
  'write writ written make mak create creat do ask answer reply give giv tell send add put work need touch compare show explain draft produce run using rédiges rédiger schreibst schreiben redactes'.split(
    ' ',
  ),
);

/** Reads a rule as far as its structure tells what it asks for. `request`: the task in which it was said. Total. */
export function readRule(text: string, request?: string): RuleReading {
  const clauses = text.split(CLAUSE).filter((clause) => clause.trim() !== '');
  const forbidden = [
    ...clauses.flatMap(forbiddenIn),
    ...[...text.matchAll(GONE)].map((match) => match[1] ?? ''),
  ];
  const condition = conditionOf(text, request);
  const prohibitions = clauses.flatMap(prohibitionsIn);
  return {
    text,
    contrasts: [...clauses.flatMap(contrastsIn), ...contrastsAcross(clauses)],
    forbidden,
    prohibitions,
    isQualified: isQualified(text, prohibitions, condition),
    required: findLiterals(text).filter((literal) => !forbidden.some((passage) => passage.includes(literal))),
    isEveryAnswer: EVERY_ANSWER.test(text),
    ...(condition === undefined ? {} : { condition }),
    topics: stemsOf(text),
  };
}

const contrastsIn = (clause: string): readonly RuleContrast[] =>
  CONTRASTS.flatMap(({ pattern, isReversed }) => {
    const [, first = '', second = '', third] = pattern.exec(clause) ?? [];
    if (second.trim() === '') return [];
    if (isReversed) return [{ unwanted: second, wanted: third ?? '' }];
    return first.trim() === '' ? [] : [{ wanted: first, unwanted: second }];
  });

/** "Never say A. Use B." */
const contrastsAcross = (clauses: readonly string[]): readonly RuleContrast[] =>
  clauses.flatMap((clause, index) => {
    const parts = clause.split(/,\s*/);
    const next = parts.length > 1 ? parts.slice(1).join(', ') : clauses[index + 1];
    return forbiddenIn(parts[0] ?? '').flatMap((unwanted) =>
      next === undefined ? [] : [{ wanted: next, unwanted }],
    );
  });

interface Negation {
  readonly before: string;
  readonly passage: string;
}

const negationsIn = (clause: string): readonly Negation[] =>
  [...clause.matchAll(FORBIDS)].flatMap((match) => {
    const rest = clause.slice(match.index + match[0].length);
    const passage = rest.slice(0, endOf(rest)).trim();
    return passage === '' ? [] : [{ before: clause.slice(0, match.index), passage }];
  });

const forbiddenIn = (clause: string): readonly string[] => negationsIn(clause).map(({ passage }) => passage);

const prohibitionsIn = (clause: string): readonly string[] =>
  negationsIn(clause).flatMap(({ before, passage }) =>
    STATES.test(before) || POINTS_BACK.test(passage) ? [] : [passage],
  );

const isQualified = (
  text: string,
  prohibitions: readonly string[],
  condition: readonly string[] | undefined,
): boolean =>
  EXCEPTION.test(text) ||
  DEGREE.test(text) ||
  prohibitions.some((passage) => EXAMPLE.test(passage)) ||
  FURTHER.test(text) ||
  (condition === undefined &&
    prohibitions.some((passage) =>
      [...passage.matchAll(WHERE)].some(
        ([, , place = '']) => !NO_CONDITION.test(place) && !CODE.test(place) && stemsOf(place).length > 0,
      ),
    ));

/** A language of code: an answer tells it. */
const CODE =
  /^(?:typescript|ts|javascript|js|python|sql|bash|shell|css|html|go|rust|java|ya?ml|json|the code)\b/iu;
const QUOTATION = /"[^"]*"|`[^`]*`|“[^”]*”|«[^»]*»|(?<![\p{L}\p{N}])'[^'\n]*'(?![\p{L}\p{N}])/gu;

/** A quotation holds punctuation of its own, and a list of quotations is one passage. */
function endOf(rest: string): number {
  const bare = rest
    .replace(QUOTATION, (quotation) => '"'.repeat(quotation.length))
    .replace(/(?<=\w)\(\)/g, '  ')
    .replace(/^\s*use\b/iu, (verb) => ' '.repeat(verb.length))
    .replace(/(?<=")\s*[,/]\s*(?=(?:(?:or|and|nor|oder|und|ou|et|o|y) )?")/gu, (comma) =>
      ' '.repeat(comma.length),
    );
  const at = bare.search(FORBID_ENDS);
  return at < 0 ? rest.length : at;
}

function conditionOf(text: string, request: string | undefined): readonly string[] | undefined {
  const when = WHEN.exec(text);
  const clause = stemsOf(when?.[1] ?? when?.[2] ?? '').slice(0, 3);
  if (clause.length > 0) return clause;
  for (const match of text.matchAll(WHERE)) {
    const words = match[2] ?? '';
    if (NO_CONDITION.test(words)) continue;
    const stems = stemsOf(words).slice(0, 2);
    const isAsked = request === undefined || stems.some((word) => startsWord(request, word));
    if (stems.length > 0 && (match[1] !== undefined || isAsked)) return stems;
  }
  return undefined;
}

const startsWord = (text: string, word: string): boolean =>
  text
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .some((one) => one.startsWith(word));

const stemsOf = (text: string): readonly string[] => [
  ...new Set(
    topicWords(text.replace(QUOTATION, ' '))
      .filter((word) => !WORK_VERBS.has(word))
      .map(stem)
      .filter((word) => word.length > 2 && !WORK_VERBS.has(word)),
  ),
];
