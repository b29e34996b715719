import { asArray, asObject, asString, type Json, type JsonObject, parseJson } from '../core/json.ts';
import { readAiderConversation } from '../text/aider-frame.ts';

/** A larger body keeps its frame: its session is then found as that of any other client. */
const MOST_BYTES = 4 * 1024 * 1024;

/**
 * A body of aider with the conversation alone, for recognising it: aider rebuilds the messages around it for every request, so that
 * no request extends the one before. The body itself when it cannot be read.
 */
export function aiderHistory(body: Buffer): Buffer {
  if (body.length > MOST_BYTES) return body;
  const messages = asArray(asObject(parseJson(body.toString('utf8'))).messages).map(asObject);
  const own = readAiderConversation(
    messages.map((message) => ({ role: asString(message.role) ?? '', text: textOf(message) })),
  );
  if (own.length === 0) return body;
  const kept = own.map(({ index, text }): JsonObject => {
    const { role, content } = messages[index] ?? {};
    return { role: role ?? '', content: text ?? content ?? null };
  });
  return Buffer.from(JSON.stringify({ messages: kept }));
}

/** The text of a message that contains nothing else; clients that set cache marks write it as a list. */
function textOf({ content }: JsonObject): string | undefined {
  if (typeof content === 'string') return content;
  const texts = asArray(content).map((part: Json) => asString(asObject(part).text));
  return texts.length > 0 && texts.every((text) => text !== undefined) ? texts.join('') : undefined;
}
