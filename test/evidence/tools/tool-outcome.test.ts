import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { readCall } from '../../../src/evidence/tools/tool-call.ts';
import { type OutcomeKind, readOutcome } from '../../../src/evidence/tools/tool-outcome.ts';

type Row = readonly [kind: OutcomeKind, tool: string, given: unknown, text: string, isError?: boolean];
const kindOf = ([, name, given, text, isError]: Row): string =>
  readOutcome(readCall({ name, arguments: JSON.stringify(given) }), {
    callId: 'c',
    text,
    ...(isError === undefined ? {} : { isError }),
  }).kind;
const bash = (kind: OutcomeKind, command: string, text: string, isError?: boolean): Row =>
  isError === undefined ? [kind, 'Bash', { command }, text] : [kind, 'Bash', { command }, text, isError];
const TRACE = 'Traceback (most recent call last):\n  File "x.py", line 3, in <module>\n';

interface LabelledResult {
  readonly seenIn?: string;
  readonly kind: OutcomeKind;
  readonly tool: string;
  readonly arguments: unknown;
  readonly text: string;
  readonly isError?: boolean;
  /** The person's reason. */
  readonly words?: string;
}
const readResults = (name: string): readonly LabelledResult[] =>
  readFileSync(path.resolve(import.meta.dirname, name), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as LabelledResult);
const rowOf = ({ kind, tool, arguments: given, text, isError }: LabelledResult): Row =>
  isError === undefined ? [kind, tool, given, text] : [kind, tool, given, text, isError];
const RESULTS = readResults('tool-outcomes.jsonl').map(rowOf);
/**
 * How the tools of agents print an exit status or a failed edit, with the agent and, where it is public, the file of its source where
 * the form was seen; the words around it are ours.
 * Written together with the reader: it keeps these forms readable and says nothing about unseen ones.
 */
const SHAPES = readResults('exit-shapes.jsonl');
/** The sentences with which clients say that a call was denied, stopped, changed by a person, or left errors: from the same places. */
const WRAPPERS = readResults('client-wrappers.jsonl');

describe('the outcome of a tool call', () => {
  it.each(SHAPES.map((shape) => [shape.kind, shape.seenIn, shape.text.slice(0, 60), shape] as const))(
    'is %s in the form of %s: %s',
    (kind, _client, _text, shape) => expect(kindOf(rowOf(shape))).toBe(kind),
  );

  it.each(WRAPPERS.map((row) => [row.kind, row.seenIn, row.text.slice(0, 60), row] as const))(
    'is %s where %s says: %s',
    (_kind, _client, _text, row) => {
      const call = readCall({ name: row.tool, arguments: JSON.stringify(row.arguments) });
      const flag = row.isError === undefined ? {} : { isError: row.isError };
      const { kind, words } = readOutcome(call, { callId: 'c', text: row.text, ...flag });
      expect({ kind, words }).toEqual({ kind: row.kind, words: row.words });
    },
  );

  it.each(RESULTS.map((row) => [row[0], row[1], JSON.stringify(row[2]).slice(0, 60), row] as const))(
    'is %s for %s %s',
    (kind, _tool, _given, row) => expect(kindOf(row)).toBe(kind),
  );

  it('is red when the program itself fails, and an outage when the network does', () => {
    expect(kindOf(bash('red', 'python x.py', `Exit code 1\n${TRACE}TimeoutError: no answer`, true))).toBe(
      'red',
    );
    expect(kindOf(bash('red', 'python x.py', `Exit code 1\n${TRACE}requests.ReadTimeout: slow`, true))).toBe(
      'outage',
    );
  });

  it('is a fault when the failing code is part of the call (not red)', () => {
    expect(
      kindOf(bash('fault', "python3 - <<'EOF'\nprint(x)\nEOF", `Exit code 1\n${TRACE}NameError: x`, true)),
    ).toBe('fault');
  });

  it('ignores an exit code that belongs to a later program', () => {
    const output = 'Exit code: 0\nWall time: 0.1 seconds\nOutput:\nerror: yaml: line 7';
    expect(kindOf(bash('fault', 'kubectl apply -f a.yml; true', output))).toBe('fault');
    expect(kindOf(bash('ok', 'kubectl apply -f a.yml', output))).toBe('ok');
  });

  it('ignores "error:" in the output of an interpreter (not in that of a compiler)', () => {
    const output = 'reading rows\nerror: 3 rows skipped\ndone';
    expect(kindOf(bash('ok', 'python load.py', output))).toBe('ok');
    expect(kindOf(bash('red', 'cargo build', output))).toBe('red');
    expect(kindOf(['unclear', 'fetch_latest_orders', {}, '3 failed, 12 passed'])).toBe('unclear');
  });

  it('is unclear for a check which of several files exist (not a fault)', () => {
    const output = "Exit code 2\nls: cannot access 'a*': No such file or directory\nb.json";
    expect(kindOf(bash('unclear', 'ls a* b.json', output, true))).toBe('unclear');
    expect(
      kindOf(bash('fault', 'ls a', "Exit code 2\nls: cannot access 'a': No such file or directory", true)),
    ).toBe('fault');
  });

  it('keeps the reason of a person who rejects a call', () => {
    const call = readCall({ name: 'bash', arguments: '{"command":"npm i"}' });
    const text =
      'The user rejected permission to use this specific tool call with the following feedback: use pnpm';
    expect(readOutcome(call, { callId: 'c', text })).toMatchObject({ kind: 'rejected', words: 'use pnpm' });
    const bare = readOutcome(call, { callId: 'c', text: 'patch rejected by user' });
    expect(bare.kind).toBe('rejected');
    expect(bare.words).toBeUndefined();
  });
});
