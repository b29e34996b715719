import type { Tool } from '../core/chat.ts';
import type { PolicyReply } from '../core/policy.ts';
import { splitCalls } from './chat-calls.ts';

const OPEN = '<think>';
const CLOSE = '</think>';
/** Special tokens that are part of the reply; other special tokens are skipped. */
export const SPEAKING_MARKS: ReadonlySet<string> = new Set([
  OPEN,
  CLOSE,
  '<tool_call>',
  '</tool_call>',
  '<|python_tag|>',
  '[TOOL_CALLS]',
]);

export interface ReplyText {
  readonly text: string;
  /** The prompt ended inside a thought: templates open one for models that always think. */
  readonly isThinking: boolean;
  readonly tools: readonly Tool[];
}

/** A reply without the model's thoughts, split into text and calls. */
export function readChatReply({ text, isThinking, tools }: ReplyText): PolicyReply {
  const said = splitCalls(withoutThoughts(isThinking ? OPEN + text : text), tools);
  return { text: said.text.replaceAll('<|python_tag|>', '').trim(), calls: said.calls };
}

function withoutThoughts(text: string): string {
  const [open, close] = [text.indexOf(OPEN), text.indexOf(CLOSE)];
  // The thought was opened in the prompt.
  let rest = close >= 0 && (open < 0 || close < open) ? text.slice(close + CLOSE.length) : text;
  let said = '';
  for (let at = rest.indexOf(OPEN); at >= 0; at = rest.indexOf(OPEN)) {
    said += rest.slice(0, at);
    const end = rest.indexOf(CLOSE, at);
    rest = end < 0 ? '' : rest.slice(end + CLOSE.length);
  }
  return said + rest;
}
