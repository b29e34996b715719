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

const server = createServer((request, response) => {
  void bodyOf(request).then((body) => {
    const messages = asArray(asObject(parseJson(body)).messages);
    const { text, restore } = numberIds(JSON.stringify(messages));
    const id = hash('sha256', text).slice(0, 16);
    const reply = replies.get(id);
    // A question for the list of models has no body.
    if (messages.length > 0 && reply === undefined && !asked.has(id)) {
      asked.add(id);
      appendFileSync(missing, `{"id":"${id}","messages":${text}}\n`);
    }
    const content = reply === undefined ? NOT_RECORDED : restore(reply);
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
