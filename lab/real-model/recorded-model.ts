/**
 * npm run recorded-model -w lab -- --replies FILE.jsonl --missing FILE.jsonl [--port 8099]
 *
 * A chat model on loopback that answers from a file: `{ "id", "reply" }` a line, the id a hash of the conversation. What it has no reply to
 * is written to the other file, and is answered with a few words that say so. Whoever answers those prompts sees nothing else; run what
 * asked them again until nothing is missing. So a model without an API can be measured through the whole product.
 */
import { hash } from 'node:crypto';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { parseArgs } from 'node:util';
import { asArray, asObject, asString, parseJson } from '../../src/core/json.ts';

const { values } = parseArgs({
  options: {
    replies: { type: 'string' },
    missing: { type: 'string' },
    port: { type: 'string', default: '8099' },
  },
});
const { replies: file, missing } = values;
if (file === undefined || missing === undefined)
  throw new Error('name both files: --replies FILE.jsonl --missing FILE.jsonl');

const NOT_RECORDED = 'I have no answer to this yet.';
const linesOf = (name: string): readonly string[] =>
  existsSync(name)
    ? readFileSync(name, 'utf8')
        .split('\n')
        .filter((line) => line !== '')
    : [];
const replies = new Map(
  linesOf(file).map((line) => {
    const { id, reply } = asObject(parseJson(line));
    return [asString(id) ?? '', asString(reply) ?? ''] as const;
  }),
);
const asked = new Set<string>();

async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString('utf8');
}

const server = createServer((request, response) => {
  void bodyOf(request).then((body) => {
    const messages = asArray(asObject(parseJson(body)).messages);
    const id = hash('sha256', JSON.stringify(messages)).slice(0, 16);
    const reply = replies.get(id);
    // A question for the list of models has no body.
    if (messages.length > 0 && reply === undefined && !asked.has(id)) {
      asked.add(id);
      appendFileSync(missing, `${JSON.stringify({ id, messages })}\n`);
    }
    const content = reply ?? NOT_RECORDED;
    const choice = { index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' };
    const usage = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };
    response.setHeader('content-type', 'application/json');
    response.end(
      JSON.stringify({ id, object: 'chat.completion', model: 'recorded', choices: [choice], usage }),
    );
  });
});
server.listen(Number(values.port), '127.0.0.1', () =>
  process.stdout.write(`${replies.size} replies at http://127.0.0.1:${values.port}/v1\n`),
);
process.once('SIGTERM', () => server.close());
