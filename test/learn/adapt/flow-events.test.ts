import { describe, expect, it } from 'vitest';
import type { TurnEvidence } from '../../../src/core/evidence.ts';
import type { StoredFact } from '../../../src/core/fact.ts';
import { draftFlow } from '../../../src/learn/adapt/draft-flow.ts';
import { createFlowWatch, type EndedSession, scoreFlow } from '../../../src/learn/adapt/flow-events.ts';
import { readRuns } from '../../../src/learn/adapt/known-calls.ts';
import { learningRecordOf } from '../../../src/learn/adapt/learning-records.ts';
import { endSession } from '../../../src/learn/end-session.ts';
import { checkLessonText } from '../../../src/lessons/check-lesson-text.ts';
import { lessonText } from '../../support/lesson-text.ts';

const DAY = 86_400_000;
const NOW = 100 * DAY;
const WORDS = 'what the tools printed';

interface Made {
  readonly tool: string;
  readonly given: object;
  readonly result?: string;
  readonly isError?: boolean;
}

/** One turn with one call, after this many others. */
function turnOf(
  session: string,
  nth: number,
  { tool, given, result = WORDS, isError }: Made,
  more: object = {},
) {
  const id = `${session}-${nth}`;
  const evidence: TurnEvidence = {
    turn: id,
    session,
    agent: 'coder',
    role: 'main',
    status: 'complete',
    task: 'Release it',
    tools: [],
    reply: [{ type: 'tool-call', id, name: tool, arguments: JSON.stringify(given) }],
    earlier: Array.from({ length: nth }, () => ({ name: 'x', arguments: '{}', failed: false })),
    next: { tools: [{ callId: id, text: result, ...(isError === undefined ? {} : { isError }) }] },
    given: [],
    attempts: [],
    ...more,
  };
  return { evidence };
}

const release = (version: string): readonly Made[] => [
  { tool: 'set_version', given: { version } },
  { tool: 'write_notes', given: { version, format: 'short' } },
  { tool: 'tag', given: { name: version } },
  { tool: 'publish', given: { channel: 'stable' } },
];
const ended = (
  n: number,
  made = release(`2.${n}`),
  more: Partial<EndedSession['last']> = {},
): EndedSession => ({
  session: `s${n}`,
  turns: made.map((one, nth) => turnOf(`s${n}`, nth, one)),
  last: { agent: 'coder', startedAt: n * DAY, ...more },
});
const evidence = { turns: async () => [] };
const APPRAISED = {
  generation: 0,
  appraisal: { turn: '', verdict: 'ambiguous', signals: [], digests: [] },
} as const;

describe('the runs of a session', () => {
  const calls = (turns: readonly { readonly evidence: TurnEvidence }[]): readonly (readonly string[])[] =>
    readRuns(turns).map((run) => run.map(({ tool }) => tool));
  const all = release('1').map((one, nth) => turnOf('s', nth, one));

  it('are one without anything in between, and have nothing of the results', () => {
    expect(calls(all)).toEqual([['set_version', 'write_notes', 'tag', 'publish']]);
    expect(JSON.stringify(readRuns(all))).not.toContain(WORDS);
  });

  it('end at a call that failed, and leave it out', () => {
    const failed = all.with(
      1,
      turnOf('s', 1, { tool: 'write_notes', given: {}, result: 'Error: no', isError: true }),
    );
    expect(calls(failed)).toEqual([['set_version'], ['tag', 'publish']]);
  });

  it('end at a message of the user, and at another task', () => {
    const said = all.with(
      1,
      turnOf('s', 1, release('1')[1] ?? { tool: '', given: {} }, {
        next: { ...all[1]?.evidence.next, user: 'and?' },
      }),
    );
    expect(calls(said)).toEqual([
      ['set_version', 'write_notes'],
      ['tag', 'publish'],
    ]);
    const other = [
      ...all.slice(0, 2),
      ...all.slice(2).map(({ evidence: one }) => ({ evidence: { ...one, task: 'Another' } })),
    ];
    expect(calls(other)).toEqual([
      ['set_version', 'write_notes'],
      ['tag', 'publish'],
    ]);
  });

  it('end where a turn is missing that a flow answered: its calls prove nothing', () => {
    expect(calls(all.toSpliced(1, 1))).toEqual([['set_version'], ['tag', 'publish']]);
  });
});

describe('the events of flows', () => {
  it('come from the third session on, once for each session, with a score by its support', async () => {
    const watch = createFlowWatch({ evidence });
    const facts = [];
    for (const n of [1, 2, 3, 4]) facts.push(...(await watch.flowEvents(ended(n), NOW)));
    expect(facts.map(({ key }) => key?.split(':').at(-1))).toEqual(['s3', 's4']);
    const [first, second] = facts.map(({ fact }) => fact);
    expect(first).toMatchObject({
      type: 'event-reported',
      kind: 'tool_sequence',
      by: 'instar',
      agent: 'coder',
      session: 's3',
      score: 60,
    });
    expect(second).toMatchObject({ score: 65, data: { support: { sessions: 4, days: 4 } } });
    expect(JSON.stringify(facts)).not.toContain(WORDS);
    expect([3, 4, 9, 50].map((sessions) => scoreFlow({ sessions, days: 2 }))).toEqual([60, 65, 90, 90]);
  });

  it('are among the facts of a session that has ended', async () => {
    const flows = createFlowWatch({ evidence });
    const found = [];
    for (const n of [1, 2, 3]) {
      const { session, turns, last } = ended(n);
      const read = turns.map((turn) => ({ ...turn, ...APPRAISED }));
      const view = { ...last, id: `${session}-3`, lessons: [] };
      const records = {
        turn: async () => view as never,
        recalls: async () => [],
        session: async () => undefined,
        events: async () => [],
      };
      found.push(
        ...(await endSession(session, { records, evidence: { turns: async () => read }, flows }, NOW)),
      );
    }
    expect(found.map(({ fact }) => fact.type).filter((type) => type !== 'session-scored')).toEqual([
      'event-reported',
    ]);
  });

  it('do not come from sessions of applications, members and end users, nor count them', async () => {
    for (const whose of ['k_0123456789', 'm_0123456789', 'c_0123456789', 'u_0123456789abcdef']) {
      const watch = createFlowWatch({ evidence });
      const found = [];
      for (const n of [1, 2]) {
        const one = ended(n);
        found.push(...(await watch.flowEvents({ ...one, session: `${whose}:${one.session}` }, NOW)));
      }
      for (const n of [3, 4]) found.push(...(await watch.flowEvents(ended(n), NOW)));
      expect(found, whose).toEqual([]);
    }
  });

  it('do not come from practice', async () => {
    const watch = createFlowWatch({ evidence });
    for (const n of [1, 2, 3, 4])
      expect(await watch.flowEvents(ended(n, undefined, { runKind: 'practice' }), NOW)).toEqual([]);
  });

  it('count the sessions that ended before the start', async () => {
    const before = [1, 2].map((n) => ended(n));
    const view = { agent: 'coder', turns: 4, startedAt: 0, endedAt: 1, erased: false };
    const watch = createFlowWatch({
      records: {
        sessions: async () =>
          before.map(({ session, last }) => ({ ...view, id: session, lastAt: last.startedAt })),
      },
      evidence: {
        turns: async (session) =>
          before
            .find((one) => one.session === session)
            ?.turns.map((turn) => ({
              ...turn,
              generation: 0,
              appraisal: { turn: '', verdict: 'success', signals: [], digests: [] },
            })) ?? [],
      },
    });
    expect(await watch.flowEvents(ended(3), NOW)).toHaveLength(1);
  });

  it('become the page of a flow that the library takes', async () => {
    const watch = createFlowWatch({ evidence });
    for (const n of [1, 2]) await watch.flowEvents(ended(n), NOW);
    const [event] = await watch.flowEvents(ended(3), NOW);
    const stored = { seq: 1, at: NOW, fact: event?.fact } as StoredFact;
    const record = learningRecordOf(stored);
    expect(record?.sourceLabel).toMatch(/^flow\./);
    const draft = record && draftFlow(record);
    if (draft === undefined) throw new Error('there is no draft');
    const { name, description, content, overlay } = draft;
    expect(checkLessonText({ ...lessonText({ name, description, content }), overlay })).toBeUndefined();
    expect(name).toMatch(/^set-version-to-publish-[0-9a-f]{6}$/);
    expect(content).toContain('2. `write_notes` with format = `short`, version = the parameter version');
    expect(content).toContain('- `version` (string), for example `2.3`');
    expect(overlay.payload).toMatchObject({ type: 'flow_offload', parameters: [{ name: 'version' }] });
  });

  it('are named by what a shell runs in them (not: bash-to-bash)', () => {
    const run = (command: string) => ({ tool: 'bash', arguments: { command: { value: command } } });
    const payload = {
      parameters: [],
      steps: [run('npm test -- --run'), run('npm run build'), run('ls dist')],
    };
    expect(draftFlow({ payload, sourceLabel: 'flow.abcdef123456' })?.name).toBe('npm-test-to-ls-dist-123456');
  });

  it('draft nothing from a record that has no flow, or one that is never proposed', () => {
    const steps = [
      { tool: 'a', arguments: {} },
      { tool: 'bash', arguments: { command: { value: 'rm -rf x' } } },
    ];
    expect(draftFlow({ sourceLabel: 'flow.x', payload: {} })).toBeUndefined();
    expect(draftFlow({ sourceLabel: 'flow.x', payload: { parameters: [], steps } })).toBeUndefined();
  });
});
