import type { ChatRequest } from '../../../src/core/chat.ts';
import type { PolicyReply, PolicyTemplate } from '../../../src/core/training.ts';
import { renderPrompt } from './render-prompt.ts';
import type { NanoTokenizer } from './tokenizer.ts';
import { MARK } from './vocabulary.ts';

/** A reply of the policy: all commands at once, a text, or that the task is not of a kind it knows. */
export type NanoReply =
  | { readonly is: 'act'; readonly commands: readonly string[] }
  | { readonly is: 'say'; readonly text: string }
  | { readonly is: 'foreign' };

const DONE_COMMAND = 'done';

/**
 * Decodes sampled tokens. Never throws, since a policy in training may sample anything. Commands always end with `done`,
 * because the policy reads no results. A reply without an opening mark is text.
 */
export function readNanoReply(tokens: Iterable<number>, tokenizer: NanoTokenizer): NanoReply {
  const [...all] = tokens;
  const end = all.indexOf(MARK.end);
  const content = end < 0 ? all : all.slice(0, end);
  const [mark, ...rest] = content;
  if (mark === MARK.foreign) return { is: 'foreign' };
  if (mark !== MARK.act)
    return { is: 'say', text: tokenizer.decode(mark === MARK.say ? rest : content).trim() };
  const commands = tokenizer
    .decode(rest)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  return { is: 'act', commands: commands.at(-1) === DONE_COMMAND ? commands : [...commands, DONE_COMMAND] };
}

const TOOL = 'run_command';
const MAX_REPLY_TOKENS = 208;
const DONE_TEXT = 'That is done.';
const FOREIGN =
  'I am Instar nano, a laboratory model of 2.9 million parameters that ships with Instar. I only know workdays: the short tasks ' +
  'and questions of the benchmark of that name. To talk to a real model through Instar, run `instar init`; or set ' +
  'OPENAI_API_KEY or ANTHROPIC_API_KEY, or start Ollama, and start Instar again.';

/** The nano policy's template: it reads the skills and the last question of a request, and answers or acts in one reply. */
export const createNanoTemplate = (tokenizer: NanoTokenizer): PolicyTemplate => ({
  stop: [MARK.end],
  longestReply: MAX_REPLY_TOKENS,
  render: (request) => {
    // The policy acts once: after the result of its commands, the task is over.
    if (request.messages.at(-1)?.role === 'tool') return { is: 'reply', reply: textReply(DONE_TEXT) };
    const prompt = renderPrompt(request, tokenizer);
    if (prompt.is === 'foreign') return { is: 'reply', reply: textReply(FOREIGN) };
    return { is: 'prompt', tokens: [...prompt.tokens] };
  },
  write: (text) => [MARK.say, ...tokenizer.encode(text), MARK.end],
  read: (tokens, request) => {
    const reply = readNanoReply(tokens, tokenizer);
    if (reply.is !== 'act' || !mayCall(request)) return textReply(textOf(reply));
    return {
      text: '',
      calls: [{ name: TOOL, arguments: JSON.stringify({ command: reply.commands.join('\n') }) }],
    };
  },
});

const textReply = (text: string): PolicyReply => ({ text, calls: [] });

const mayCall = ({ tools, toolChoice }: ChatRequest): boolean =>
  toolChoice !== 'none' && tools.some(({ name }) => name === TOOL);

function textOf(reply: NanoReply): string {
  if (reply.is === 'foreign') return FOREIGN;
  return reply.is === 'say' ? reply.text : reply.commands.join('\n');
}
