import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { asObject, asString, type JsonObject, parseJson } from '../../src/core/json.ts';
import { readOwnSentences } from '../../src/reader/own-sentences.ts';
import { readChats } from './read-chats.ts';

/**
 * Gives the labels their texts back: `labels.jsonl` has hashes only.
 *
 *     node build/lab/reader/join.js CHATS [--labels FILE] [--out FILE] [--rest FILE]
 *
 * CHATS: a folder with a clone OWNER/NAME of each repository, with its history (some files were deleted later). A row is found by
 * the hash of its sentences. `--rest` gets the messages that nobody labelled, in the same form without letters.
 */
const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    labels: { type: 'string', default: 'lab/reader/labels.jsonl' },
    out: { type: 'string', default: 'rows.jsonl' },
    rest: { type: 'string' },
  },
});

const readRows = (file: string): readonly JsonObject[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => asObject(parseJson(line)));
const writeRows = (file: string, rows: readonly object[]): void =>
  writeFileSync(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
const hashOf = (sentences: readonly string[]): string =>
  createHash('sha256').update(sentences.join('\n')).digest('hex').slice(0, 16);
/** `C - TN`: the letters of each sentence. */
const lettersOf = (written: JsonObject[string]): readonly string[] =>
  (asString(written) ?? '').split(' ').map((letters) => (letters === '-' ? '' : letters));

function messagesOf(repository: string): ReadonlyMap<string, { answer: string; sentences: string[] }> {
  const found = new Map<string, { answer: string; sentences: string[] }>();
  for (const { message, answer } of readChats(repository)) {
    const sentences = readOwnSentences(message).map(({ text }) => text);
    const hash = hashOf(sentences);
    if (sentences.length > 0 && !found.has(hash)) found.set(hash, { answer, sentences });
  }
  return found;
}

const [chats = 'chats'] = positionals;
const labels = readRows(options.labels);
const joined: object[] = [];
const rest: object[] = [];
for (const owner of readdirSync(chats))
  for (const name of readdirSync(`${chats}/${owner}`)) {
    const repo = `${owner}/${name}`;
    const messages = messagesOf(`${chats}/${repo}`);
    const own = labels.filter(({ source }) => source === repo);
    const rows = own.flatMap(({ sentences: hash, licence, use, natural, agreed, disputed, judged }) => {
      const text = messages.get(asString(hash) ?? '');
      const letters = { letters: lettersOf(agreed), unsure: lettersOf(disputed), judged };
      return text === undefined ? [] : [{ repo, licence, use, natural, ...text, ...letters, hash }];
    });
    joined.push(...rows);
    const known = new Set(own.map(({ sentences: hash }) => hash));
    for (const [hash, text] of messages) if (!known.has(hash)) rest.push({ repo, ...text, hash });
    process.stdout.write(
      `${repo}: ${rows.length} of ${own.length} labels joined, ${messages.size} messages\n`,
    );
  }
writeRows(options.out, joined);
if (options.rest !== undefined) writeRows(options.rest, rest);
process.stdout.write(
  `${joined.length} of ${labels.length} labels joined, ${rest.length} messages without labels\n`,
);
