/**
 * npm run bench:retold [-- --set FILE --as feedback --explain --write]
 *
 * Users who tell the same rules again and again in other words, in the chat or as feedback: how many lessons each rule becomes, and whether
 * lessons of different rules stay apart.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { writeSection } from '../../markdown.ts';
import { requireSome } from '../../measured.ts';
import { MalformedRowError } from '../correction-set.ts';
import { playCorrections } from '../play-corrections.ts';
import { filedWords, parseRetoldSet, rowOf } from './retold-set.ts';
import { reportRetold, scoreRetold } from './score-retold.ts';

const OURS = ['dev', 'test'].map((part) => `lab/measure/corrections/retold/retold-${part}.jsonl`);
const { values: options } = parseArgs({
  options: {
    /** `chat`, or `feedback`: the words are filed as feedback on the answer. */
    as: { type: 'string', default: 'chat' },
    set: { type: 'string', multiple: true, default: OURS },
    /** Print what went wrong. */
    explain: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
});

function readSet(file: string) {
  try {
    return parseRetoldSet(readFileSync(file, 'utf8'), file);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (!(error instanceof MalformedRowError) && code === undefined) throw error;
    process.stderr.write(`${message}\n`);
    return process.exit(2);
  }
}

const isFiled = options.as === 'feedback';
const sections: string[] = [];
const documents: object[] = [];
for (const [file, users] of options.set.map((file) => [file, readSet(file)] as const)) {
  const name = path.basename(file);
  requireSome(`user in ${file}`, users.length);
  const played = await playCorrections(
    users.map((user, index) => rowOf(user, index, isFiled)),
    {
      model: 'none',
      ...(isFiled
        ? {
            feedback: (id: string, nth: number) =>
              users.flatMap((user) => (user.id === id ? (filedWords(user, nth) ?? []) : []))[0],
          }
        : {}),
      onProgress: (what) => process.stderr.write(`${name}: ${what}\n`),
    },
  );
  const scores = users.flatMap((user, index) => {
    const row = played[index];
    return row === undefined ? [] : [scoreRetold(user, row)];
  });
  const tellings = users.reduce((sum, { told }) => sum + told.length, 0);
  requireSome(`telling in ${file}`, tellings);
  requireSome(
    `telling of ${file} that was recorded`,
    played.flatMap(({ bySession }) => bySession).flat().length,
  );
  requireSome(
    `rule of ${file} that was scored`,
    scores.reduce((sum, { rules }) => sum + rules, 0),
  );
  documents.push({ set: file, users: users.length, tellings, scores });
  sections.push(
    reportRetold(
      `${name}: ${users.length} users, ${tellings} tellings, ${isFiled ? 'filed as feedback' : 'in the chat'}`,
      scores,
    ),
  );
  if (options.explain) sections.push(scores.flatMap(({ faults }) => faults).join('\n'));
}
process.stdout.write(options.json ? `${JSON.stringify(documents, null, 2)}\n` : `${sections.join('\n\n')}\n`);
if (options.write) {
  const head = `${new Date().toISOString().slice(0, 10)}, Node ${process.versions.node}. \`npm run bench:retold -- ${isFiled ? '--as feedback ' : ''}--write\``;
  writeSection(
    'lab/results/learning.md',
    isFiled ? 'bench:retold feedback' : 'bench:retold',
    [head, ...sections].join('\n\n'),
  );
}
process.exit(0);
