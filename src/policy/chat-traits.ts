import { asArray, asNumber, asObject, asString, type JsonObject } from '../core/json.ts';
import { TrainingError } from '../core/training.ts';
import { type ChatJinja, writtenBy } from './chat-jinja.ts';
import type { TemplateMessage } from './chat-messages.ts';
import type { ChatTokens } from './chat-tokens.ts';

export interface TraitSources {
  readonly tokens: ChatTokens;
  readonly jinja: ChatJinja;
  readonly config: JsonObject;
  readonly generation: JsonObject;
}

export interface ChatTraits {
  /** Of the generation config, of the tokenizer, and the one that the template puts behind a reply. */
  readonly stop: readonly number[];
  readonly takesTools: boolean;
}

const WORD = 'qwxzreply';
const HELLO: TemplateMessage = { role: 'user', content: 'Hello' };
const REPLY: TemplateMessage = { role: 'assistant', content: WORD };
const TOOL = {
  type: 'function',
  function: { name: WORD, description: WORD, parameters: { type: 'object', properties: {} } },
};
const NO_STOP =
  'No token is known to end a reply: give "eos_token" in tokenizer_config.json or "eos_token_id" in generation_config.json.';

/** What a template does, found out by trying it. */
export function findTraits({ tokens, jinja, config, generation }: TraitSources): ChatTraits {
  const { eos_token_id: given } = generation;
  const named = asString(config.eos_token) ?? asString(asObject(config.eos_token).content);
  const [, behind = ''] =
    writtenBy(jinja, { messages: [HELLO, REPLY], tools: [], isAsking: false })?.split(WORD) ?? [];
  const [, ending] = [...tokens.marks].find(([mark]) => behind.trimStart().startsWith(mark)) ?? [];
  const ids = [...asArray(given), given, named === undefined ? undefined : tokens.idOf(named), ending];
  const stop = [...new Set(ids.map(asNumber).filter((id) => id !== undefined))];
  if (stop.length === 0) throw new TrainingError('user', NO_STOP);
  const withTool = writtenBy(jinja, { messages: [HELLO], tools: [TOOL], isAsking: false });
  // A template that refuses so short a conversation will tell in a real one.
  return { stop, takesTools: withTool?.includes(WORD) ?? true };
}
