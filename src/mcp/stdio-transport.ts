import type { Readable, Writable } from 'node:stream';
import {
  isJSONRPCErrorResponse,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  type JSONRPCMessage,
  ReadBuffer,
  serializeMessage,
  type Transport,
} from '@modelcontextprotocol/server';
import { asObject } from '../core/json.ts';

/** A request that is answered when the connection ends. */
const LASTING = 'subscriptions/listen';

/**
 * One message a line over two streams. The SDK's own transport drops what it was asked when its input ends; this one
 * answers it first, since an agent's last words are often the outcome of its task. It closes when the input has ended
 * and nothing is open, and at once when the output breaks or a line has no end.
 */
export function createStdioTransport(input: Readable, output: Writable): Transport {
  const lines = new ReadBuffer();
  const open = new Set<unknown>();
  let hasEnded = false;
  let isClosed = false;

  const closeWhenDone = (): void => {
    if (hasEnded && open.size === 0) void transport.close();
  };
  const fail = (error: unknown): void => {
    if (isClosed) return;
    transport.onerror?.(error instanceof Error ? error : new Error(String(error)));
    void transport.close();
  };
  const onData = (chunk: Buffer): void => {
    try {
      lines.append(chunk);
    } catch (error) {
      fail(error);
    }
    while (!isClosed && take());
  };
  /** False when there is no whole line left. One that is not a message is reported and passed over. */
  const take = (): boolean => {
    try {
      const message = lines.readMessage();
      if (message === null) return false;
      note(message);
      transport.onmessage?.(message);
    } catch (error) {
      transport.onerror?.(error instanceof Error ? error : new Error(String(error)));
    }
    return true;
  };
  const note = (message: JSONRPCMessage): void => {
    if (isJSONRPCRequest(message)) {
      if (message.method !== LASTING) open.add(message.id);
    } else if (isJSONRPCNotification(message) && message.method === 'notifications/cancelled')
      open.delete(asObject(message.params).requestId);
  };
  const onEnd = (): void => {
    hasEnded = true;
    closeWhenDone();
  };

  const transport: Transport = {
    start: async () => {
      output.on('error', fail);
      input.on('data', onData).on('error', fail).on('end', onEnd).on('close', onEnd);
      if (input.readableEnded || input.destroyed) onEnd();
    },
    send: async (message) => {
      if (isClosed) return;
      const isAnswer = isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message);
      if (isAnswer) open.delete(message.id);
      // The error, if there is one, comes as an event too; a closed output must not fail whoever wrote to it.
      await new Promise<void>((resolve) => output.write(serializeMessage(message), () => resolve()));
      closeWhenDone();
    },
    close: async () => {
      if (isClosed) return;
      isClosed = true;
      input.off('data', onData).off('end', onEnd).off('close', onEnd).pause();
      lines.clear();
      transport.onclose?.();
    },
  };
  return transport;
}
