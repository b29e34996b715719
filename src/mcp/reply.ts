import type { CallToolResult } from '@modelcontextprotocol/server';
import type { JsonObject } from '../core/json.ts';
import type { Told } from './episode-desk.ts';

/** What a tool says: the same for programs and for a model to read. */
export interface Saying {
  readonly data: JsonObject;
  readonly text: string;
}

/**
 * A tool's result from what the desk told. A refusal is a result too, with its mend, so that the model can put it right;
 * a desk that breaks its word and rejects is a refusal.
 */
export async function replyWith<T>(
  asked: Promise<Told<T>>,
  say: (value: T) => Saying,
): Promise<CallToolResult> {
  try {
    const told = await asked;
    if (!told.ok) return refusal(told.why, told.mend);
    const { data, text } = say(told.value);
    return { content: [{ type: 'text', text }], structuredContent: { ...data } };
  } catch (error) {
    return refusal(error instanceof Error ? error.message : String(error), UNKNOWN_MEND);
  }
}

const UNKNOWN_MEND = 'Go on with the task without this tool; "instar doctor" says what is wrong.';

const refusal = (why: string, mend: string): CallToolResult => ({
  content: [{ type: 'text', text: `${why}\n${mend}` }],
  isError: true,
});
