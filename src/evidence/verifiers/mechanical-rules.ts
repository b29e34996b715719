import { clip } from '../../text/truncate.ts';

/** A line that an answer breaks, and what shows it. */
export interface BrokenRule {
  readonly line: string;
  readonly why: string;
}

type Check = (answer: string) => string | undefined;

/** A rule with a condition is no rule for a machine. */
const CONDITION =
  /\b(?:unless|except|if|when|while|where|but|only|until|outside|apart|than|in (?:code|titles?|headings?))\b/i;
const NEVER = `(?:never|do not|don['’]t|you never|avoid|no|without)`;
const EMOJI = /\p{Emoji_Presentation}|\p{Extended_Pictographic}\u{FE0F}/u;

/** The forms that are checked, each a whole line. A line in any other form is for a judge. */
const FORMS: readonly (readonly [RegExp, (match: RegExpExecArray) => Check])[] = [
  [rule(`${NEVER} (?:use |using |write )?emojis?`), () => finds(EMOJI)],
  [rule(`${NEVER} (?:use |using |write )?exclamation (?:marks?|points?)`), () => finds(/!/u)],
  [rule(`${NEVER} (?:use |using |write )?em[- ]dash(?:es)?`), () => finds(/—/u)],
  [
    rule(
      `${NEVER} (?:say|saying|write|writing|use|using) (?:the (?:word|phrase|words) )?["“']([^"”']{2,60})["”']`,
    ),
    ([, words = '']) => finds(wholeWords(words)),
  ],
  [
    rule(
      String.raw`(?:always )?(?:answer|reply|respond|write) (?:in|with) (?:at most|no more words|not more) (?:than )?(\d{1,5}) (words|lines)`,
    ),
    ([, most = '', unit = '']) => countsAtMost(Number(most), unit.toLowerCase() as 'words' | 'lines'),
  ],
];

/** The first of these lines that an answer breaks with certainty. Code in the answer is not looked at. */
export function findBrokenRule(lines: readonly string[], answer: string): BrokenRule | undefined {
  const words = withoutCode(answer);
  for (const line of lines) {
    const why = checkOf(line)?.(words);
    if (why !== undefined) return { line, why };
  }
  return undefined;
}

/** Whether a line can be checked without a judge. */
export const isMechanicalRule = (line: string): boolean => checkOf(line) !== undefined;

function checkOf(line: string): Check | undefined {
  const plain = line
    .replace(/^\s*(?:[-*•]|\d{1,2}[.)])\s+/, '')
    .replace(/\s+/g, ' ')
    .trim();
  for (const [form, make] of FORMS) {
    const match = form.exec(plain);
    if (match !== null && !CONDITION.test(plain.replace(/["“'][^"”']*["”']/g, '').replace(/more than/i, '')))
      return make(match);
  }
  return undefined;
}

function rule(source: string): RegExp {
  return new RegExp(`^${source}[.!]?$`, 'iu');
}

const finds =
  (pattern: RegExp): Check =>
  (answer) => {
    const found = pattern.exec(answer)?.[0];
    return found === undefined ? undefined : `the answer has “${clip(found, 40)}”`;
  };

const wholeWords = (words: string): RegExp =>
  new RegExp(
    String.raw`(?<![\p{L}\p{N}])${words.replace(/[.*+?^${'$'}{}()|[\]\\]/g, '\\$&')}(?![\p{L}\p{N}])`,
    'iu',
  );

const countsAtMost =
  (most: number, unit: 'words' | 'lines'): Check =>
  (answer) => {
    const count = answer.split(unit === 'words' ? /\s+/ : '\n').filter((part) => part.trim() !== '').length;
    return count > most ? `the answer has ${count} ${unit}` : undefined;
  };

const withoutCode = (answer: string): string =>
  answer.replace(/```[\s\S]*?(?:```|$)/g, ' ').replace(/`[^`\n]*`/g, ' ');
