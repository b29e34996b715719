import type { Readable, Writable } from 'node:stream';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { inOrder } from './in-order.ts';
import { createMcpServer, type McpParts } from './mcp-server.ts';
import { createStdioTransport } from './stdio-transport.ts';

export interface StdioStreams {
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
  const desk = inOrder(parts.desk);
  const transport = createStdioTransport(input, output);
  const connection = serveStdio(() => createMcpServer({ ...parts, desk }), { transport, onerror: report });
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
  await desk.settled();
}
