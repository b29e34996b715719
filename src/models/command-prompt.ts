import type { AssistantPart, ChatMessage, ChatRequest, ReplyFormat, UserPart } from '../core/chat.ts';

export interface CommandPrompt {
  readonly system: string;
  readonly text: string;
}

const WITHOUT_SYSTEM = 'You answer requests in plain text. You have no tools.';

/**
 * A conversation as one text for a headless program. It always begins with a fixed sentence: such programs take a
 * leading slash for one of their own commands, and the conversation is untrusted text.
 */
export function encodeCommandPrompt({ system, messages, format }: ChatRequest): CommandPrompt {
  const wanted = describeFormat(format);
  return {
    system: system.map(({ text }) => text).join('\n\n') || WITHOUT_SYSTEM,
    text: [encodeConversation(messages), ...(wanted === undefined ? [] : [wanted])].join('\n\n'),
  };
}

function encodeConversation(messages: readonly ChatMessage[]): string {
  const [first] = messages;
  if (messages.length === 1 && first?.role === 'user') return `The request:\n\n${encodeParts(first.content)}`;
  const turns = messages.map((message) => `[${message.role}]\n${encodeParts(message.content)}`);
  return [
    'The conversation so far:',
    ...turns,
    "Write the assistant's next reply, and nothing but the reply.",
  ].join('\n\n');
}

const encodeParts = (parts: readonly (UserPart | AssistantPart)[]): string =>
  parts.map(encodePart).join('\n');

function encodePart(part: UserPart | AssistantPart): string {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return part.text;
    case 'tool-call':
      return `(calls ${part.name} with ${part.arguments})`;
    case 'image':
    case 'file':
      return `(${part.type} not shown)`;
  }
}

function describeFormat(format: ReplyFormat | undefined): string | undefined {
  if (format === undefined) return undefined;
  const only = 'Answer with one JSON value and nothing else, no fence around it.';
  return format.type === 'json'
    ? only
    : `${only} It must fit this JSON Schema:\n${JSON.stringify(format.schema)}`;
}
