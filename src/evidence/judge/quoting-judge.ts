import { asString, isObject, type Json, type JsonObject } from '../../core/json.ts';
import type { Answer, Ask, Question, ReplyRead } from '../../core/learn.ts';
import { collapseSpaces } from '../../text/contains-phrase.ts';
import { truncateMiddle } from '../../text/truncate.ts';
import { fenceData } from './fence-data.ts';

/** Work that a rule may be about: what was asked for, and texts with a label each. */
export interface WorkToQuote {
  readonly request: string;
  readonly parts: readonly { readonly label: string; readonly text: string }[];
}

/** What a judge says of one rule. Without a quotation that stands in the work it says nothing. */
export type QuotedRuling =
  | { readonly says: 'keeps' | 'breaks'; readonly quote: string }
  | { readonly says: 'nothing' };

const LONGEST_REQUEST = 2000;
const LONGEST_WORK = 16_000;
const LONGEST_QUOTE = 400;
/** A shorter passage stands in every text. */
const SHORTEST_QUOTE = 3;
const MOST_TOKENS = 500;

/** Asks once whether work keeps to a rule. The answer counts by the passage that it quotes, letter by letter but for white space. */
export async function judgeRule(
  ask: Ask,
  rule: string,
  work: WorkToQuote,
  signal: AbortSignal,
): Promise<Answer<QuotedRuling>> {
  const shown = work.parts.map(({ label, text }) => ({ label, text: truncateMiddle(text, LONGEST_WORK) }));
  const answer = await ask(questionOf(rule, work.request, shown), signal);
  if (!answer.ok) return answer;
  const { says, quote } = answer.value;
  const isQuoted = says !== 'nothing' && shown.some(({ text }) => holds(text, quote));
  return { ...answer, value: isQuoted ? { says, quote } : { says: 'nothing' } };
}

interface GivenRuling {
  readonly says: 'keeps' | 'breaks' | 'nothing';
  readonly quote: string;
}

function questionOf(rule: string, request: string, parts: WorkToQuote['parts']): Question<GivenRuling> {
  const { text, rule: fence } = fenceData([
    { label: 'the rule', text: rule },
    { label: 'what was asked for', text: truncateMiddle(request, LONGEST_REQUEST) },
    ...parts,
  ]);
  return {
    name: 'rule-judge',
    system: `${ROLE}\n\n${fence}`,
    user: `${text}\n\n${WISH}`,
    maxTokens: MOST_TOKENS,
    temperature: 0,
    schema: SCHEMA,
    read: readRuling,
  };
}

const ROLE =
  'You tell whether a piece of work of an assistant keeps to one rule of the person it works for. Only that rule counts: not whether the work is right, nor what it says of itself.';

const WISH = `Answer with a JSON object and nothing else. Its first field is "quote": the passage of the work that shows it, copied letter by letter; "" when there is none. Its second field is "says":
- "breaks": the quoted passage breaks the rule.
- "keeps": the rule is about this work, and the quoted passage shows that the work keeps to it.
- "nothing": the rule is not about this work, or the work does not show it.`;

const SCHEMA: JsonObject = {
  type: 'object',
  properties: {
    quote: { type: 'string', maxLength: LONGEST_QUOTE },
    says: { type: 'string', enum: ['keeps', 'breaks', 'nothing'] },
  },
  required: ['quote', 'says'],
  additionalProperties: false,
};

function readRuling(value: Json): ReplyRead<GivenRuling> {
  const { says, quote } = isObject(value) ? value : {};
  if (says !== 'keeps' && says !== 'breaks' && says !== 'nothing')
    return { ok: false, why: '"says" must be "keeps", "breaks" or "nothing"' };
  return { ok: true, value: { says, quote: (asString(quote) ?? '').slice(0, LONGEST_QUOTE) } };
}

const holds = (text: string, quote: string): boolean =>
  collapseSpaces(quote).length >= SHORTEST_QUOTE && collapseSpaces(text).includes(collapseSpaces(quote));
