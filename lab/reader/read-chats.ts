import { spawnSync } from 'node:child_process';
import { asArray, asObject, asString, type JsonObject, parseJson } from '../../src/core/json.ts';

/** What a person wrote to an agent, and the end of the answer before it. */
export interface TypedMessage {
  readonly message: string;
  readonly answer: string;
}

const ANSWER_CHARACTERS = 600;
const EDITOR_HISTORY = /(?:^|\/)\.specstory\/history\/[^/]+\.md$/;
const AIDER_HISTORY = /(?:^|\/)\.aider\.chat\.history\.md$/;
const TRANSCRIPT = /(?:^|\/)full\.jsonl$/;
/** What git may answer at once. */
const MOST_BYTES = 256 * 1024 * 1024;

/** All messages in the histories that a repository holds or once held: of SpecStory, aider and Entire. The newest version of a file comes first. */
export function readChats(repository: string): readonly TypedMessage[] {
  return readBlobs(repository, historiesOf(repository)).flatMap(({ path, text }) =>
    EDITOR_HISTORY.test(path)
      ? readEditorHistory(text)
      : AIDER_HISTORY.test(path)
        ? readAiderHistory(text)
        : readTranscript(text),
  );
}

function git(repository: string, args: readonly string[], input = ''): Buffer {
  const { status, stdout, stderr, error } = spawnSync('git', ['-C', repository, ...args], {
    input,
    maxBuffer: 2 * MOST_BYTES,
  });
  if (status !== 0) throw new Error(`git ${args.join(' ')} in ${repository}: ${error?.message ?? stderr}`);
  return stdout;
}

interface Blob {
  readonly id: string;
  readonly path: string;
}

/** Transcripts only grow: of them the newest version alone. */
function historiesOf(repository: string): readonly Blob[] {
  const objects = git(repository, ['rev-list', '--objects', '--missing=allow-any', '--all']).toString();
  const transcripts = new Set<string>();
  return objects.split('\n').flatMap((line) => {
    const [id = '', path = ''] = [line.slice(0, 40), line.slice(41)];
    if (EDITOR_HISTORY.test(path) || AIDER_HISTORY.test(path)) return [{ id, path }];
    if (!TRANSCRIPT.test(path) || transcripts.has(path)) return [];
    transcripts.add(path);
    return [{ id, path }];
  });
}

/** What a clone left out is left out here too. */
function readBlobs(repository: string, blobs: readonly Blob[]): readonly (Blob & { text: string })[] {
  const sizes = git(repository, ['cat-file', '--batch-check=%(objectsize)'], idsOf(blobs))
    .toString()
    .split('\n');
  const found: (Blob & { text: string })[] = [];
  let part: Blob[] = [];
  let bytes = 0;
  const readPart = (): void => {
    const answer = git(repository, ['cat-file', '--batch'], idsOf(part));
    let at = 0;
    for (const blob of part) {
      const start = answer.indexOf(10, at) + 1;
      const size = Number(answer.toString('latin1', at, start).split(' ')[2]);
      found.push({ ...blob, text: answer.toString('utf8', start, start + size) });
      at = start + size + 1;
    }
    [part, bytes] = [[], 0];
  };
  for (const [at, blob] of blobs.entries()) {
    const size = Number(sizes[at]);
    if (!(size < MOST_BYTES)) continue;
    if (bytes + size > MOST_BYTES) readPart();
    part.push(blob);
    bytes += size;
  }
  readPart();
  return found;
}

const idsOf = (blobs: readonly Blob[]): string => blobs.map(({ id }) => `${id}\n`).join('');

/** Turns in order, each of one speaker, as messages with the answer before them. */
function messagesOf(turns: readonly { readonly isPerson: boolean; readonly text: string }[]): TypedMessage[] {
  let answer = '';
  return turns.flatMap(({ isPerson, text }) => {
    const said = text.trim();
    if (said === '') return [];
    if (isPerson) return [{ message: said, answer }];
    // Not from the middle of a character on.
    answer = said.slice(-ANSWER_CHARACTERS).replace(/^[\uDC00-\uDFFF]/, '');
    return [];
  });
}

/** SpecStory: a line `_**User**_` or `_**Agent (…)**_` before each turn, `---` between them; calls of tools in `<details>`. */
function readEditorHistory(history: string): readonly TypedMessage[] {
  const [, ...turns] = history.replaceAll('\r\n', '\n').split(/^_\*\*([^\n]*)\*\*_[^\S\n]*$/m);
  return messagesOf(
    turns.flatMap((speaker, at) => {
      const text = (turns[at + 1] ?? '').replace(/\n---\s*$/, '');
      if (at % 2 === 1) return [];
      const isPerson = speaker.startsWith('User');
      return [{ isPerson, text: isPerson ? text : withoutTools(text) }];
    }),
  );
}

const withoutTools = (answer: string): string =>
  answer
    .replace(/<(think|details|tool-use)\b[^>]*>[\s\S]*?<\/\1>/g, '')
    .replace(/^<\/?(?:think|details|tool-use)\b[^\n]*$/gm, '');

/** aider: the person's lines begin with `#### `, those of the program with `> `. */
function readAiderHistory(history: string): readonly TypedMessage[] {
  const turns: { isPerson: boolean; text: string }[] = [];
  let isOpen = false;
  for (const line of history.replaceAll('\r\n', '\n').split('\n')) {
    const isPerson = line.startsWith('#### ') || line === '####';
    const isProgram = line.startsWith('>') || line.startsWith('# aider chat started');
    const last = turns.at(-1);
    if (isProgram) isOpen = false;
    else if (isOpen && last?.isPerson === isPerson) last.text += `\n${isPerson ? line.slice(5) : line}`;
    else if (isPerson) turns.push({ isPerson, text: line.slice(5) });
    else if (line.trim() !== '') turns.push({ isPerson, text: line });
    if (!isProgram) isOpen = !(last?.isPerson === true && line.trim() === '');
  }
  return messagesOf(turns.map(({ isPerson, text }) => ({ isPerson, text: text.replace(/[^\S\n]+$/gm, '') })));
}

/** Entire: a line of JSON for each event of Claude Code or Codex. */
function readTranscript(transcript: string): readonly TypedMessage[] {
  return messagesOf(
    transcript.split('\n').flatMap((line) => {
      if (!/"(?:user|assistant|user_message|agent_message)"/.test(line)) return [];
      const entry = asObject(parseJson(line));
      const { type, payload, message } = entry;
      const said = asObject(payload);
      if (type === 'event_msg' && (said?.type === 'user_message' || said?.type === 'agent_message'))
        return [{ isPerson: said.type === 'user_message', text: asString(said.message) ?? '' }];
      if (type !== 'user' && type !== 'assistant') return [];
      const isOfProgram =
        entry.isMeta === true || entry.isSidechain === true || entry.isCompactSummary === true;
      return isOfProgram ? [] : [{ isPerson: type === 'user', text: textOf(asObject(message)) }];
    }),
  );
}

function textOf({ content }: JsonObject): string {
  if (typeof content === 'string') return content;
  return asArray(content)
    .flatMap((part) => {
      const { type, text } = asObject(part);
      return type === 'text' ? [asString(text) ?? ''] : [];
    })
    .join('\n\n');
}
