/**
 * npm run recorded-model -w lab -- --replies FILE.jsonl --missing FILE.jsonl [--port 8099] [--wait]
 *
 * A chat model on loopback that answers from a file: `{ "id", "reply" }` a line, the id a hash of the conversation; `commands` are calls of
 * the one tool that an agent has. What it has no reply to is written to the other file, and is answered with a few words that say so, or
 * with `--wait` as soon as a reply stands in the first file. The one who answers those prompts sees nothing else; run what asked them again
 * until nothing is missing. So a model without an API can be measured through the whole product. Tokens are estimated: four characters each.
 */
import { hash } from 'node:crypto';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as later } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { asArray, asObject, asString, parseJson } from '../../src/core/json.ts';

const { values } = parseArgs({
  options: {
    replies: { type: 'string' },
    missing: { type: 'string' },
    port: { type: 'string', default: '8099' },
    wait: { type: 'boolean', default: false },
  },
});
const { replies: file = '', missing = '' } = values;
if (file === '' || missing === '')
  throw new Error('name both files: --replies FILE.jsonl --missing FILE.jsonl');

interface Reply {
  readonly text: string;
  readonly commands: readonly string[];
}

const NOT_RECORDED: Reply = { text: 'I have no answer to this yet.', commands: [] };
const LOOK_MS = 500;
const CHARACTERS_PER_TOKEN = 4;

const readReplies = (): ReadonlyMap<string, Reply> =>
  new Map(
    (existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [])
      .filter((line) => line !== '')
      .map((line) => {
        const { id, reply, commands } = asObject(parseJson(line));
        const texts = asArray(commands).flatMap((one) => asString(one) ?? []);
        return [asString(id) ?? '', { text: asString(reply) ?? '', commands: texts }] as const;
      }),
  );
let replies = readReplies();
const asked = new Set<string>();

/** Ids that are drawn for each run: the same question has others the next time. */
const DRAWN_IDS = /(?:mark_|(?<=\\n|[^A-Za-z])[ts]_)[0-9a-z]{12,}\b/g;

/** A text with its drawn ids numbered in order, and how a reply gets them back. */
function numberIds(text: string): { readonly text: string; readonly restore: (reply: string) => string } {
  const ids: string[] = [];
  const numbered = text.replaceAll(DRAWN_IDS, (id) => {
    if (!ids.includes(id)) ids.push(id);
    return `ID${ids.indexOf(id) + 1}X`;
  });
  return {
    text: numbered,
    restore: (reply) => reply.replaceAll(/\bID(\d+)X\b/g, (own, at) => ids[Number(at) - 1] ?? own),
  };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString('utf8');
}

/** The recorded reply, once there is one; undefined where nobody waits for it. */
async function findReply(id: string, response: ServerResponse): Promise<Reply | undefined> {
  while (values.wait && !replies.has(id) && !response.destroyed) {
    // White space before the JSON: whoever asked sees that the connection lives.
    response.write(' ');
    await later(LOOK_MS);
    replies = readReplies();
  }
  return replies.get(id);
}

function describeReply(id: string, { text, commands }: Reply): object {
  const calls = commands.map((command, nth) => ({
    id: `call_${id}_${nth + 1}`,
    type: 'function',
    function: { name: 'run_command', arguments: JSON.stringify({ command }) },
  }));
  const message = {
    role: 'assistant',
    content: text,
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
  return { index: 0, message, finish_reason: calls.length === 0 ? 'stop' : 'tool_calls' };
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const messages = asArray(asObject(parseJson(await bodyOf(request))).messages);
  const { text, restore } = numberIds(JSON.stringify(messages));
  const id = hash('sha256', text).slice(0, 16);
  response.setHeader('content-type', 'application/json');
  // A question for the list of models has no body.
  if (messages.length > 0 && !replies.has(id) && !asked.has(id)) {
    asked.add(id);
    appendFileSync(missing, `{"id":"${id}","messages":${text}}\n`);
  }
  const reply = (messages.length > 0 ? await findReply(id, response) : undefined) ?? NOT_RECORDED;
  const restored = { text: restore(reply.text), commands: reply.commands.map(restore) };
  const input = Math.ceil(text.length / CHARACTERS_PER_TOKEN);
  const output = Math.ceil([restored.text, ...restored.commands].join('').length / CHARACTERS_PER_TOKEN);
  const usage = { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
  const choices = [describeReply(id, restored)];
  response.end(JSON.stringify({ id, object: 'chat.completion', model: 'recorded', choices, usage }));
}

const server = createServer((request, response) => void answer(request, response));
server.listen(Number(values.port), '127.0.0.1', () => {
  const address = server.address();
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
  process.stdout.write(`${replies.size} replies at http://127.0.0.1:${port}/v1\n`);
});
process.once('SIGTERM', () => {
  server.close();
  server.closeAllConnections();
});
