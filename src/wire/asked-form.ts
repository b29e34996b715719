import type { ChatRequest } from '../core/chat.ts';
import { compact, type Json, parseJson } from '../core/json.ts';
import { type Outline, type Wire, WireError } from '../core/wire.ts';

/** What a request asks of the form of its reply. */
export type AskedForm = Pick<ChatRequest, 'format' | 'tools' | 'toolChoice'>;

/** The members that say so, of all wires. */
const MEMBERS = [
  'tools',
  'functions',
  'tool_choice',
  'function_call',
  'response_format',
  'text',
  'output_config',
  'output_format',
] as const;

/** Stand in for the conversation, which may be long and says nothing about the form. */
const NO_CONVERSATION = { model: '-', messages: [{ role: 'user', content: '-' }], input: '-' };

/** Reads only these members. Undefined when the wire does not understand them. */
export function readAskedForm(wire: Wire, body: Buffer, outline: Outline): AskedForm | undefined {
  const asked: Record<string, Json | undefined> = { ...NO_CONVERSATION };
  for (const name of MEMBERS) {
    const span = outline.member(name);
    if (span !== undefined) asked[name] = parseJson(body.toString('utf8', ...span));
  }
  try {
    const { format, tools, toolChoice } = wire.decodeRequest(asked);
    return compact({ format, tools, toolChoice }) as AskedForm;
  } catch (error) {
    if (error instanceof WireError) return undefined;
    throw error;
  }
}
