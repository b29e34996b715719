import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { asArray, asObject, asString, type JsonObject, parseJson } from '../../../src/core/json.ts';
import type { TeamRule } from './member-work.ts';

/** Names the turn; the gateway passes it on and reads nothing from it. */
export const MEMBER_TURN = 'x-bench-turn';

/** Ends a session. */
export const GOODBYE = 'That is all for now.';

export interface ObeyingProvider {
  readonly port: number;
  /** The lessons in the prompt of a turn; each is given out once. */
  shown(turn: string): string;
  close(): Promise<void>;
}

const HEADING = /^## Active Skills\b/m;

/**
 * A model that can do every task of these rules and knows none of the rules: it obeys a rule when a lesson in its prompt teaches it,
 * and breaks it otherwise. What users said in the conversation does not count.
 */
export async function startObeyingProvider(rules: readonly TeamRule[]): Promise<ObeyingProvider> {
  const byText = new Map(
    rules.flatMap((rule) =>
      [...rule.work, ...rule.probes].map(({ question }) => [question.text, { rule, question }]),
    ),
  );
  const prompts = new Map<string, string>();
  const answer = (body: JsonObject, turn: string): string => {
    const texts = asArray(body.messages).map((message) => textOf(asObject(message)));
    const lessons = texts.flatMap((text) => text.slice(text.search(HEADING) >>> 0)).join('\n');
    const asked = texts.at(-1) ?? '';
    const block = asked.search(HEADING);
    const found = byText.get((block < 0 ? asked : asked.slice(0, block)).trim());
    if (!prompts.has(turn)) prompts.set(turn, lessons);
    if (asked.startsWith(GOODBYE)) return 'Good.';
    if (found === undefined) return 'I do not know this task.';
    const { rule, question } = found;
    return (question.solve?.(new Set(rule.isTaughtBy(lessons) ? [rule.id] : [])) ?? []).join('\n');
  };
  const server = http.createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = asObject(parseJson(Buffer.concat(chunks).toString('utf8')));
      const content = answer(body, String(request.headers[MEMBER_TURN] ?? ''));
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(
        JSON.stringify({
          ...{ id: 'chatcmpl-team', object: 'chat.completion', created: 1_790_000_000, model: 'bench' },
          choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
          usage: { prompt_tokens: 900, completion_tokens: 60, total_tokens: 960 },
        }),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    shown: (turn) => {
      const lessons = prompts.get(turn) ?? '';
      prompts.delete(turn);
      return lessons;
    },
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

const textOf = ({ content }: JsonObject): string =>
  asString(content) ??
  asArray(content)
    .map((part) => asString(asObject(part).text) ?? '')
    .join('\n');
