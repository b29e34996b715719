import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

const root = path.resolve(import.meta.dirname, '../..');

/** Who publishes changes of lessons, and why it may. Everything else that changes a lesson is a row in `learn/learners`. */
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
};

const sources = ['src', 'train', 'team'].flatMap((part) =>
  readdirSync(path.join(root, part), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => path.posix.join(part, name.replaceAll(path.sep, '/'))),
);

describe('a lesson', () => {
  it('is changed by the cycle, a person or a file, and by nobody else', () => {
    const callers = sources.filter((name) =>
      /\??\.publish\(/.test(readFileSync(path.join(root, name), 'utf8')),
    );
    expect(callers).toContain('src/learn/cycle.ts');
    expect(callers.filter((name) => !(name in MAY_PUBLISH))).toEqual([]);
  });

  it('is learned in one place: no other file of learning hands on the right to publish', () => {
    const granted = sources
      .filter((name) => name.startsWith('src/learn/') && name !== 'src/learn/cycle.ts')
      .filter((name) => /Library, [^>]*'publish'/.test(readFileSync(path.join(root, name), 'utf8')));
    expect(granted).toEqual([]);
  });
});
