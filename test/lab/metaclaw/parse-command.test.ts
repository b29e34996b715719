import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseCommand, readShellWords } from '../../../lab/suites/metaclaw/parse-command.ts';

const stepsOf = (line: string) => parseCommand(line).steps;

describe('reading a check', () => {
  it('reads every form that a checker may be called in', () => {
    expect(stepsOf('python scripts/check_iso8601.py day01/a.json at list[].due a.b')).toEqual([
      {
        kind: 'iso8601',
        file: { name: 'day01/a.json' },
        fields: [
          [{ name: 'at', each: false }],
          [
            { name: 'list', each: true },
            { name: 'due', each: false },
          ],
          [
            { name: 'a', each: false },
            { name: 'b', each: false },
          ],
        ],
      },
    ]);
    expect(stepsOf('python3 scripts/check_filename.py --dir day06/ --ext json --min-count 2')).toEqual([
      { kind: 'filename', folder: 'day06/', extension: 'json', minCount: 2 },
    ]);
    expect(stepsOf('python scripts/check_filename.py day06/20260323_a.json')).toEqual([
      { kind: 'filename', file: { name: 'day06/20260323_a.json' } },
    ]);
    expect(stepsOf('python scripts/check_metadata.py a.txt --type md')).toEqual([
      { kind: 'metadata', file: { name: 'a.txt' }, type: 'md' },
    ]);
    expect(stepsOf('python ./scripts/check_backup.py a.py')).toEqual([
      { kind: 'backup', file: { name: 'a.py' } },
    ]);
    expect(stepsOf('python scripts/check_done_log.py done.log --min-entries 2 --task-prefix q1')).toEqual([
      { kind: 'done-log', file: { name: 'done.log' }, minEntries: 2, taskPrefix: 'q1' },
    ]);
  });

  it('reads a chain, its programs and the program that names a file', () => {
    const line = `python -c "import re; re.compile(r'^\\d{4}$')" && python scripts/check_metadata.py $(python -c "print('a.md')") && python scripts/check_backup.py a.md`;
    expect(stepsOf(line)).toEqual([
      { kind: 'python', code: "import re; re.compile(r'^\\d{4}$')" },
      { kind: 'metadata', file: { code: "print('a.md')" } },
      { kind: 'backup', file: { name: 'a.md' } },
    ]);
  });

  it('moves a file count that was given to the wrong check to the right one, and notes it', () => {
    const { steps, notes } = parseCommand(
      'python scripts/check_filename.py --dir d/ --ext md && python scripts/check_done_log.py done.log --min-count 2',
    );
    expect(steps).toEqual([
      { kind: 'filename', folder: 'd/', extension: 'md', minCount: 2 },
      { kind: 'done-log', file: { name: 'done.log' }, minEntries: 1 },
    ]);
    expect(notes).toHaveLength(1);
    expect(() => parseCommand('python scripts/check_done_log.py done.log --min-count 2')).toThrow(
      '--min-count',
    );
  });

  it.each([
    ['', 'empty'],
    ['python', 'neither -c nor one of the five checkers'],
    ['bash x.sh', 'it calls bash, not python'],
    ['$(python -c "1") x', 'it calls $(…), not python'],
    ['python scripts/check_other.py a', 'neither -c nor one of the five checkers'],
    ['python scripts/check_toString.py a', 'neither -c nor one of the five checkers'],
    ['python check_backup.py a', 'neither -c nor one of the five checkers'],
    ['python -c', 'one program in quotes'],
    ['python -c ""', 'one program in quotes'],
    ['python -c "1" x', 'one program in quotes'],
    ['python -c "1" || python -c "2"', 'unsupported shell syntax'],
    ['python -c "1"; python -c "2"', 'unsupported shell syntax'],
    ['python -c "1" | cat', 'unsupported shell syntax'],
    ['python -c "1" > x', 'unsupported shell syntax'],
    ['python -c "1" & python -c "2"', 'unsupported shell syntax'],
    ['python -c "$HOME"', 'unsupported shell syntax'],
    ['python -c "$(cat x)"', 'unsupported shell syntax'],
    ['python -c "`cat x`"', 'unsupported shell syntax'],
    ['python -c "open', 'not closed'],
    ['python -c "1" &&', 'a command is empty'],
    ['&& python -c "1"', 'a command is empty'],
    ['python scripts/check_backup.py *.md', 'unsupported shell syntax'],
    ['python scripts/check_backup.py', 'one file'],
    ['python scripts/check_backup.py a b', 'one file'],
    ['python scripts/check_backup.py a --x 1', '--x is no option'],
    ['python scripts/check_backup.py $(cat x)', '$(…) calls cat'],
    ['python scripts/check_backup.py $(python -c "1" && python -c "2")', 'unsupported shell syntax'],
    ['python scripts/check_backup.py $(python -c $(python -c "1"))', 'unsupported shell syntax'],
    ['python scripts/check_backup.py $(python -c "1").md', 'unsupported shell syntax'],
    ['python scripts/check_iso8601.py a.json', 'at least one field'],
    ['python scripts/check_iso8601.py a.json a..b', 'is no field'],
    ['python scripts/check_iso8601.py a.json a[0].b', 'is no field'],
    ['python scripts/check_filename.py --dir d/', '--dir and --ext'],
    ['python scripts/check_filename.py --dir d/ --ext md --min-count 0', 'number from 1'],
    ['python scripts/check_filename.py --dir d/ --ext', 'one value'],
    ['python scripts/check_filename.py --dir a --dir b --ext md', 'one value, once'],
    ['python scripts/check_metadata.py a --type exe', 'is not one of'],
    ['python scripts/check_done_log.py done.log --min-entries 0', 'number from 1'],
    ['python scripts/check_done_log.py done.log --min-entries two', 'number from 1'],
  ])('refuses %j (it does not skip it)', (line, why) => {
    expect(() => parseCommand(line)).toThrow(why);
  });

  it('splits words like sh wherever it accepts them', () => {
    let compared = 0;
    const piece = fc.constantFrom(
      ...'ab.$[]=/-',
      '\\',
      '\\d',
      '"',
      "'",
      ' ',
      '"x y"',
      "'z'",
      '\\"',
      '\\$',
      '\\\\',
      '$"',
      '\t',
    );
    fc.assert(
      fc.property(fc.array(piece, { minLength: 1, maxLength: 8 }), (pieces) => {
        const line = pieces.join('');
        let words: readonly string[];
        try {
          const [first = []] = readShellWords(line);
          words = first.map((word) => ('text' in word ? word.text : ''));
        } catch {
          return;
        }
        const said = execFileSync('sh', [
          '-c',
          `set -f; for word in ${line}; do printf '%s\\n' "$word"; done`,
        ]);
        expect(said.toString().split('\n').slice(0, -1)).toEqual(words);
        compared++;
      }),
      { numRuns: 400 },
    );
    expect(compared).toBeGreaterThan(40);
  });
});
