import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { splitDone } from '../../src/agent/end-of-task.ts';
import { runsOf } from '../support/counts.ts';

describe('the command `done`', () => {
  it.each([
    ['done', '', 'always'],
    ['  done \n', '', 'always'],
    ['done;', '', 'always'],
    ['\n\ndone\n\n', '', 'always'],
    ['ls\ndone', 'ls', 'always'],
    ['ls\r\ndone\r\n', 'ls', 'always'],
    ['ls -a\n  done  ', 'ls -a', 'always'],
    ['ls; done', 'ls', 'always'],
    ['ls && done', 'ls ', 'success'],
    ['ls &&\ndone', 'ls ', 'success'],
    ["write a 'x\ny'\ndone", "write a 'x\ny'", 'always'],
    ['for f in a b; do echo $f; done\ndone', 'for f in a b; do echo $f; done', 'always'],
    ['for f in a\ndo\n  echo $f\ndone; done', 'for f in a\ndo\n  echo $f\ndone', 'always'],
    [
      "cat > x <<'EOF'\nit's for f in a; do\nEOF\ndone",
      "cat > x <<'EOF'\nit's for f in a; do\nEOF",
      'always',
    ],
    ['cat <<-A <<B\n\ta\n\tA\nb\nB\ndone', 'cat <<-A <<B\n\ta\n\tA\nb\nB', 'always'],
    ["echo hi # don't\ndone", "echo hi # don't", 'always'],
    ['echo $((1 << 2))\ndone', 'echo $((1 << 2))', 'always'],
    ['cat <<< word\ndone', 'cat <<< word', 'always'],
    ['echo do\necho "; do"\ndone', 'echo do\necho "; do"', 'always'],
    ['find . -exec cat {} \\;\ndone', 'find . -exec cat {} \\;', 'always'],
  ])('%j ends the task after %j', (command, lines, ends) => {
    expect(splitDone(command)).toEqual({ lines, ends });
  });

  it.each([
    ['ls'],
    ['echo done'],
    ['isdone'],
    ['a\nundone'],
    ['done\nls'],
    ['ls || done'],
    ['ls ||\ndone'],
    ['ls |\ndone'],
    ['ls & done'],
    ["write a 'x\ndone"],
    ['write a "x\ndone'],
    ["write log 'all\ndone\n'"],
    ['for f in a b; do echo $f; done'],
    ['for f in a b; do\n  echo $f\ndone'],
    ['while true; do for g in x; do echo; done\ndone'],
    ['cd x && while read l; do echo $l; done'],
    ['if true; then for f in a; do echo; done'],
    ['cat <<EOF\ndone'],
    ["cat <<'EOF'\nx\ndone"],
    ['echo a \\\ndone'],
    ['find . -exec x {} \\; done'],
    ['echo "a \\" ; done'],
  ])('%j does not end the task: the shell gets all of it', (command) => {
    expect(splitDone(command)).toEqual({ lines: command });
  });

  it('is removed from any input, or the input is unchanged', () => {
    let ended = 0;
    const piece = fc.constantFrom(
      'ls',
      'for',
      'do',
      'done',
      '\n',
      ';',
      '&&',
      "'",
      '"',
      '\\',
      '<<X',
      'X',
      '#',
      ' ',
      '\t',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const command = `${pieces.join('')}\ndone`;
        const { lines, ends } = splitDone(command);
        if (ends === undefined) expect(lines).toBe(command);
        else {
          ended++;
          expect(command.startsWith(lines)).toBe(true);
          expect(command.slice(lines.length)).toMatch(/^[\s;&]*done$/);
        }
      }),
      runsOf(170, 500),
    );
    expect(ended).toBeGreaterThan(50);
  });
});
