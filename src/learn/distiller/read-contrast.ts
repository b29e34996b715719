import { topicWords } from '../words.ts';
import { findLiterals } from './literals.ts';
import { capital, small } from './phrasing.ts';
import { JUDGED } from './read-demand.ts';
import { mind } from './read-omission.ts';
import type { Rule } from './rule.ts';
import { isVagueWord } from './vague.ts';
import { baseOf } from './verbs.ts';

const WAS =
  /\s*\((?:it )?(?:was|is|were|got|found|currently|not|now|had|instead of|you (?:wrote|used|put|had|gave))\s*:?\s+([^()]{1,200})\)/i;
const INSTEAD =
  /,?\s+(?:instead of|rather than|as opposed to)\s+((?:[^.,;()]|[.,](?=\S)){1,200}?)(?=[.,;()]\s|[.;()]|$| for (?:an?|the|all|any|every|each)\b)/i;
const NOT_BUT = /\bnot ([^,;()]{1,80}),? but (?=\S)/i;
const NOT = /,\s*(?:and )?(?:but )?not (?!only\b|just\b|even\b)([^.;()]{1,200})/i;
const YOU_DID =
  /,\s*(?:and |but )?you (?:wrote|used|put|had|gave|sent|saved|named|left|called|made) ([^.;]{1,200})$/i;
const OVER = /\bprefer .{1,120} (?:over|to) ([^.;()]{1,120})/i;

/** The rejected form in a sentence that names both the wanted and the rejected one. */
export function findWrong(said: string): string | undefined {
  return (WAS.exec(said) ??
    YOU_DID.exec(said) ??
    INSTEAD.exec(said) ??
    NOT_BUT.exec(said) ??
    NOT.exec(said) ??
    OVER.exec(said))?.[1]?.trim();
}

/** The sentence without the part that only reports the rejected form. */
export const withoutWas = (said: string): string => said.replace(WAS, '').replace(YOU_DID, '');

const GOT =
  /[,;.]?\s+(?:but |and |while )?(?:instead )?(?:i |we |it )?(?:got|found|was|were|saw|received|had|actual(?:ly)?(?: (?:was|is))?|there (?:was|were)|you (?:wrote|gave|used|had))\b[:=]?\s*/i;
const PLAIN_VALUE =
  /^["'`]?(?:-?\d+(?:\.\d+)?|true|false|null|none|undefined|nan|something|anything|more|less|better|it|this|that)["'`]?$/i;

/** "expected X, got Y". Bare numbers and booleans are the result of one test and no rule. */
export function readExpected(said: string): Rule | undefined {
  const at = /\bexpected\b(?: (?:to (?:be|see|find|have)|value|output|result))?\s*[:=]?\s*/i.exec(said);
  const before = at === null ? '' : said.slice(0, at.index);
  if (at === null || at.index > 120 || /\b(?:is|are|was|were|as) $|\([^)]*$/i.test(before)) return undefined;
  const rest = said.slice(at.index + at[0].length);
  const got = GOT.exec(rest);
  const wanted = (got === null ? rest : rest.slice(0, got.index)).replace(/[\s,;]+$/, '');
  const first = /^(?:got|found|actual)\s*[:=]?\s*(.+?)[,;]?\s*(?:but )?$/i.exec(before)?.[1];
  const wrong = first ?? (got === null ? '' : rest.slice(got.index + got[0].length).trim());
  if (wanted === '' || PLAIN_VALUE.test(wanted)) return undefined;
  const subject = (first === undefined ? before : '')
    .replace(/^(?:i|we)$|[\s:,–—-]+$/gi, '')
    .replace(/^(?:i|we) /i, '');
  const todo =
    subject === ''
      ? `Deliver what is expected: ${wanted}`
      : `${capital(subject)} must be what is expected: ${wanted}`;
  return { kind: 'value', todo, ...(wrong === '' ? {} : { wrong }) };
}

/** "You used tabs instead of four spaces". */
export function readSwap(said: string): Rule | undefined {
  const match = /^you (\w+) (.{1,200}?) (?:instead of|rather than|where you should have used) (.+)/i.exec(
    said,
  );
  const [, verb = '', wrong = '', right = ''] = match ?? [];
  const base = baseOf(verb);
  return base === undefined ? undefined : { kind: 'do', todo: capital(`${base} ${right}`), wrong };
}

/** "Metric units, not imperial": a demand without a verb. */
export function readFragment(said: string): Rule | undefined {
  const words = said.split(' ').length;
  if (words > 14 || /^(?:i|you|we|it|this|that|they|there|he|she)\b/i.test(said)) return undefined;
  if (
    /\b(?:wrong|bad|broken|incorrect|failed|failing|fails|is|are|was|were|has|have|did|does|do)\b/i.test(said)
  )
    return undefined;
  const isContrast = INSTEAD.test(said) || NOT.test(said) || NOT_BUT.test(said);
  if (isContrast) return { kind: 'do', todo: `Use ${small(said)}`, isStated: true };
  const isTerse = words <= 8 && (/\bonly\b/i.test(said) || findLiterals(said).length > 0) && words > 1;
  return isTerse ? { kind: 'do', todo: `Keep to this: ${said}`, isStated: true } : undefined;
}

const NO_STATEMENT =
  /^(?:i|you|we|it|this|that|they|there|he|she|thanks|thank|great|good|nice|well|ok|sorry|hm+|why|what|how|who|when|where)\b|\?$|\b(?:was|were|did|had|been|fail\w*|crash\w*|errors?|exit\w*|timeouts?|timed|exception|blank|empty|slow|mismatch\w*|unexpected|warnings?|passed|found|returned|gave|got|disappoint\w*|horrible|awful|useful|helpful|hate|love|like|looks?|seems?|shows?|only got|worse|better|best|worst|late|boring|long|short|cannot|unable|stack trace|undefined|null|fault|dumped|signal \d+)\b/i;

/** A short statement without a word of demand, in feedback without any demand: "One class per file". */
export function readStatement(said: string): Rule | undefined {
  const text = said.replace(/[\s.!;,]+$/, '');
  const words = text.split(' ').length;
  if (words < 3 || words > 12 || NO_STATEMENT.test(text) || JUDGED.test(text)) return undefined;
  const topics = topicWords(text).filter((word) => !isVagueWord(word));
  if (topics.length < 2) return undefined;
  return /\b(?:not|nothing|none|nobody)\b|n['’]t\b/i.test(text)
    ? mind(text)
    : { kind: 'do', todo: `Keep to this: ${text}`, isStated: true };
}
