import type { JsonObject } from '../core/json.ts';
import type { Attempt, RunningTurn } from './turn.ts';

/** Sends a complete reply that Instar wrote itself. */
export function sendJson(
  { response, record }: RunningTurn,
  body: JsonObject,
  marks: Readonly<Record<string, string>>,
): Attempt {
  const bytes = Buffer.from(JSON.stringify(body));
  record.head('application/json', undefined);
  record.chunk(bytes);
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': bytes.length, ...marks });
  response.end(bytes);
  return { kind: 'sent', end: 'complete', status: 200 };
}
