import type { ChatRequest } from '../../core/chat.ts';
import type { PolicyReply, Template } from '../../core/policy.ts';
import { readReply } from './read-reply.ts';
import { renderPrompt } from './render-prompt.ts';
import type { Tokenizer } from './tokenizer.ts';
import { MARK } from './vocabulary.ts';
import type { Reply } from './write-reply.ts';

const TOOL = 'run_command';
const MAX_REPLY_TOKENS = 208;
const DONE = 'That is done.';
const FOREIGN =
  'I am Instar nano, a laboratory model of 0.4 million parameters that ships with Instar. I only know workdays: the short tasks ' +
  'and questions of the benchmark of that name. To talk to a real model through Instar, run `instar init`; or set ' +
  'OPENAI_API_KEY or ANTHROPIC_API_KEY, or start Ollama, and start Instar again.';

/** The nano policy's template: it reads the skills and the last question of a request, and answers or acts in one reply. */
export const createNanoTemplate = (tokenizer: Tokenizer): Template => ({
  stop: [MARK.end],
  longestReply: MAX_REPLY_TOKENS,
  render: (request) => {
    // The policy acts once: after the result of its commands, the task is over.
    if (request.messages.at(-1)?.role === 'tool') return { is: 'reply', reply: textReply(DONE) };
    const prompt = renderPrompt(request, tokenizer);
    if (prompt.is === 'foreign') return { is: 'reply', reply: textReply(FOREIGN) };
    return { is: 'prompt', tokens: [...prompt.tokens] };
  },
  read: (tokens, request) => {
    const reply = readReply(tokens, tokenizer);
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

function textOf(reply: Reply): string {
  if (reply.is === 'foreign') return FOREIGN;
  return reply.is === 'say' ? reply.text : reply.commands.join('\n');
}
