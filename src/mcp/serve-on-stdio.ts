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
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { asObject } from '../core/json.ts';
import type { EpisodeApi } from './episode-api.ts';
import { createMcpServer, type McpParts } from './mcp-server.ts';

interface StdioStreams {
  readonly input: Readable;
  /** Carries the protocol and nothing else. */
  readonly output: Writable;
  /** Ends the connection at once. */
  readonly signal: AbortSignal;
  /** Called with errors of the connection. */
  readonly report: (error: Error) => void;
}

/**
 * Serves one client until it closes its end, disconnects, or the signal aborts. Requests before the end of the input
 * are answered, and all reports are written when this resolves. Never rejects.
 */
export async function serveOnStdio(parts: McpParts, streams: StdioStreams): Promise<void> {
  const { input, output, signal, report } = streams;
  const api = withOrderedWrites(parts.api);
  const transport = createStdioTransport(input, output);
  const connection = serveStdio(() => createMcpServer({ ...parts, api }), { transport, onerror: report });
  const closed = new Promise<void>((resolve) => {
    const { onclose } = transport;
    transport.onclose = () => {
      onclose?.();
      resolve();
    };
  });
  const leave = (): void => void connection.close();
  signal.addEventListener('abort', leave);
  if (signal.aborted) leave();
  await closed;
  signal.removeEventListener('abort', leave);
  await api.settled();
}

interface OrderedEpisodeApi extends EpisodeApi {
  /** Resolves when all reports have been written. */
  settled(): Promise<void>;
}

/**
 * Serialises the writes in the order of their arrival: a model that makes parallel calls may end an episode together
 * with its last attempt.
 */
function withOrderedWrites(api: EpisodeApi): OrderedEpisodeApi {
  let last: Promise<unknown> = Promise.resolve();
  const next = <T>(write: () => Promise<T>): Promise<T> => {
    const done = last.then(write);
    last = done.catch(() => undefined);
    return done;
  };
  return {
    ...api,
    start: (episode) => next(() => api.start(episode)),
    attempt: (attempt) => next(() => api.attempt(attempt)),
    end: (end) => next(() => api.end(end)),
    feedback: (given) => next(() => api.feedback(given)),
    settled: async () => {
      for (let seen: unknown; seen !== last; ) {
        seen = last;
        await last;
      }
    },
  };
}

/** A request that is answered only when the connection ends. */
const LASTING = 'subscriptions/listen';

/**
 * One JSON-RPC message per line over two streams. The SDK's own transport drops open requests when its input ends; this
 * one answers them first, since an agent's last call is often the outcome of its task. It closes when the input has
 * ended and no request is open, and at once when the output fails or a line is too long.
 */
function createStdioTransport(input: Readable, output: Writable): Transport {
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
