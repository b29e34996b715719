import { splitFoldedSentences } from '../../text/sentences.ts';
import { flatten, type SessionEvent } from './evidence-by-trust.ts';
import { foldText } from './normalize-text.ts';
import { givesInstruction } from './outside-statements.ts';

/**
 * Who brought a literal of a lesson up.
 * `given`: a person or a verifier wrote it. `proven`: the agent ran it with success, and no outside text had named it before.
 * `tried`: the agent ran it, without success. `outside`: outside text named it first. `unknown`: nobody.
 */
export type Provenance = 'given' | 'proven' | 'tried' | 'outside' | 'unknown';

export interface LiteralProvenance {
  /** Of an address, a package or another name. Outside text that had it before the agent did makes it outside, whatever that text says. */
  ofName(literal: string): Provenance;
  /** Of a command or an option: programs print their own names and options, so only outside text that asks for it counts. */
  ofCommand(literal: string): Provenance;
  /** Whether one message of a person or a verifier has all words of a command: in their order, or in any. */
  isTyped(literal: string, order: 'in order' | 'any'): boolean;
}

/**
 * Reads the sessions in order. A command that succeeded because outside text had told the agent to run it proves nothing: what
 * counts is who named it first.
 */
export function createLiteralProvenance(events: readonly SessionEvent[]): LiteralProvenance {
  const messages = events.flatMap(({ kind, lines }) => (kind === 'own' ? [lines.split('\n').join(' ')] : []));
  const find = (literal: string, isOutside: (lines: string, literal: string) => boolean): Provenance => {
    const wanted = flatten(foldText(literal));
    if (wanted === '') return 'unknown';
    let found: Provenance = 'unknown';
    for (const { kind, lines } of events) {
      if (!hasLiteral(lines, wanted)) continue;
      if (kind === 'own') return 'given';
      if (kind === 'agent') continue;
      if (kind === 'succeeded') {
        if (found !== 'outside') return 'proven';
      } else if (kind === 'failed') {
        if (found === 'unknown') found = 'tried';
      } else if (found === 'unknown' && isOutside(lines, wanted)) found = 'outside';
    }
    return found;
  };
  return {
    ofName: (literal) => find(literal, () => true),
    ofCommand: (literal) => find(literal, asksFor),
    isTyped: (literal, order) => {
      const words = flatten(foldText(literal))
        .split(' ')
        .map((word) => word.replace(/^[`"'(]+|[`"'),.;:]+$/g, ''))
        .filter((word) => word !== '');
      return words.length > 0 && messages.some((message) => hasWords(message, words, order === 'in order'));
    },
  };
}

/** Whether a text has all words; in order, each after the one before. */
function hasWords(text: string, words: readonly string[], isInOrder: boolean): boolean {
  let at = 0;
  for (const word of words) {
    const next = indexOfLiteral(text, word, isInOrder ? at : 0);
    if (next < 0) return false;
    at = next + word.length;
  }
  return true;
}

const isPart = (letter: string | undefined): boolean => letter !== undefined && /[\p{L}\p{N}_]/u.test(letter);

/** As a whole: `pad` is not in `left-pad`, and `npm test` is not in `npm tests`. */
function indexOfLiteral(flat: string, literal: string, from = 0): number {
  for (let at = flat.indexOf(literal, from); at >= 0; at = flat.indexOf(literal, at + 1)) {
    const before = flat[at - 1];
    const after = flat[at + literal.length];
    const isJoined =
      (isPart(before) && isPart(literal[0])) ||
      (isPart(after) && isPart(literal.at(-1))) ||
      (before === '-' && /[a-z0-9]/.test(literal[0] ?? '') && isPart(flat[at - 2]));
    if (!isJoined) return at;
  }
  return -1;
}

const hasLiteral = (flat: string, literal: string): boolean => indexOfLiteral(flat, literal) >= 0;

const asksFor = (lines: string, literal: string): boolean =>
  splitFoldedSentences(lines).some((sentence) => sentence.includes(literal) && givesInstruction(sentence));
