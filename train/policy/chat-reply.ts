import type { Tool } from '../../src/core/chat.ts';
import type { PolicyReply } from '../../src/core/training.ts';
import { createWrittenCallReader } from '../../src/text/written-calls.ts';

const THINK_OPEN = '<think>';
const THINK_CLOSE = '</think>';
/** Special tokens that are part of the reply; other special tokens are skipped. */
export const SPEAKING_MARKS: ReadonlySet<string> = new Set([
  THINK_OPEN,
  THINK_CLOSE,
  '<tool_call>',
  '</tool_call>',
  '<|python_tag|>',
  '[TOOL_CALLS]',
]);

interface ReplyText {
  readonly text: string;
  /** The prompt ended inside a thought: templates open one for models that always think. */
  readonly isThinking: boolean;
  readonly tools: readonly Tool[];
}

/** A reply without the model's thoughts, split into text and calls. */
export function readChatReply({ text, isThinking, tools }: ReplyText): PolicyReply {
  const said = splitCalls(withoutThoughts(isThinking ? THINK_OPEN + text : text), tools);
  return { text: said.text.replaceAll('<|python_tag|>', '').trim(), calls: said.calls };
}

function withoutThoughts(text: string): string {
  const [open, close] = [text.indexOf(THINK_OPEN), text.indexOf(THINK_CLOSE)];
  // The thought was opened in the prompt.
  let rest = close >= 0 && (open < 0 || close < open) ? text.slice(close + THINK_CLOSE.length) : text;
  let said = '';
  for (let at = rest.indexOf(THINK_OPEN); at >= 0; at = rest.indexOf(THINK_OPEN)) {
    said += rest.slice(0, at);
    const end = rest.indexOf(THINK_CLOSE, at);
    rest = end < 0 ? '' : rest.slice(end + THINK_CLOSE.length);
  }
  return said + rest;
}

/** The tool calls in a reply, and the text around them. */
function splitCalls(reply: string, tools: readonly Tool[]): PolicyReply {
  if (tools.length === 0) return { text: reply, calls: [] };
  const reader = createWrittenCallReader(tools);
  const parts = [...reader.push(reply), ...reader.end()];
  return {
    text: parts.map((part) => ('text' in part ? part.text : '')).join(''),
    calls: parts.flatMap((part) => ('call' in part ? [part.call] : [])),
  };
}
