import { Template as Jinja } from '@huggingface/jinja';
import type { Clock } from '../core/clock.ts';
import { asObject, asString, type JsonObject } from '../core/json.ts';
import { TrainingError } from '../core/training.ts';
import { formatDate } from './chat-date.ts';
import { foldSystem, separateCalls, type TemplateMessage } from './chat-messages.ts';

export interface JinjaInput {
  readonly messages: readonly TemplateMessage[];
  readonly tools: readonly JsonObject[];
  /** The text ends where a reply begins. */
  readonly isAsking: boolean;
}

/**
 * A conversation as text, as the model was taught to read it. What a template refuses is tried in forms that say the same.
 * Throws a TrainingError when it refuses them all.
 */
export type ChatJinja = (input: JinjaInput) => string;

export interface ChatJinjaOptions {
  readonly config: JsonObject;
  /** What a template is told besides, such as `enable_thinking`. */
  readonly variables: JsonObject;
  readonly clock: Clock;
  /** Everything that is not the template's own goes through it. */
  readonly guard: (text: string) => string;
}

const NO_TEMPLATE =
  'There is no chat template: neither "chat_template" in tokenizer_config.json nor a chat_template.jinja. ' +
  'A model that was tuned for conversations has one; take its folder, or put its template beside tokenizer.json.';

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
        // What is said of the conversation as it came is what its sender understands.
        refusal ??= error;
      }
    throw refused(refusal instanceof Error ? refusal.message : String(refusal));
  };
}

const refused = (reason: string): TrainingError =>
  new TrainingError('user', `The model's chat template refuses this conversation: ${reason}`);

/** The renderer has a clock of its own under the usual name, and no way to give it another. */
const NOW = 'instar_now';
const compile = (text: string): Jinja => {
  try {
    return new Jinja(text.replace(/\bstrftime_now\b/g, NOW));
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new TrainingError('user', `The model's chat template cannot be read: ${reason}`);
  }
};

/** One text, or several with names, of which `tool_use` is for conversations with tools. */
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

/** `bos_token` and its like; each is a text, or an object around one. */
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
