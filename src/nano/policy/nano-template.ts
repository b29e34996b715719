import type { ChatRequest } from '../../core/chat.ts';
import type { PolicyReply, Template } from '../../core/policy.ts';
import { readReply } from './read-reply.ts';
import { renderPrompt } from './render-prompt.ts';
import type { Tokenizer } from './tokenizer.ts';
import { MARK } from './vocabulary.ts';
import type { Reply } from './write-reply.ts';

const TOOL = 'run_command';
const LONGEST_REPLY = 208;
const DONE = 'That is done.';
const FOREIGN =
  'I am Instar nano, a laboratory model of 0.4 million parameters that ships with Instar. I only know workdays: the short tasks ' +
  'and questions of the benchmark of that name. To talk to a real model through Instar, run `instar init`; or set ' +
  'OPENAI_API_KEY or ANTHROPIC_API_KEY, or start Ollama, and start Instar again.';

/** The small policy's own: it reads the skills and the last question of a request, and says or does everything in one reply. */
export const createNanoTemplate = (tokenizer: Tokenizer): Template => ({
  stop: [MARK.end],
  longestReply: LONGEST_REPLY,
  render: (request) => {
    // What it did has been answered; no result could lead to more.
    if (request.messages.at(-1)?.role === 'tool') return { is: 'reply', reply: say(DONE) };
    const prompt = renderPrompt(request, tokenizer);
    if (prompt.is === 'foreign') return { is: 'reply', reply: say(FOREIGN) };
    return { is: 'prompt', tokens: [...prompt.tokens] };
  },
  read: (tokens, request) => {
    const reply = readReply(tokens, tokenizer);
    if (reply.is !== 'act' || !mayCall(request)) return say(textOf(reply));
    return {
      text: '',
      calls: [{ name: TOOL, arguments: JSON.stringify({ command: reply.commands.join('\n') }) }],
    };
  },
});

const say = (text: string): PolicyReply => ({ text, calls: [] });

const mayCall = ({ tools, toolChoice }: ChatRequest): boolean =>
  toolChoice !== 'none' && tools.some(({ name }) => name === TOOL);

function textOf(reply: Reply): string {
  if (reply.is === 'foreign') return FOREIGN;
  return reply.is === 'say' ? reply.text : reply.commands.join('\n');
}
