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

/** A request that is answered only when the connection ends. */
const LASTING = 'subscriptions/listen';

/**
 * One JSON-RPC message per line over two streams. The SDK's own transport drops open requests when its input ends; this
 * one answers them first, since an agent's last call is often the outcome of its task. It closes when the input has
 * ended and no request is open, and at once when the output fails or a line is too long.
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
  /** False when no complete line is left. An invalid line is reported and skipped. */
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
      // Errors also arrive as events; a closed output must not reject the caller.
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
