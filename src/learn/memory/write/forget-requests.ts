import { foldWords } from '../../../reader/own-sentences.ts';
import { readClaim, type SentenceClaim } from './claim.ts';
import { FORGETS, LEAVES_OUT, OF_WORDS } from './claim-words.ts';

const MOSTLY = 2 / 3;

/** What a sentence asks to forget. */
export interface ForgetRequest {
  readonly terms: ReadonlySet<string>;
  /** It is said of earlier words, or names something that is no everyday word: what it names may go at once. */
  readonly isSure: boolean;
}

const EMPTY_WORDS =
  /^(?:rule|thing|part|bit|convention|stuff|about|regel|sache|regla|said|told|word|idea|old)$/;

export function readForgetRequests(sentence: string): readonly ForgetRequest[] {
  const folded = foldWords(sentence);
  if (LEAVES_OUT.test(folded) && !OF_WORDS.test(folded)) return [];
  return FORGETS.flatMap((pattern) => pattern.exec(folded)?.[1] ?? [])
    .map((part) => {
      const { wanted, rejected, values } = readClaim(part);
      const terms = new Set(
        [...wanted, ...rejected.flatMap((one) => [...one])].filter((term) => !EMPTY_WORDS.test(term)),
      );
      return { terms, isSure: OF_WORDS.test(folded) || terms.size > 1 || values.length > 0 };
    })
    .filter(({ terms }) => terms.size > 0);
}

/** Whether a claim is what is to be forgotten: most of what the request names. */
export const isForgotten = ({ terms }: ForgetRequest, claim: SentenceClaim): boolean => {
  const all = new Set([...claim.wanted, ...claim.rejected.flatMap((one) => [...one])]);
  return [...terms].filter((term) => all.has(term)).length >= Math.max(1, terms.size * MOSTLY);
};
