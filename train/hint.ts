import type { ChatRequest } from '../src/core/chat.ts';
import { withLessons } from '../src/models/in-process-client.ts';

/** A request with a hint at the end of its system prompt, where a gateway puts a block. */
export const withHint = (request: ChatRequest, hint: string): ChatRequest =>
  withLessons(request, { text: hint });

const HEADING = '## Notes: what the user said about an answer to this';
/** Longer corrections are no hints but tasks. In characters. */
const LONGEST = 600;

/** The words of a correction as a hint for the task that was corrected; undefined when there is nothing to quote. */
export function hintOf(quotes: readonly string[]): string | undefined {
  const lines = [...new Set(quotes.map((quote) => quote.split(/\s/).filter(Boolean).join(' ')))].filter(
    (line) => line !== '' && line.length <= LONGEST,
  );
  return lines.length === 0 ? undefined : [HEADING, '', ...lines.map((line) => `- ${line}`)].join('\n');
}
