import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readCall } from '../../../../src/evidence/tools/tool-call.ts';
import { type OutcomeKind, readOutcome } from '../../../../src/evidence/tools/tool-outcome.ts';
import { readCheckRun } from '../../../../src/learn/practice/sources/check-commands.ts';

const PLACE = { repository: '/home/u/app', within: '' };

function commandOf(command: string, kind: OutcomeKind = 'ok', place = PLACE): string | undefined {
  const part = { type: 'tool-call' as const, id: 'c', name: 'bash', arguments: JSON.stringify({ command }) };
  const view = readCall(part);
  const outcome = { ...readOutcome(view, { callId: 'c', text: 'ok' }), kind };
  return readCheckRun({ part, view, outcome }, place)?.command;
}

describe('the commands that verified some work', () => {
  it.each([
    ['npm test', 'npm test'],
    ['cd /home/u/app && npm test 2>&1 | tail -20', 'npm test'],
    [
      'cd packages/api && npx vitest run --reporter=dot',
      '(cd packages/api && npx vitest run --reporter=dot)',
    ],
    ['CI=1 pnpm run lint', 'CI=1 pnpm run lint'],
    ['python3 -m unittest tests.test_date', 'python3 -m unittest tests.test_date'],
    ['pytest /home/u/app/tests/test_a.py -k "two words"', "pytest tests/test_a.py -k 'two words'"],
    ['cargo build && cargo test', 'cargo build && cargo test'],
    ['cat README.md && go test ./...', 'go test ./...'],
    ['bash -lc "make check"', 'make check'],
    ['node --test', 'node --test'],
  ])('%s', (line, command) => {
    expect(commandOf(line)).toBe(command);
  });

  it.each([
    'npm test || true',
    'npm run dev',
    'npm install',
    'node server.js',
    'python3 -c "print(1)"',
    'prettier --write .',
    'eslint --fix src',
    'git status',
    'rm -rf build && npm test',
    'cd /etc && make test',
    'pytest /home/other/tests',
    'echo x | python3 check.py',
    'vitest --watch',
    'cargo run',
    'terraform apply',
  ])('are not taken from: %s', (line) => {
    expect(commandOf(line)).toBeUndefined();
  });

  it('are run where the client ran them: in its folder within the project', () => {
    expect(commandOf('npm test', 'green', { repository: '/home/u/app', within: 'packages/web' })).toBe(
      '(cd packages/web && npm test)',
    );
  });

  it('say nothing when the outcome is unclear, an outage, or a person rejected the call', () => {
    for (const kind of ['unclear', 'outage', 'rejected'] as const)
      expect(commandOf('npm test', kind)).toBeUndefined();
  });

  it('are read from any line without an error', () => {
    fc.assert(fc.property(fc.string(), (line) => void commandOf(line)));
  });
});
