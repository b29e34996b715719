import { Writable } from 'node:stream';
import { expect, it } from 'vitest';
import { createPrinter } from '../../src/cli/print.ts';
import { createProgress } from '../../src/cli/progress.ts';
import { textWidth } from '../../src/text/text-width.ts';

function follow(tty: { readonly columns: number } | undefined, json = false) {
  let written = '';
  let now = 0;
  const stderr = Object.assign(
    new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        written += chunk.toString();
        done();
      },
    }),
    tty === undefined ? {} : { isTTY: true, columns: tty.columns },
  );
  const env = {};
  const printer = createPrinter({ stdout: stderr, stderr, env, json });
  const progress = createProgress({ stderr, env, printer }, () => now);
  return {
    progress,
    text: () => written,
    wait: (ms: number) => {
      now += ms;
    },
  };
}

const LONG = 'with a detail that is much longer than a terminal of forty columns can show on one line';

it.each([40, 80, 200])('rewrites one line and never wraps on a terminal of %s columns', (columns) => {
  const { progress, text, wait } = follow({ columns });
  for (let done = 0; done <= 256; done++) {
    progress.show({ phase: 'attempting', done, of: 256, cost: '$0.03', detail: LONG });
    wait(100);
  }
  expect(text()).not.toContain('\n');
  const frames = text().split('\r\u001b[K');
  expect(Math.max(...frames.map(textWidth))).toBeLessThan(columns);
  expect(frames.at(-2)).toContain('attempting');
  if (columns > 40) expect(frames.at(100)).toMatch(/█░.* 99 of 256 · about \d+ s left · \$0\.03/);
  progress.clear();
  expect(text().endsWith('\r\u001b[K')).toBe(true);
});

it('prints plain lines now and then for a program (not one for each step), and nothing with --json', () => {
  const piped = follow(undefined);
  for (let done = 0; done <= 256; done++) piped.progress.show({ phase: 'copying facts', done, of: 256 });
  const lines = piped.text().trimEnd().split('\n');
  expect(lines[0]).toBe('copying facts, 0 of 256');
  expect(lines.at(-1)).toBe('copying facts, 256 of 256');
  expect(lines.length).toBeLessThan(13);
  expect(piped.text()).not.toContain('\u001b');
  const json = follow({ columns: 80 }, true);
  json.progress.show({ phase: 'copying facts', done: 1, of: 2 });
  json.progress.clear();
  expect(json.text()).toBe('');
});
