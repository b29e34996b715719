import type { Taint } from '../../core/lesson.ts';
import type { EmbeddingModel } from '../../core/recall.ts';
import { cosineSimilarity, OUTSIDE_LIKENESS } from '../../lessons/similar/compare.ts';
import { splitFoldedSentences } from '../../text/sentences.ts';
import { topicStems } from '../../text/topic-words.ts';
import type { EvidenceByTrust } from './evidence-by-trust.ts';
import { foldedWords } from './normalize-text.ts';
import {
  givesInstruction,
  isProse,
  isReport,
  readOutsideStatements,
  readReports,
} from './outside-statements.ts';

/** A statement of fewer words is short. */
const FEWEST_WORDS = 5;
const FEWEST_SHARED_STEMS = 3;
const MOST_STATEMENTS = 320;
const MOST_FIRST_PARTY = 80;
const MOST_AGENT = 80;
/** Short statements that follow each other may be pieces of one. */
const LONGEST_PIECE = 160;
const MOST_PIECES = 48;

/** A line of a lesson with its nearest neighbours. */
export interface LineMeaning {
  readonly line: string;
  /** The cosine of the most similar first-party sentence, and that sentence. */
  readonly own: number;
  readonly ownSentence: string;
  /** The same for outside text, agents that repeat it included. */
  readonly outside: number;
  readonly outsideSentence: string;
  readonly taint: Taint;
}

/** A line that was compared with nothing. */
export const unread = (line: string): LineMeaning => ({
  line,
  own: 0,
  ownSentence: '',
  outside: 0,
  outsideSentence: '',
  taint: 'tool',
});

export interface MeaningReading {
  readonly lines: readonly LineMeaning[];
  /** The outside statements that could have taught something. */
  readonly statements: readonly string[];
  /** There is outside text, and it could not be compared: too much of it, or the model failed. */
  readonly isUnknown: boolean;
}

/**
 * Compares each line of a lesson with first-party and outside sentences by embeddings: that finds paraphrases that share no
 * words. What an agent said counts as outside when it has the meaning of an outside statement.
 */
export async function compareMeaning(
  lines: readonly string[],
  { firstParty, untrusted }: EvidenceByTrust,
  embed: EmbeddingModel['embed'],
): Promise<MeaningReading> {
  const taints = new Map<string, Taint>();
  let piece = '';
  let pieces = 0;
  for (const text of untrusted) {
    if (text.isAgent) continue;
    const statements = readOutsideStatements(text.views);
    for (const statement of [...statements, ...readReports(text.views[0] ?? '')])
      taints.set(statement, text.taint);
    const [short] = text.views;
    const isPiece = short !== undefined && short.length <= LONGEST_PIECE && statements.length > 0;
    if (isPiece && piece !== '' && pieces++ < MOST_PIECES)
      taints.set(`${piece} ${statements.join(' ')}`, text.taint);
    piece = isPiece ? statements.join(' ') : '';
  }
  const statements = [...taints.keys()];
  const own = [...new Set(firstParty.flatMap(splitFoldedSentences))].slice(-MOST_FIRST_PARTY);
  if (lines.length === 0) return { lines: [], statements, isUnknown: false };
  const isTooMuch = statements.length > MOST_STATEMENTS;
  const compared = isTooMuch ? [] : statements;
  const said = untrusted
    .filter(({ isAgent }) => isAgent)
    .flatMap(({ views: [plain = ''] }) => splitFoldedSentences(plain))
    .filter((sentence) => isProse(sentence) || givesInstruction(sentence))
    .slice(-MOST_AGENT);
  const agents = compared.length === 0 ? [] : [...new Set(said)];
  try {
    const parts = [lines, own, compared, agents];
    const vectors = await embed(parts.flat());
    if (vectors.length < parts.flat().length) throw new Error('vectors are missing');
    const partAt = (index: number): readonly Float32Array[] => {
      const from = parts.slice(0, index).flat().length;
      return vectors.slice(from, from + (parts[index]?.length ?? 0));
    };
    const [lineVectors, ownVectors, statementVectors, agentVectors] = [0, 1, 2, 3].map(partAt);
    const outside = compared.map((sentence, at): Compared => {
      return { sentence, taint: taints.get(sentence) ?? 'tool', vector: statementVectors?.[at] };
    });
    const relayed = agents.flatMap((sentence, at) => {
      const source = relays(sentence, agentVectors?.[at], outside);
      return source === undefined ? [] : [{ ...source, sentence, vector: agentVectors?.[at] }];
    });
    return {
      isUnknown: isTooMuch,
      statements,
      lines: lines.map((line, at) => {
        const vector = lineVectors?.[at];
        const nearOwn = nearest(
          vector,
          own.map((sentence, i) => ({ sentence, taint: 'tool', vector: ownVectors?.[i] })),
        );
        const nearOutside = nearest(vector, [...outside, ...relayed]);
        return {
          ...unread(line),
          own: nearOwn.cosine,
          ownSentence: nearOwn.sentence,
          outside: nearOutside.cosine,
          outsideSentence: nearOutside.sentence,
          taint: nearOutside.taint,
        };
      }),
    };
  } catch {
    return { lines: lines.map(unread), statements, isUnknown: statements.length > 0 };
  }
}

interface Compared {
  readonly sentence: string;
  readonly taint: Taint;
  readonly vector: Float32Array | undefined;
}

/** The outside statement that an agent's sentence repeats: by meaning, or by several words that few sentences share. */
function relays(
  sentence: string,
  vector: Float32Array | undefined,
  outside: readonly Compared[],
): Compared | undefined {
  const stems = topicStems(sentence);
  return outside.find((statement) => {
    if (cosineSimilarity(vector, statement.vector) >= OUTSIDE_LIKENESS.relayed) return true;
    const theirs = topicStems(statement.sentence);
    const shared = [...theirs].filter((stem) => stems.has(stem)).length;
    return shared >= FEWEST_SHARED_STEMS && shared * 2 >= Math.min(stems.size, theirs.size);
  });
}

/** A line that has the meaning of outside text rather than of first-party text. */
export function findOutsideMeaning(
  lines: readonly LineMeaning[],
  statements: number,
): LineMeaning | undefined {
  const { few, many } = OUTSIDE_LIKENESS;
  const rise = OUTSIDE_LIKENESS.rise * Math.min(1, Math.max(0, (statements - few) / (many - few)));
  const barOf = (sentence: string): number => {
    if (isReport(sentence)) return OUTSIDE_LIKENESS.report;
    if (foldedWords(sentence).length < FEWEST_WORDS) return OUTSIDE_LIKENESS.short + rise;
    return (givesInstruction(sentence) ? OUTSIDE_LIKENESS.instruction : OUTSIDE_LIKENESS.statement) + rise;
  };
  return lines.find(
    ({ own, outside, outsideSentence }) => outside >= barOf(outsideSentence) && outside > own,
  );
}

function nearest(
  vector: Float32Array | undefined,
  among: readonly Compared[],
): { readonly cosine: number; readonly sentence: string; readonly taint: Taint } {
  let best = { cosine: 0, sentence: '', taint: 'tool' as Taint };
  for (const { sentence, taint, vector: other } of among) {
    const near = cosineSimilarity(vector, other);
    if (near > best.cosine) best = { cosine: near, sentence, taint };
  }
  return best;
}

const FEWEST_WORDS_IN_LINE = 4;

/** The lines of a normalized lesson that say something. */
export const statementsOfLesson = (folded: string): readonly string[] =>
  splitFoldedSentences(folded).filter(
    (line) => foldedWords(line.replace(/`[^`]*`/g, ' ')).length >= FEWEST_WORDS_IN_LINE,
  );
