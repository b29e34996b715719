import { searchTerms } from '../../lessons/recall/bm25-index.ts';
import { isStopWord } from '../memory/write/claim-words.ts';
import { readAskedTimes, type TimeSpan } from './named-days.ts';

/*
 * "What did I say last Tuesday?", "what did we talk about in March": the answer is what was said then, and the words that ask are about
 * nothing.
 */

/** The times that a query names, and what is left of it. */
export interface AskedTimes {
  readonly spans: readonly TimeSpan[];
  /** It asks for what was said: where something of these times fits, nothing else does. */
  readonly isForSaid: boolean;
  /** Its words, without those of the times and of saying where it asks for that. */
  readonly text: string;
}

const SAYING =
  /(?<!\p{L})(?:say|said|tell|told|mention(?:ed)?|talk(?:ed)?|discuss(?:ed)?|ask(?:ed)?|wr[io]te|sagen|gesagt|sagte|erzählt|erwähnt|besprochen|geschrieben|dire|dit|parlé|écrit|raconté|dije|dicho|conté|hablé|mencioné|hablamos|dijimos)(?!\p{L})/giu;
/** The one who asks for them, and how much of it. */
const FRAME =
  /(?<!\p{L})(?:user|person|anything|something|everything|conversations?|sessions?|earlier|habe?)(?!\p{L})/giu;

export function readAsked(text: string, now: number): AskedTimes {
  const spans = readAskedTimes(text, now);
  if (spans.length === 0 || text.search(SAYING) < 0) return { spans, isForSaid: false, text };
  const left = spans.reduce((rest, { words }) => {
    const at = rest.toLowerCase().indexOf(words);
    return at < 0 ? rest : `${rest.slice(0, at)} ${rest.slice(at + words.length)}`;
  }, text);
  return { spans, isForSaid: true, text: left.replace(SAYING, ' ').replace(FRAME, ' ') };
}

/** Whether it has a word that is about something. */
export const isAboutAnything = ({ text }: AskedTimes): boolean => {
  const { words, names } = searchTerms(text);
  return [...words, ...names].some((word) => !isStopWord(word));
};
