import { describe, expect, it } from 'vitest';
import { toKeptLine } from '../../src/base/log-file.ts';
import { logTurn } from '../../src/gateway/finish-turn.ts';
import { createLog } from '../../src/redact/create-log.ts';

const WORDS = 'my neighbour Aurelia';
/** What a log call leaves in the file. */
function kept(write: (log: ReturnType<typeof createLog>) => void): Record<string, unknown> | undefined {
  let line: string | undefined;
  const stream = { write: () => undefined };
  const file = {
    write: (text: string) => {
      line = toKeptLine(text);
    },
  };
  write(createLog({ format: 'json', level: 'debug', env: {}, stream, file }));
  return line === undefined ? undefined : JSON.parse(line);
}
const report = {
  id: 't1',
  session: 's1',
  wire: 'openai-chat',
  provider: 'p',
  model: 'm',
  end: 'upstream-error',
  status: 400,
  tries: 1,
  totalMs: 5,
  modelMs: 4,
} as const;

describe('the log file', () => {
  it("keeps that and where a turn failed, not a provider's words, which may quote the request", () => {
    const failure = { kind: 'bad-request', status: 400, message: `cannot read "${WORDS}"` } as const;
    const line = kept((log) => logTurn(log, { ...report, failure }));
    expect(line).toMatchObject({ level: 'warn', session: 's1', failure: 'bad-request', status: 400 });
    expect(JSON.stringify(line)).not.toContain(WORDS);
  });

  it('keeps why a provider could not be reached (those words are ours)', () => {
    const failure = { kind: 'unreachable', status: 502, message: 'connect ECONNREFUSED' } as const;
    expect(kept((log) => logTurn(log, { ...report, failure }))).toMatchObject({
      message: 'connect ECONNREFUSED',
    });
  });

  it('keeps the outcome of a learning cycle, not the names and reasons of its drafts', () => {
    const judgements = [{ lesson: 'l1', name: 'tell-aurelia', outcome: 'refused', why: [WORDS] }];
    const line = kept((log) => log.info({ learner: 'evolver', judgements }, 'learning cycle ended'));
    expect(line?.judgements).toEqual([{ lesson: 'l1', outcome: 'refused' }]);
  });

  it('keeps an error with its place, but no text that a parser or a provider quoted, also not in its stack', () => {
    const parse = (): unknown => {
      try {
        return JSON.parse(`${WORDS} said`);
      } catch (error) {
        return error;
      }
    };
    const line = kept((log) => log.error({ err: parse() }, 'failed'));
    expect(JSON.stringify(line)).not.toContain('neighbour');
    expect(JSON.stringify(line)).toContain('log-file.test');
    const own = kept((log) => log.error({ err: new Error('the disk is full') }, 'failed'));
    expect(own).toMatchObject({ err: { message: 'the disk is full' } });
  });

  it('has no debug lines, which quote drafts', () => {
    expect(kept((log) => log.debug(`already known: ${WORDS}`))).toBeUndefined();
  });
});
