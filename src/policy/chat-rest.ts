import type { JsonObject } from '../core/json.ts';
import { type ChatJinja, writtenBy } from './chat-jinja.ts';
import type { TemplateMessage } from './chat-messages.ts';
import type { ChatTokens } from './chat-tokens.ts';

export interface RestParts {
  readonly tokens: ChatTokens;
  readonly jinja: ChatJinja;
  readonly stop: readonly number[];
}

/** From the token that ends the reply at an index to the end of the prompt. Undefined when that token is not to be found. */
export type RestAfter = (
  at: number,
  messages: readonly TemplateMessage[],
  tools: readonly JsonObject[],
) => readonly number[] | undefined;

/**
 * What follows a reply, without the reply: it is replaced by a word that occurs nowhere else, and the text is cut at the
 * first end of a turn behind that word. So it does not matter how the template writes a reply, or that it leaves out of
 * earlier ones what it wrote when they were the last.
 */
export function createRestAfter({ tokens, jinja, stop }: RestParts): RestAfter {
  const ends = stop.map((id) => tokens.decode([id])).filter((text) => text !== '');
  return (at, messages, tools) => {
    const word = wordNotIn(JSON.stringify([messages, tools]));
    const marked = messages.map((message, index) => (index === at ? endingIn(word, message) : message));
    const text = writtenBy(jinja, { messages: marked, tools, isAsking: true }) ?? '';
    const from = text.indexOf(word);
    const found = ends.map((end) => text.indexOf(end, from)).filter((end) => end >= 0);
    if (from < 0 || found.length === 0) return undefined;
    // Encoded behind the token and not alone: some tokenizers begin a text with a space of their own.
    const ids = tokens.encode(text.slice(Math.min(...found)));
    return stop.includes(ids[0] ?? -1) ? ids : undefined;
  };
}

/** In a call when there is one: the text of a reply comes before its calls, of which some templates take one only. */
function endingIn(word: string, { tool_calls: calls = [], ...message }: TemplateMessage): TemplateMessage {
  const last = calls.at(-1);
  if (last === undefined) return { ...message, content: word };
  const marked = { ...last, function: { ...last.function, arguments: { [word]: word } } };
  return { ...message, tool_calls: [marked] };
}

function wordNotIn(text: string): string {
  let word = 'qwxzanchor';
  while (text.includes(word)) word += 'q';
  return word;
}
