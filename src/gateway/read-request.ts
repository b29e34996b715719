import type { ChatRequest } from '../core/chat.ts';
import { createFailure, type Failure } from '../core/failure.ts';
import { asObject, type JsonObject, parseJson } from '../core/json.ts';
import { type Wire, WireError } from '../core/wire.ts';

export interface ReadRequest {
  /** The caller's JSON. */
  readonly body: JsonObject;
  /** The same as a ChatRequest. */
  readonly request: ChatRequest;
}

/** Decodes a caller's request, or explains what is wrong with it. */
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
