import type { ChatEvent, ChatModel, ChatRequest } from '../core/chat.ts';

/** What a server refuses of requests: kept for as long as the process runs. */
export interface SchemaSupport {
  isRefused: boolean;
}

/** Enough for every question of learning, where the context of a small model has no room for more. */
const SHORT_REPLY = 1024;

/**
 * Asks for JSON under a schema where the server may offer constrained decoding, and without it when the server refuses. A refused
 * request is first sent again with a shorter reply: servers refuse a prompt whose longest reply does not fit their context.
 */
export const withSchema = (model: ChatModel, support: SchemaSupport): ChatModel =>
  async function* (request, options) {
    const tries = triesOf(request, support);
    for (const [index, wanted] of tries.entries()) {
      const events = model(wanted, options);
      let isRefused = false;
      for await (const event of events) {
        isRefused = index < tries.length - 1 && isRefusal(event);
        if (isRefused) break;
        if (event.type === 'reply-end' && request.format !== undefined && wanted.format === undefined)
          support.isRefused = true;
        yield event;
      }
      if (!isRefused) return;
    }
  };

function triesOf({ format, ...plain }: ChatRequest, { isRefused }: SchemaSupport): readonly ChatRequest[] {
  const { maxTokens = 0 } = plain;
  const forms = format === undefined || isRefused ? [plain] : [{ ...plain, format }, plain];
  return forms.flatMap((form) =>
    maxTokens > SHORT_REPLY ? [form, { ...form, maxTokens: SHORT_REPLY }] : [form],
  );
}

/** A failure as the first event: nothing of a reply was seen yet. */
const isRefusal = (event: ChatEvent): boolean =>
  event.type === 'failure' && (event.failure.kind === 'bad-request' || event.failure.kind === 'too-large');

/** Without a schema: for servers that are known to need none, or that charge for a refused request. */
export const withoutSchema =
  (model: ChatModel): ChatModel =>
  ({ format: _, ...request }, options) =>
    model(request, options);
