import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

const root = path.resolve(import.meta.dirname, '../..');

/** Who publishes changes of lessons or hands the function on, and why it may. Everything else that changes a lesson is a row in `learn/learners`. */
const MAY_PUBLISH: Readonly<Record<string, string>> = {
  'src/learn/cycle.ts': 'everything that is learned',
  'src/lessons/lessons-api.ts': 'a person',
  'src/api/keys-api.ts': 'a person: an owner shares lessons of a key',
  'src/api/assign-owners.ts': 'a person: the home of the version before gets its owners, once',
  'team/members-api.ts': 'a person: an owner moves a lesson, a member opts out',
  'src/lessons/skill-files/skill-mirror.ts': 'a file that a person edited',
  'src/lessons/identity-files/identity-mirror.ts': 'a file that a person edited',
  'src/lessons/member-library.ts': 'a view of the library passes it on',
  'src/daemon/serve-learning.ts': 'passes on what the learning thread published',
  'src/lessons/lesson-replica.ts':
    'the learning thread’s view of the library passes it on to the serving thread',
  'src/learn/learning-worker.ts': 'gives that view the way to the serving thread',
};

/** The function as a member, by name or by string, or out of a pattern of members. */
const reachesPublish = (text: string): boolean =>
  /\.publish\b|\[['"`]publish['"`]\]|\{[^{}]*\bpublish\b[^{}]*\}\s*(?:=[^>]|:\s*\w)/.test(text);

const withoutComments = (text: string): string => text.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');

const sources = ['src', 'train', 'team'].flatMap((part) =>
  readdirSync(path.join(root, part), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => path.posix.join(part, name.replaceAll(path.sep, '/'))),
);

describe('a lesson', () => {
  it('is changed by the cycle, a person or a file, and by nobody else', () => {
    const publishers = sources.filter((name) =>
      reachesPublish(withoutComments(readFileSync(path.join(root, name), 'utf8'))),
    );
    expect(publishers).toContain('src/learn/cycle.ts');
    expect(publishers.sort()).toEqual(Object.keys(MAY_PUBLISH).sort());
  });

  it('is found whether the function is called, passed on bare, named by a string or taken out of its object', () => {
    for (const text of [
      'await library.publish(set)',
      'ports?.publish?.(set)',
      'run(library.publish)',
      'run(library.publish.bind(library))',
      "library['publish'](set)",
      'const { clock, publish } = options;',
      'const { publish: tell } = options;',
      'const move = async ({ publish }: Options) => {',
    ])
      expect([text, reachesPublish(text)]).toEqual([text, true]);
    for (const text of [
      'publish: (set) => call(set)',
      "readonly type: 'publish';",
      "Omit<Library, 'publish'>",
    ])
      expect([text, reachesPublish(text)]).toEqual([text, false]);
  });

  it('is learned in one place: no other file of learning hands on the right to publish', () => {
    const granted = sources
      .filter((name) => name.startsWith('src/learn/') && name !== 'src/learn/cycle.ts')
      .filter((name) => /Library, [^>]*'publish'/.test(readFileSync(path.join(root, name), 'utf8')));
    expect(granted).toEqual([]);
  });
});
