import { Template as Jinja } from '@huggingface/jinja';
import type { Clock } from '../core/clock.ts';
import { asObject, asString, type JsonObject } from '../core/json.ts';
import { TrainingError } from '../core/training.ts';
import { formatDate } from './chat-date.ts';
import { foldSystem, separateCalls, type TemplateMessage } from './chat-messages.ts';

export interface JinjaInput {
  readonly messages: readonly TemplateMessage[];
  readonly tools: readonly JsonObject[];
  /** Whether the text ends with the generation prompt. */
  readonly isAsking: boolean;
}

/**
 * Renders a conversation with the model's template. A conversation that the template refuses is tried in equivalent forms.
 * Throws a TrainingError when all are refused.
 */
export type ChatJinja = (input: JinjaInput) => string;

export interface ChatJinjaOptions {
  readonly config: JsonObject;
  /** Further template variables, such as `enable_thinking`. */
  readonly variables: JsonObject;
  readonly clock: Clock;
  /** Applied to all text that does not come from the template itself. */
  readonly guard: (text: string) => string;
}

const NO_TEMPLATE =
  'There is no chat template: neither "chat_template" in tokenizer_config.json nor a chat_template.jinja. ' +
  'Models tuned for chat have one: use such a model, or put its template beside tokenizer.json.';

export function createChatJinja({ config, variables, clock, guard }: ChatJinjaOptions): ChatJinja {
  const { plain, withTools } = compileTemplates(config);
  const now = (format: unknown): string => formatDate(String(format), clock.now());
  const write = (messages: readonly TemplateMessage[], { tools, isAsking }: JinjaInput): string => {
    const guarded = asObject(JSON.parse(guard(JSON.stringify({ messages, tools }))));
    return (tools.length > 0 ? withTools : plain).render({
      ...specialTokensOf(config),
      ...variables,
      documents: null,
      messages: guarded.messages,
      tools: tools.length > 0 ? guarded.tools : null,
      add_generation_prompt: isAsking,
      [NOW]: now,
    });
  };
  return (input) => {
    const { messages } = input;
    const separate = separateCalls(messages);
    let refusal: unknown;
    for (const form of [messages, separate, foldSystem(separate)])
      try {
        return write(form, input);
      } catch (error) {
        // The error for the conversation as it came is the one its sender understands.
        refusal ??= error;
      }
    throw refused(refusal instanceof Error ? refusal.message : String(refusal));
  };
}

const refused = (reason: string): TrainingError =>
  new TrainingError('user', `The model's chat template refuses this conversation: ${reason}`);

/** The renderer has its own clock under the usual name, which cannot be replaced. */
const NOW = 'instar_now';
const compile = (text: string): Jinja => {
  try {
    return new Jinja(text.replace(/\bstrftime_now\b/g, NOW));
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new TrainingError('user', `The model's chat template cannot be read: ${reason}`);
  }
};

/** One template, or several by name, of which `tool_use` is for conversations with tools. */
function compileTemplates({ chat_template: given }: JsonObject): Record<'plain' | 'withTools', Jinja> {
  const named = new Map(
    (Array.isArray(given) ? given : [{ name: 'default', template: given ?? null }]).flatMap((one) => {
      const { name, template } = asObject(one);
      const text = asString(template);
      return text === undefined ? [] : [[asString(name), text] as const];
    }),
  );
  const usual = named.get('default') ?? named.get('tool_use');
  if (usual === undefined) throw new TrainingError('user', NO_TEMPLATE);
  const plain = compile(usual);
  const forTools = named.get('tool_use');
  return { plain, withTools: forTools === undefined ? plain : compile(forTools) };
}

/** `bos_token` and similar; each is a text, or an object with one. */
function specialTokensOf(config: JsonObject): JsonObject {
  const tokens = Object.entries(config).flatMap(([name, value]): [string, string][] => {
    const text = asString(value) ?? asString(asObject(value).content);
    return name.endsWith('_token') && text !== undefined ? [[name, text]] : [];
  });
  return Object.fromEntries(tokens);
}

/** Undefined when the template refuses the conversation. */
export function writtenBy(jinja: ChatJinja, input: JinjaInput): string | undefined {
  try {
    return jinja(input);
  } catch {
    return undefined;
  }
}
