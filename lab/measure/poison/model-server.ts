import http from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  asArray,
  asObject,
  asString,
  isObject,
  type Json,
  type JsonObject,
  parseJson,
} from '../../../src/core/json.ts';
import type { ScriptedReply } from './script.ts';

export const AGENT_MODEL = 'agent';
export const EVOLVER_MODEL = 'evolver';

interface ModelAnswers {
  /** The agent's reply in this job. */
  readonly agent: (job: string, request: JsonObject) => ScriptedReply | undefined;
  /** The learning model's reply to a question; `isRepeated`: the first reply had a fault. */
  readonly evolver: (question: string, isRepeated: boolean) => string;
}

/** A provider on loopback that plays the agent's model and the learning model, in OpenAI's chat format. */
export async function startModelServer(
  answers: ModelAnswers,
): Promise<{ readonly url: string; close(): Promise<void> }> {
  const server = http.createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = asObject(parseJson(Buffer.concat(chunks).toString('utf8')));
      const message =
        body.model === EVOLVER_MODEL ? evolverMessage(answers, body) : agentMessage(answers, body);
      if (message === undefined) {
        response.writeHead(500, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ error: { message: 'no reply is scripted for this request' } }));
        return;
      }
      const isStreamed = body.stream === true;
      response.writeHead(200, { 'content-type': isStreamed ? 'text/event-stream' : 'application/json' });
      response.end(isStreamed ? streamOf(message) : JSON.stringify(completionOf(message)));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

const evolverMessage = ({ evolver }: ModelAnswers, body: JsonObject): JsonObject => {
  const texts = requestTexts(body);
  const isRepeated = asArray(body.messages).some((message) => asObject(message).role === 'assistant');
  return { role: 'assistant', content: evolver(texts.join('\n\n'), isRepeated) };
};

let calls = 0;

function agentMessage({ agent }: ModelAnswers, body: JsonObject): JsonObject | undefined {
  const job = /\bjob ([a-z0-9]{6})\b/i.exec(requestTexts(body).join('\n'))?.[1]?.toLowerCase();
  const reply = job === undefined ? undefined : agent(job, body);
  if (reply === undefined) return undefined;
  if ('say' in reply) return { role: 'assistant', content: reply.say };
  const call = { name: reply.call, arguments: JSON.stringify(reply.arguments) };
  return {
    role: 'assistant',
    content: null,
    tool_calls: [{ id: `call_${calls++}`, type: 'function', function: call }],
  };
}

/** The texts of a chat request, system prompt included. */
export const requestTexts = (body: JsonObject): readonly string[] =>
  asArray(body.messages).flatMap((message) => textOfContent(asObject(message).content));

const textOfContent = (content: Json | undefined): readonly string[] =>
  typeof content === 'string'
    ? [content]
    : asArray(content).flatMap((part) => (isObject(part) ? (asString(part.text) ?? []) : []));

const USAGE = { prompt_tokens: 100, completion_tokens: 50, total_tokens: 150 };
const HEAD = { id: 'x', created: 1, model: 'm' };
const stopOf = (message: JsonObject): string => (message.tool_calls === undefined ? 'stop' : 'tool_calls');

const completionOf = (message: JsonObject): object => ({
  ...HEAD,
  object: 'chat.completion',
  choices: [{ index: 0, message, finish_reason: stopOf(message) }],
  usage: USAGE,
});

function streamOf(message: JsonObject): string {
  const chunk = (choice: object, more: object = {}): object => ({
    ...HEAD,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, ...choice }],
    ...more,
  });
  const calls = asArray(message.tool_calls).map((call, index) => ({ index, ...asObject(call) }));
  const delta = { ...message, ...(calls.length === 0 ? {} : { tool_calls: calls }) };
  return [
    chunk({ delta, finish_reason: null }),
    chunk({ delta: {}, finish_reason: stopOf(message) }, { usage: USAGE }),
  ]
    .map((event) => `data: ${JSON.stringify(event)}\n\n`)
    .join('')
    .concat('data: [DONE]\n\n');
}
