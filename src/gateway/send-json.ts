import type { JsonObject } from '../core/json.ts';
import type { Attempt, Turn } from './turn.ts';

/** A whole reply that we wrote ourselves. */
export function sendJson(
  { response }: Turn,
  body: JsonObject,
  marks: Readonly<Record<string, string>>,
): Attempt {
  const bytes = Buffer.from(JSON.stringify(body));
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': bytes.length, ...marks });
  response.end(bytes);
  return { kind: 'sent', end: 'complete', status: 200 };
}
