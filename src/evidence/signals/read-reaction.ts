import type { Correction } from '../../core/evidence.ts';
import type { LabelledSpan } from '../../core/reading.ts';
import { type ReadSentence, readSentences } from '../../reader/read-message.ts';
import { digestError } from '../digest/digest-error.ts';
import type { TurnReading } from '../turn-reading.ts';

/**
 * What the user's next message says about the reply. `wrong` without a correction: the message holds a stack trace and no words.
 * A rule is a correction without a complaint: "btw, we never push to main".
 */
export type Reaction =
  | { readonly kind: 'wrong'; readonly correction?: Correction; readonly isRule: boolean }
  | { readonly kind: 'doubted' | 'outage' }
  /** `remarked`: it tells nothing about the reply. What a message states besides counts when another session says it too. */
  | { readonly kind: 'thanked' | 'remarked'; readonly remark: readonly string[] };

const COMMAND = /<command-name>/;
const MORE_THAN_A_NOD = 4;

/** Reads the user's next message in a main conversation; undefined when it says nothing about the reply. */
export function readReaction({ evidence, said }: TurnReading): Reaction | undefined {
  const message = evidence.next?.user ?? '';
  if (message === '' || evidence.role !== 'main' || evidence.isReported || evidence.reply.length === 0)
    return undefined;
  // Heartbeats and timers repeat themselves; a command of the client has arguments and no opinion.
  if (message === evidence.task || COMMAND.test(message)) return undefined;
  const sentences = readSentences({ message, answer: said, spans: evidence.next?.spans });
  const isBarelySaid =
    sentences
      .map(({ folded }) => folded)
      .join(' ')
      .split(' ').length < MORE_THAN_A_NOD;
  if (isBarelySaid && hasTrace(message)) return wrong(sentences, { isStanding: false, isRule: false });
  return reactionOf(sentences);
}

/** A message that is only a stack trace means that the user tried the result. */
const hasTrace = (text: string): boolean =>
  digestError(text).some((line) => /(?:Error|Exception|panic).* @ /.test(line));

/** Meant for later work too. */
const isStanding = ({ kinds }: ReadSentence): boolean =>
  kinds.has('rule') || kinds.has('preference') || kinds.has('revocation');
const isCore = (sentence: ReadSentence): boolean => sentence.kinds.has('correction') || isStanding(sentence);

/** A sentence that may be a rule: it counts when another session says it too. */
const MAY_BE_RULE = 0.15;
const MOST_QUOTES = 3;

function reactionOf(sentences: readonly ReadSentence[]): Reaction | undefined {
  const has = (kind: 'correction' | 'outage' | 'thanks' | 'again'): boolean =>
    sentences.some(({ kinds }) => kinds.has(kind));
  const isSaidForLater = sentences.some(isStanding);
  if (has('outage') && !isSaidForLater) return { kind: 'outage' };
  if (has('correction') || isSaidForLater)
    return wrong(quotedIn(sentences), { isStanding: isSaidForLater, isRule: !has('correction') });
  if (has('again')) return { kind: 'doubted' };
  const remark = sentences
    .filter(({ scores, kinds }) => scores.rule >= MAY_BE_RULE || kinds.has('fact'))
    .slice(0, MOST_QUOTES)
    .map(({ text }) => text);
  if (has('thanks')) return { kind: 'thanked', remark };
  return remark.length === 0 ? undefined : { kind: 'remarked', remark };
}

function wrong(
  quoted: readonly ReadSentence[],
  { isStanding, isRule }: { readonly isStanding: boolean; readonly isRule: boolean },
): Reaction {
  if (quoted.length === 0) return { kind: 'wrong', isRule };
  return { kind: 'wrong', isRule, correction: { quotes: quoted.map(({ text }) => text), isStanding } };
}

/** A message of this length is quoted as a whole: what it says in passing often is the reason of the rule. */
const SHORT_MESSAGE = 400;
const MOST_OF_SHORT = 6;

/** The corrections and rules in the order of the message, with what stands between them; of a short message also what stands beside them. */
function quotedIn(sentences: readonly ReadSentence[]): readonly ReadSentence[] {
  const isShort = sentences.reduce((sum, { text }) => sum + text.length, 0) <= SHORT_MESSAGE;
  const most = isShort ? MOST_OF_SHORT : MOST_QUOTES;
  const all = sentences.map((_, index) => index);
  const core = all.filter((index) => isCoreAt(sentences, index)).slice(0, most);
  const blocks = new Set(core.map((index) => sentences[index]?.block));
  const around = all.filter((index) => {
    const sentence = sentences[index];
    return isShort && sentence !== undefined && blocks.has(sentence.block) && isPlain(sentence);
  });
  const [first, last] = [Math.min(...core, ...around), Math.max(...core, ...around)];
  const rule = core.find((index) => isStandingAt(sentences, index));
  // What is too long is quoted from its rule on.
  const start = last - first < most ? first : (rule ?? core[0] ?? first);
  return sentences.slice(start, Math.min(last + 1, start + most));
}

const isCoreAt = (sentences: readonly ReadSentence[], index: number): boolean => {
  const sentence = sentences[index];
  return sentence !== undefined && isCore(sentence);
};
const isStandingAt = (sentences: readonly ReadSentence[], index: number): boolean => {
  const sentence = sentences[index];
  return sentence !== undefined && isStanding(sentence);
};

/** No thanks, no outage and not the next piece of work. */
const isPlain = ({ kinds }: ReadSentence): boolean =>
  !kinds.has('thanks') && !kinds.has('task') && !kinds.has('outage');

/**
 * The request in a message that follows a reply. People react first, and ask for the next piece of work after a blank line: the request
 * begins with the last paragraph that opens with a task; without one it is the last paragraph.
 */
export function requestAfterReaction(message: string, spans?: readonly LabelledSpan[]): string {
  const sentences = readSentences({ message, answer: '', spans });
  const [first, last] = [sentences[0]?.block ?? 0, sentences.at(-1)?.block ?? 0];
  if (first === last) return message;
  const begun = sentences.findLast(
    ({ block, kinds }, nth) => kinds.has('task') && sentences[nth - 1]?.block !== block,
  );
  const start = sentences.find(({ block }) => block === (begun?.block ?? last))?.text ?? '';
  return message.slice(Math.max(0, message.lastIndexOf(start))).trim();
}
