import type { ChatEvent, ChatRequest, ToolCallPart, Usage } from '../../src/core/chat.ts';
import type { Clock } from '../../src/core/clock.ts';
import { createFailure, type Failure } from '../../src/core/failure.ts';
import type { CallerIdentity, GatewayClient, GatewayReply } from '../../src/core/gateway-client.ts';
import { compact } from '../../src/core/json.ts';
import type { Exchange, Upstream } from '../../src/core/upstream.ts';
import type { Wire } from '../../src/core/wire.ts';
import { lengthOf } from '../../src/learn/model-pace.ts';
import { createHttpModel } from '../../src/models/http-model.ts';

export interface GatewayClientOptions {
  readonly exchange: Exchange;
  readonly wire: Wire;
  /** Where the gateway serves that wire: `{ origin: 'http://127.0.0.1:4000', basePath: '/v1' }`. */
  readonly gateway: Pick<Upstream, 'origin' | 'basePath'>;
  /** The headers with the gateway's key; read per request, so that a changed key is used. */
  readonly credentials: () => Readonly<Record<string, string>>;
  readonly clock: Clock;
  /** Whether replies are streamed; default false, since nobody watches them arrive. */
  readonly stream?: boolean;
}

type Head = Readonly<Record<string, string | string[] | undefined>>;

interface AskResult {
  readonly reply: GatewayReply;
  /** Whether the head of a reply arrived. */
  readonly hasHead: boolean;
}

/** Longer than any real reply; a longer stream would not end by itself. */
const LONGEST_REPLY = 16 * 1024 * 1024;

/**
 * Calls a gateway over HTTP, as every client does. A connection that is lost before the first byte of a reply is retried
 * once, since a gateway may close an idle one at the moment it is used; all other retries are the gateway's.
 */
export function createGatewayClient(options: GatewayClientOptions): GatewayClient {
  return async (request, speaker, signal) => {
    const first = await ask(options, request, speaker, signal);
    const { failure } = first.reply;
    const isLost = failure?.kind === 'unreachable' && failure.final !== true && !first.hasHead;
    return isLost && !signal.aborted ? (await ask(options, request, speaker, signal)).reply : first.reply;
  };
}

async function ask(
  options: GatewayClientOptions,
  request: ChatRequest,
  speaker: CallerIdentity,
  signal: AbortSignal,
): Promise<AskResult> {
  const { wire, gateway, credentials, clock, stream = false } = options;
  let head: Head | undefined;
  const model = createHttpModel({
    exchange: withHeaders(options.exchange, headersOf(speaker), (headers) => {
      head = headers;
    }),
    wire,
    upstream: { ...gateway, wire: wire.name },
    access: { kind: 'own', credentials },
    clock,
  });
  const reply = await readWhole(model({ ...request, stream }, { signal }));
  return { reply: { ...reply, ...readMarks(head ?? {}) }, hasHead: head !== undefined };
}

/** The same exchange with added request headers; `onHead` gets the reply's headers. */
const withHeaders =
  (exchange: Exchange, added: Readonly<Record<string, string>>, onHead: (headers: Head) => void): Exchange =>
  (request, sink) =>
    exchange(
      { ...request, headers: { ...request.headers, ...added } },
      {
        onHead: (status, headers) => {
          onHead(headers);
          sink.onHead(status, headers);
        },
        onChunk: (chunk) => sink.onChunk(chunk),
        onEnd: () => sink.onEnd(),
        onFailure: (failure) => sink.onFailure(failure),
      },
    );

async function readWhole(
  events: AsyncIterable<ChatEvent>,
): Promise<Pick<GatewayReply, 'text' | 'calls' | 'usage' | 'failure'>> {
  const texts: string[] = [];
  const calls = new Map<string, { readonly name: string; readonly json: string[] }>();
  let usage: Usage | undefined;
  let failure: Failure | undefined;
  let size = 0;
  for await (const event of events) {
    if (event.type === 'text-delta') texts.push(event.text);
    else if (event.type === 'tool-start') calls.set(event.id, { name: event.name, json: [] });
    else if (event.type === 'tool-delta') calls.get(event.id)?.json.push(event.json);
    else if (event.type === 'reply-end') usage = event.usage;
    else if (event.type === 'failure') failure = event.failure;
    size += lengthOf(event);
    if (size > LONGEST_REPLY) {
      failure = createFailure('upstream-error', 'The reply is longer than 16 million characters.');
      break;
    }
  }
  const toolCalls = [...calls].map(
    ([id, { name, json }]): ToolCallPart => ({ type: 'tool-call', id, name, arguments: json.join('') }),
  );
  return compact({ text: texts.join(''), calls: toolCalls, usage, failure });
}

function headersOf(speaker: CallerIdentity): Readonly<Record<string, string>> {
  const { session, agent, runKind, domain, project, isLast } = speaker;
  const headers = compact({
    'x-instar-session': session,
    'x-instar-agent': agent,
    'x-instar-run-kind': runKind,
    'x-instar-domain': domain,
    'x-instar-project': project,
    'x-instar-session-done': isLast === true ? 'true' : undefined,
  });
  return Object.fromEntries(Object.entries(headers).map(([name, text]) => [name, asBytes(text)]));
}

/** A header is bytes: other letters are sent as UTF-8, which the gateway maps to the same id each time. */
const asBytes = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');

function readMarks(head: Head): Pick<GatewayReply, 'turn' | 'generation' | 'policy' | 'lessons'> {
  const generation = textAt(head, 'x-instar-generation');
  return compact({
    turn: textAt(head, 'x-instar-turn'),
    policy: textAt(head, 'x-instar-policy') || undefined,
    generation: /^\d{1,15}$/.test(generation ?? '') ? Number(generation) : undefined,
    lessons: (textAt(head, 'x-instar-lessons') ?? '').split(',').filter((id) => id !== ''),
  });
}

function textAt(head: Head, name: string): string | undefined {
  const value = head[name];
  return Array.isArray(value) ? value[0] : value;
}
