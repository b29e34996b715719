import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isChange, isCheck, isInline, isReading } from '../../../src/evidence/tools/shell-command.ts';
import { readCommand } from '../../../src/text/shell-programs.ts';

const names = (line: string): readonly string[] => readCommand(line).map(({ name }) => name);

describe('the shell command parser', () => {
  it.each([
    ['cd app && npm test | tail -5', ['cd', 'npm', 'tail']],
    ['CI=1 FOO=bar sudo npx -y vitest run', ['vitest']],
    ['timeout 30 python3 -m pytest -q', ['pytest']],
    ["bash -lc 'cargo test && echo ok'", ['cargo', 'echo']],
    ['/usr/bin/grep -rn "a && b" src; ls', ['grep', 'ls']],
    ["cat <<'EOF' > a.txt\nrm -rf /\nEOF\nls", ['cat', 'ls']],
    ['', []],
  ])('reads %j as the programs %j', (line, programs) => expect(names(line)).toEqual(programs));

  it('takes > as a write (not 2>&1 or /dev/null)', () => {
    const writes = (line: string): boolean => readCommand(line).some((program) => program.writes);
    expect(['echo a > b', 'echo a >> b', 'cat <<EOF >c\nx\nEOF'].map(writes)).toEqual([true, true, true]);
    expect(['npm test 2>&1', 'ls 2>/dev/null', 'ls >/dev/null 2>&1'].map(writes)).toEqual([
      false,
      false,
      false,
    ]);
  });

  it('classifies programs as questions, reads, checks and changes', () => {
    const all = (line: string, is: typeof isCheck): boolean => readCommand(line).some(is);
    expect(
      ['npm run build', 'go vet ./...', 'python a.py', './run.sh'].every((line) => all(line, isCheck)),
    ).toBe(true);
    expect(['npm install x', 'git push', 'ls'].some((line) => all(line, isCheck))).toBe(false);
    expect(['sed -n 1,5p a', 'git log', 'docker logs x'].every((line) => all(line, isReading))).toBe(true);
    expect(['sed -i s/a/b/ a', 'echo a > b', 'git reset --hard'].every((line) => all(line, isChange))).toBe(
      true,
    );
    expect(['node -e 1', "python - <<'E'\n1\nE"].every((line) => all(line, isInline))).toBe(true);
    expect(all('python a.py', isInline)).toBe(false);
  });

  it('accepts any text', () => {
    fc.assert(fc.property(fc.string(), (line) => void expect(Array.isArray(readCommand(line))).toBe(true)));
  });
});
