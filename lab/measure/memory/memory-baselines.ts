import type { EmbeddingModel } from '../../../src/core/recall.ts';
import { countTerms, createBm25Index } from '../../../src/lessons/recall/bm25-index.ts';
import { estimateTokens } from '../../../src/text/estimate-tokens.ts';
import type { HistoryMessage, MemoryEntry } from './memory-set.ts';
import { MEMORY_LIMITS } from './played-home.ts';

/*
 * What a prompt holds without learning: raw messages of the same agent and project, chosen in a simple way, within the limits that
 * lessons have: `library.tokenBudget`, and for a search `library.topK`.
 */

/** The newest messages. */
export const wholeHistory = (entry: MemoryEntry): string => fill(ownMessages(entry).toReversed());

/** The messages that share words with the question, by BM25. */
export function searchWords(entry: MemoryEntry): string {
  const messages = ownMessages(entry);
  const index = createBm25Index();
  for (const [slot, { text }] of messages.entries()) index.add(slot, countTerms({ head: '', body: text }));
  const scores = new Float32Array(messages.length);
  if (messages.length > 0) for (const term of index.terms(entry.question)) index.score(term, scores);
  return fill(best(messages, scores).slice(0, MEMORY_LIMITS.topK));
}

/** The messages whose vectors are nearest to the question's. */
export async function searchVectors(entry: MemoryEntry, embed: EmbeddingModel): Promise<string> {
  const messages = ownMessages(entry);
  const [asked, ...vectors] = await embed.embed([entry.question, ...messages.map(({ text }) => text)]);
  if (asked === undefined) return '';
  const scores = vectors.map((vector) =>
    vector.reduce((sum, value, at) => sum + value * (asked[at] ?? 0), 0),
  );
  return fill(best(messages, scores).slice(0, MEMORY_LIMITS.topK));
}

const ownMessages = ({ history, agent, project }: MemoryEntry): readonly HistoryMessage[] =>
  history.filter((one) => one.agent === agent && one.project === project);

/** Only those with a positive score; the newer one of two equals first. */
const best = (messages: readonly HistoryMessage[], scores: ArrayLike<number>): readonly HistoryMessage[] =>
  messages
    .map((message, slot) => ({ message, score: scores[slot] ?? 0 }))
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score || b.message.at - a.message.at)
    .map(({ message }) => message);

/** The first message that does not fit ends it. */
function fill(messages: readonly HistoryMessage[]): string {
  const lines: string[] = [];
  let tokens = 0;
  for (const { text, at } of messages) {
    const line = `- ${new Date(at).toISOString().slice(0, 10)}: ${text}`;
    tokens += estimateTokens(line);
    if (tokens > MEMORY_LIMITS.tokenBudget) break;
    lines.push(line);
  }
  return lines.join('\n');
}
