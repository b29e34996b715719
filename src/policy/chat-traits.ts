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
  /** From the generation config, the tokenizer, and the token that the template puts after a reply. */
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
  'No stop token is known: set "eos_token" in tokenizer_config.json or "eos_token_id" in generation_config.json.';

/** Properties of a template, detected by rendering with it. */
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
  // A template that refuses this short conversation is tested by the first real one.
  return { stop, takesTools: withTool?.includes(WORD) ?? true };
}
