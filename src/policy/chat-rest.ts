import type { JsonObject } from '../core/json.ts';
import { type ChatJinja, writtenBy } from './chat-jinja.ts';
import type { TemplateMessage } from './chat-messages.ts';
import type { ChatTokens } from './chat-tokens.ts';

export interface RestParts {
  readonly tokens: ChatTokens;
  readonly jinja: ChatJinja;
  readonly stop: readonly number[];
}

/** The tokens from the one that ends the reply at an index to the end of the prompt. Undefined when it is not found. */
export type RestAfter = (
  at: number,
  messages: readonly TemplateMessage[],
  tools: readonly JsonObject[],
) => readonly number[] | undefined;

/**
 * Renders what follows a reply: the reply is replaced by a unique word, and the text is cut at the first end-of-turn token
 * behind it. So it does not matter how the template renders a reply, or that it drops parts (thoughts) of earlier replies.
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
    // Encoded together with that token: some tokenizers add a space at the start of a text.
    const ids = tokens.encode(text.slice(Math.min(...found)));
    return stop.includes(ids[0] ?? -1) ? ids : undefined;
  };
}

/** Puts the word into the last call if there is one: calls come after the text. Some templates take only one call. */
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
