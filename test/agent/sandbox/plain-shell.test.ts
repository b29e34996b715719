import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createWorkspace, type Workspace } from '../../../src/agent/sandbox/workspace.ts';
import { runsOf } from '../../support/counts.ts';
import { useDeepTemporaryFolder } from './deep-temporary-folder.ts';

useDeepTemporaryFolder();

const inside = async <T>(use: (workspace: Workspace) => Promise<T>): Promise<T> => {
  const workspace = await createWorkspace({ limits: { bytes: 10_000 } });
  try {
    await workspace.write('fruit.txt', 'pear\nApple\nfig\npear\n');
    await workspace.write('notes/a.md', 'one\n');
    await workspace.write('.hidden', '');
    return await use(workspace);
  } finally {
    await workspace.dispose();
  }
};

describe('the plain shell', () => {
  it.each([
    ['ls', 'fruit.txt\nnotes\n'],
    ['ls -a', '.hidden\nfruit.txt\nnotes\n'],
    ['ls notes fruit.txt', 'a.md\nfruit.txt\n'],
    ['cat fruit.txt notes/a.md', 'pear\nApple\nfig\npear\none\n'],
    ["echo 'a  b' c\\ d \"e'f\"", "a  b c d e'f\n"],
    ['echo -n x', 'x'],
    ['echo x > new/out.txt; echo y >> new/out.txt; cat new/out.txt', 'x\ny\n'],
    ['write w.txt two words && append w.txt more && cat w.txt', 'two words\nmore\n'],
    ['cat fruit.txt | sort -u | head -n 2', 'Apple\nfig\n'],
    ['sort -r fruit.txt | head -n 1', 'pear\n'],
    ["write n '10\n9\n2' ; sort -n n", '2\n9\n10\n'],
    ['grep -n pear fruit.txt', '1:pear\n4:pear\n'],
    ['grep -c -i apple fruit.txt notes/a.md', 'fruit.txt:1\nnotes/a.md:0\n'],
    ["grep -v '^p' fruit.txt", 'Apple\nfig\n'],
    ["grep 'g$' fruit.txt", 'fig\n'],
    ['grep -q pear fruit.txt && echo yes', 'yes\n'],
    ['grep -q plum fruit.txt || echo no', 'no\n'],
    ['cp fruit.txt copy.txt; mv copy.txt notes; ls notes', 'a.md\ncopy.txt\n'],
    ['cp -r notes other && ls other', 'a.md\n'],
    ['mkdir -p x/y; test -d x/y && echo made', 'made\n'],
    ['rm -r notes; test ! -e notes && echo gone', 'gone\n'],
    ['rm -f nothing && echo fine', 'fine\n'],
    ["test 'a b' = 'a b' && test x != y && test -s fruit.txt && test -z '' && echo true", 'true\n'],
    ['\n\necho a\n\necho b;\n', 'a\nb\n'],
  ])('%s', (lines, stdout) =>
    inside(async (workspace) => {
      expect(await workspace.runPlain(lines, {})).toEqual({ end: 'exit', code: 0, stdout, stderr: '' });
    }),
  );

  it.each([
    ['python3 x.py', 127, 'command not found'],
    ['cat ../../etc/passwd', 2, '".."'],
    ['echo x > /etc/x', 2, 'absolute'],
    ['cat nothing', 2, 'no such file'],
    ['rm notes', 2, 'rm -r'],
    ['rm -r .', 2, 'cannot be changed'],
    ['mv notes/.. x', 2, '".."'],
    ['cp notes x', 2, 'cp -r'],
    ["grep 'p.*r' fruit.txt", 2, 'grep -F'],
    ['ls --color', 2, 'not'],
    ['sort -z fruit.txt', 2, '-z'],
    ['test a -gt b', 2, 'are supported'],
    ['grep plum fruit.txt', 1, ''],
    ['mkdir notes', 1, 'EEXIST'],
  ])('%s ends with %i', (lines, code, complaint) =>
    inside(async (workspace) => {
      const result = await workspace.runPlain(lines, {});
      expect(result).toMatchObject({ end: 'exit', code });
      const { stderr } = result.end === 'exit' ? result : { stderr: '' };
      expect(stderr).toContain(complaint);
      expect(stderr).not.toContain(workspace.folder);
    }),
  );

  it.each([
    'echo $HOME',
    'echo `id`',
    'ls *',
    'cat < x',
    "echo 'open",
    'echo a |',
    '&& echo',
    'echo a >',
    '(ls)',
    '# no',
  ])('refuses %j, which has a meaning in another shell', (lines) =>
    inside(async (workspace) => {
      expect(await workspace.runPlain(lines, {})).toMatchObject({ end: 'refused' });
    }),
  );

  it('stops when it prints or stores too much', () =>
    inside(async (workspace) => {
      expect(await workspace.runPlain('cat fruit.txt; cat fruit.txt', { outputBytes: 30 })).toMatchObject({
        end: 'stopped',
        why: 'output',
      });
      const doubled = Array.from({ length: 12 }, () => 'cat fruit.txt fruit.txt > x; mv x fruit.txt').join(
        '; ',
      );
      expect(await workspace.runPlain(doubled, {})).toMatchObject({
        stderr: expect.stringContaining('10000 bytes'),
      });
    }));

  it('terminates for any input', () =>
    inside((workspace) =>
      fc.assert(
        fc.asyncProperty(
          fc.array(
            fc.constantFrom(
              'cat',
              'rm -r',
              'cp',
              '>',
              '|',
              '&&',
              "'",
              '"',
              '\\',
              '.',
              'fruit.txt',
              '..',
              '/',
            ),
            {
              maxLength: 8,
            },
          ),
          async (words) => {
            const { end } = await workspace.runPlain(words.join(' '), {});
            expect(['exit', 'refused']).toContain(end);
          },
        ),
        runsOf(70, 200),
      ),
    ));
});
