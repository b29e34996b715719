import type { CallToolResult } from '@modelcontextprotocol/server';
import type { JsonObject } from '../core/json.ts';
import type { Told } from './episode-desk.ts';

/** A tool's reply: the same content as data and as text. */
export interface Saying {
  readonly data: JsonObject;
  readonly text: string;
}

/**
 * Turns an API result into a tool result. A failure is a result too, with its fix, so that the model can correct its
 * call. A rejection, which the API does not allow, is treated as a failure.
 */
export async function replyWith<T>(
  asked: Promise<Told<T>>,
  say: (value: T) => Saying,
): Promise<CallToolResult> {
  try {
    const told = await asked;
    if (!told.ok) return refusal(told.why, told.fix);
    const { data, text } = say(told.value);
    return { content: [{ type: 'text', text }], structuredContent: { ...data } };
  } catch (error) {
    return refusal(error instanceof Error ? error.message : String(error), UNKNOWN_FIX);
  }
}

const UNKNOWN_FIX = 'Continue the task without this tool; run "instar doctor" to find the cause.';

const refusal = (why: string, fix: string): CallToolResult => ({
  content: [{ type: 'text', text: `${why}\n${fix}` }],
  isError: true,
});
