import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import type { NativeHome } from '../plugins/native-home.ts';
import { PROGRAMS } from './programs.ts';
import { startToolProvider } from './provider.ts';
import { openRoutedHome } from './routed-home.ts';
import { openTerminal } from './terminal.ts';

const NEWS = 'Learned: Use ISO dates in shipping reports. Undo:';
const ANSWER = 'A short title';
const SOON = { timeout: 60_000, interval: 250 };
/** An answer that takes as long as a model's. */
const ANSWER_MS = 1_500;

interface Place {
  /** What stands on the screen when it can be typed into. */
  readonly ready: string;
  readonly args?: readonly string[];
  /** Where its own line stands: what is before the news, or in front of it on its line. */
  readonly where: RegExp;
  /** What the client asks a person at its first start, as answered. */
  readonly answered?: (work: string) => Readonly<Record<string, string>>;
  /** The line stands where the next message begins. */
  readonly atNext?: true;
}

const PLACES: Readonly<Record<string, Place>> = {
  'claude-code': {
    ready: '❯',
    // Below the input: the status line.
    where: /❯[^❯]*─{20,}\s+Learned: Use ISO dates/,
    answered: (work) => ({
      '.claude.json': JSON.stringify({
        hasCompletedOnboarding: true,
        theme: 'dark',
        projects: { [work]: { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true } },
      }),
    }),
  },
  codex: {
    ready: 'Ask Codex',
    args: ['--dangerously-bypass-hook-trust'],
    where: /↳ Hook · Learned: Use ISO dates/,
    atNext: true,
  },
  opencode: { ready: 'ctrl+p', where: /┃ +Instar[\s\S]*Learned: Use ISO dates/ },
  pi: { ready: '~/shop', where: /\n ?Learned: Use ISO dates/ },
};

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

function answerFirst(instar: NativeHome, files: Readonly<Record<string, string>>): void {
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(instar.person, file)), { recursive: true });
    writeFileSync(path.join(instar.person, file), text);
  }
}

it.each(Object.keys(PLACES))(
  '%s, the real program at a terminal: a correction typed into it is answered with one line in its own place, which no model reads',
  async (client) => {
    const program = PROGRAMS.find((one) => one.client === client);
    const place = PLACES[client];
    if (program === undefined || place === undefined) throw new Error(`no program ${client}`);
    const provider = await startToolProvider(() => undefined, ANSWER_MS);
    ends.push(() => provider.close());
    const instar = await openRoutedHome(provider);
    ends.push(() => instar.close());
    answerFirst(instar, place.answered?.(instar.work) ?? {});
    const model = program.model === undefined ? [] : ['--model', program.model];
    for (const words of [model, ['--native']]) {
      const connected = await instar.instar('connect', client, '--write', ...words);
      expect(connected.code, connected.stderr).toBe(0);
    }
    const terminal = openTerminal(program, place.args ?? [], { cwd: instar.work, env: instar.env });
    ends.push(terminal.close);
    const sees = (what: string | RegExp, count = 1) =>
      vi.waitFor(() => {
        const screen = terminal.screen();
        const found = typeof what === 'string' ? screen.split(what).length - 1 : Number(what.test(screen));
        expect(found, screen).toBeGreaterThanOrEqual(count);
      }, SOON);
    const say = async (words: string): Promise<void> => {
      terminal.type(words);
      await sees(words.slice(0, 20));
      // Typed at once with the key it would be a pasted line.
      await new Promise((resolve) => setTimeout(resolve, 700));
      terminal.press('Enter');
    };
    await sees(place.ready);
    await say('Write the shipping report for order 1.');
    await vi.waitFor(
      () => expect(provider.seen.some(({ body }) => body.includes('order 1.'))).toBe(true),
      SOON,
    );
    await sees(ANSWER);
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    await say('No, we always use ISO dates in shipping reports.');
    if (place.atNext === true) {
      await vi.waitFor(
        async () =>
          expect((await instar.instar('lessons')).stdout).toContain('Use ISO dates in shipping reports'),
        SOON,
      );
      await say('Write the report for order 2.');
    }
    await sees(place.where);
    // The conversation goes on, and the model is sent all that was said in it: the line is not in any reply.
    await say('And the one for order 3.');
    await vi.waitFor(
      () => expect(provider.seen.some(({ body }) => body.includes('order 3.'))).toBe(true),
      SOON,
    );
    const read = provider.seen.map(({ body }) => body.toString());
    expect(read.some((body) => body.includes('always use ISO dates'))).toBe(true);
    expect(read.filter((body) => body.includes(NEWS))).toEqual([]);
    process.stderr.write(`${client}: ${program.packages[0]}, the line arrived in its own place\n`);
  },
);
