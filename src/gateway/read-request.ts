import type { ChatRequest } from '../core/chat.ts';
import { createFailure, type Failure } from '../core/failure.ts';
import { asObject, type JsonObject, parseJson } from '../core/json.ts';
import { type Wire, WireError } from '../core/wire.ts';

export interface ReadRequest {
  /** As the caller wrote it. */
  readonly body: JsonObject;
  /** In our own words. */
  readonly request: ChatRequest;
}

/** What a caller asks for, or what is wrong with how it asks. */
export function readRequest(wire: Wire, bytes: Buffer): ReadRequest | Failure {
  const value = parseJson(bytes.toString('utf8'));
  if (value === undefined) return createFailure('bad-request', 'The request body is not valid JSON.');
  const body = asObject(value);
  try {
    return { body, request: wire.decodeRequest(body) };
  } catch (error) {
    if (error instanceof WireError) return createFailure('bad-request', error.message);
    throw error;
  }
}
