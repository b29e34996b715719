import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { NOTHING_SPENT } from '../../../src/core/budget.ts';
import { TEAM } from '../../../src/core/principal.ts';
import type { NewFact } from '../../../src/core/store.ts';
import { lessonSubject } from '../../../src/core/trial.ts';
import { createEvidenceReader } from '../../../src/evidence/evidence-reader.ts';
import { UNKNOWN_LIKENESS } from '../../../src/learn/compare-words.ts';
import { endSession } from '../../../src/learn/end-session.ts';
import type { Autonomy } from '../../../src/learn/gate/autonomy-rule.ts';
import { createOptOutRow, createTeamRow } from '../../../src/learn/team/move-to-team.ts';
import { checkLessonText } from '../../../src/lessons/check-lesson-text.ts';
import { openLessons } from '../../../src/lessons/open-lessons.ts';
import { toRecords } from '../../../src/record/records.ts';
import { openSqliteStore } from '../../../src/record/store/sqlite-store.ts';
import { openMembers } from '../../../team/members.ts';
import { createMembersApi } from '../../../team/members-api.ts';
import { lessonText } from '../../support/lesson-text.ts';
import { runRows } from '../run-rows.ts';

const RULE = 'Put the total of the report on the first line.';
const OTHER = 'Never push to the main branch without a review.';
const open: (() => void)[] = [];
afterEach(() => {
  for (const close of open.splice(0)) close();
});

async function openTeam(names: readonly string[], autonomy: Autonomy = 'guarded') {
  const folder = mkdtempSync(path.join(tmpdir(), 'instar-team-'));
  let time = 1_800_000_000_000;
  const now = () => ++time;
  const clock = { now, monotonic: now };
  const store = openSqliteStore({ file: path.join(folder, 'record.sqlite') });
  open.push(() => {
    store.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const records = toRecords(store, now);
  let ids = 0;
  const newId = (prefix: string): string => `${prefix}_${++ids}`;
  const opened = await openLessons({
    records,
    clock,
    newId,
    onFault: (error) => {
      throw error;
    },
  });
  const { library, effects } = opened;
  const members = await openMembers({ records, now });
  const api = createMembersApi({ members, records, library: async () => library });
  const idOf = new Map<string, string>();
  for (const name of names) idOf.set(name, String((await api({ do: 'add', name })).id));
  /** A conversation of a member, and the lesson that was learned from it. */
  const learn = async (name: string, lesson: string, content: string): Promise<void> => {
    const member = idOf.get(name);
    const session = member === undefined ? `s-${lesson}` : `${member}:s-${lesson}`;
    const turn = `t-${lesson}`;
    const facts: NewFact['fact'][] = [
      {
        type: 'turn-start',
        turn,
        session,
        agent: 'ada',
        role: 'main',
        wire: 'openai-chat',
        model: 'm',
        generation: 0,
        policy: 'p/m',
        lessons: [],
        caller: 'k_1',
      },
      { type: 'turn-end', turn, status: 'complete', httpStatus: 200, totalMs: 1 },
    ];
    await records.append(facts.map((fact) => ({ at: now(), fact })));
    const text = lessonText({
      name: lesson,
      description: 'When you write a report.',
      content,
      scope: { agent: 'ada', ...(member === undefined ? {} : { member }) },
      evidence: { turns: [turn], quotes: [], learner: 'distiller' },
    });
    const { results } = await library.publish({
      id: `add-${lesson}`,
      by: { kind: 'learner', name: 'distiller' },
      reason: 'test',
      changes: [{ op: 'add', id: lesson, kind: 'skill', state: 'trial', text }],
    });
    expect(results[0]).toMatchObject({ status: 'applied' });
  };
  /** The paired test of a lesson, as practice records it. */
  const prove = async (id: string, outcome: 'helpful' | 'harmful' = 'helpful') => {
    const subject = lessonSubject(id, 1);
    const pair = {
      task: 't',
      root: 'r',
      with: outcome === 'helpful' ? 1 : 0,
      without: outcome === 'helpful' ? 0 : 1,
    };
    const pairs = Array.from({ length: 20 }, () => pair);
    const facts: NewFact['fact'][] = [
      { type: 'trial-opened', subject, place: 1, until: 0 },
      { type: 'trial-measured', subject, by: 'tasks', begun: 20, pairs, used: NOTHING_SPENT },
      { type: 'trial-ended', subject, outcome, why: 'measured' },
    ];
    const at = now();
    const appended = await records.append(facts.map((fact) => ({ at, fact })));
    for (const [place, fact] of facts.entries()) effects.add({ seq: appended[place]?.seq ?? 0, at, fact });
  };
  let scored = 0;
  /** Real sessions of a member that a lesson was recalled for: shown in some, held out from others. */
  const score = async (id: string, shown: readonly number[], heldOut: readonly number[]): Promise<void> => {
    const member = library.lesson(id)?.text.scope.member;
    const arms = [
      ...shown.map((value) => [value, true] as const),
      ...heldOut.map((value) => [value, false] as const),
    ];
    for (const [value, isShown] of arms) {
      const fact = {
        type: 'session-scored',
        session: `${member}:scored-${++scored}`,
        score: value,
        lessons: isShown ? [id] : [],
        heldOut: isShown ? [] : [id],
      } as const;
      const at = now();
      const [{ seq = 0 } = {}] = await records.append([{ at, fact }]);
      effects.add({ seq, at, fact });
    }
  };
  /** Called between the look at who shares and the move. */
  const meanwhile = { run: async (): Promise<void> => undefined };
  const options = {
    library,
    effects,
    records,
    compareQuotes: async () => {
      await meanwhile.run();
      return UNKNOWN_LIKENESS;
    },
    autonomy,
    checkText: checkLessonText,
    clock,
    newId,
  };
  const rows = [createOptOutRow(options), createTeamRow(options)];
  const run = runRows(library, async (facts) => void (await records.append(facts)));
  const move = (isStopped = false) => run(rows, isStopped);
  const ofTeam = () => library.lessons().filter(({ text }) => text.scope.member === TEAM);
  return {
    library,
    records,
    opened,
    members,
    api,
    idOf,
    learn,
    prove,
    score,
    effects,
    move,
    ofTeam,
    meanwhile,
  };
}

describe('a lesson moves to the team', () => {
  it('when two members learned the same and the words passed their paired test', async () => {
    const { learn, prove, move, ofTeam, idOf } = await openTeam(['ada', 'bob']);
    await learn('ada', 'total-first', RULE);
    await learn('bob', 'first-line-total', RULE);
    await move();
    expect(ofTeam()).toEqual([]);
    await prove('total-first');
    await move();
    const [lesson] = ofTeam();
    expect(lesson).toMatchObject({
      state: 'trial',
      text: { content: RULE, scope: { agent: 'ada', member: TEAM } },
    });
    expect(lesson?.text.evidence.turns).toEqual(['t-total-first', 't-first-line-total']);
    expect(lesson?.text.evidence.team?.map(({ member }) => member)).toEqual([
      idOf.get('ada'),
      idOf.get('bob'),
    ]);
    await move();
    expect(ofTeam().length).toBe(1);
  });

  it('not for the evidence of one member alone, nor for two different rules', async () => {
    const { learn, prove, move, ofTeam } = await openTeam(['ada', 'bob']);
    await learn('ada', 'total-first', RULE);
    await learn('ada', 'total-again', RULE);
    await learn('bob', 'no-push', OTHER);
    for (const id of ['total-first', 'total-again', 'no-push']) await prove(id);
    await move();
    expect(ofTeam()).toEqual([]);
  });

  it('not when its test found harm', async () => {
    const { learn, prove, move, ofTeam } = await openTeam(['ada', 'bob']);
    await learn('ada', 'total-first', RULE);
    await learn('bob', 'first-line-total', RULE);
    await prove('total-first', 'harmful');
    await move();
    expect(ofTeam()).toEqual([]);
  });

  it('without the words or the support of a member who opted out', async () => {
    const { learn, prove, move, ofTeam, api, idOf } = await openTeam(['ada', 'bob', 'cyd']);
    await learn('ada', 'total-first', RULE);
    await learn('bob', 'first-line-total', RULE);
    await prove('total-first');
    await api({ do: 'share', name: 'ada', shares: false });
    await move();
    expect(ofTeam()).toEqual([]);
    await learn('cyd', 'total-of-cyd', RULE);
    await prove('total-of-cyd');
    await move();
    const [lesson] = ofTeam();
    expect(lesson?.text.evidence.turns).not.toContain('t-total-first');
    expect(lesson?.text.evidence.team?.some(({ member }) => member === idOf.get('ada'))).toBe(false);
  });

  it('when the sessions of several show it together, though those of none do alone', async () => {
    const { learn, score, effects, move, ofTeam } = await openTeam(['ada', 'bob', 'cyd']);
    const ids = ['total-first', 'first-line-total', 'total-of-cyd'];
    for (const [at, name] of ['ada', 'bob', 'cyd'].entries()) await learn(name, ids[at] ?? '', RULE);
    const none = ids.map(() => 'unknown');
    await score('total-first', [1, 0, 1, 0, 1], [0]);
    await score('first-line-total', [1, 0, 1], [1]);
    await move();
    expect(ofTeam()).toEqual([]);
    await score('total-of-cyd', [1, 1, 1], [0, 0, 0]);
    await move();
    expect(ids.map((id) => effects.verdict(id))).toEqual(none);
    const [lesson, ...more] = ofTeam();
    expect(more).toEqual([]);
    // The words with the most evidence, and the reason says what was measured.
    expect(lesson?.text.evidence.turns[0]).toBe('t-total-first');
    expect(lesson?.text.evidence.team).toHaveLength(3);
  });

  it('not on the support of a member in whose sessions it harms', async () => {
    const { learn, score, prove, effects, move, ofTeam } = await openTeam(['ada', 'bob']);
    await learn('ada', 'total-first', RULE);
    await learn('bob', 'first-line-total', RULE);
    const [ones, zeros] = [Array.from({ length: 40 }, () => 1), Array.from({ length: 40 }, () => 0)];
    await score('total-first', ones, zeros);
    await prove('first-line-total', 'harmful');
    await move();
    expect(effects.verdict('first-line-total')).toBe('harmful');
    expect(ofTeam()).toEqual([]);
  });

  it('under manual autonomy it waits for a person', async () => {
    const { learn, prove, move, ofTeam } = await openTeam(['ada', 'bob'], 'manual');
    await learn('ada', 'total-first', RULE);
    await learn('bob', 'first-line-total', RULE);
    await prove('total-first');
    await move();
    expect(ofTeam().map(({ state }) => state)).toEqual(['proposed']);
  });

  it('when an owner says so, and not against the word of its member', async () => {
    const { learn, ofTeam, api, idOf } = await openTeam(['ada', 'bob']);
    await learn('ada', 'total-first', RULE);
    await learn('bob', 'no-push', OTHER);
    await expect(api({ do: 'move', lesson: 'total-first', asker: idOf.get('bob') ?? '' })).rejects.toThrow(
      'owner',
    );
    await api({ do: 'share', name: 'bob', shares: false });
    await expect(api({ do: 'move', lesson: 'no-push' })).rejects.toThrow('has not agreed');
    await api({ do: 'move', lesson: 'total-first' });
    expect(ofTeam().map(({ text }) => text.name)).toEqual(['total-first']);
  });

  it('no learner writes a lesson of the team, moves one to it, or changes its words', async () => {
    const { learn, library, api, ofTeam } = await openTeam(['ada', 'bob']);
    await learn('ada', 'total-first', RULE);
    await api({ do: 'move', lesson: 'total-first' });
    const [lesson] = ofTeam();
    const own = library.lesson('total-first');
    if (lesson === undefined || own === undefined) throw new Error('no lesson');
    const by = { kind: 'learner', name: 'distiller' } as const;
    const { results } = await library.publish({
      id: 'x',
      by,
      reason: 'x',
      changes: [
        {
          op: 'add',
          id: 'mine',
          kind: 'skill',
          state: 'trial',
          text: { ...own.text, name: 'mine', scope: { member: TEAM } },
        },
        { op: 'revise', id: own.id, from: own.revision, text: { ...own.text, scope: { member: TEAM } } },
        {
          op: 'revise',
          id: lesson.id,
          from: lesson.revision,
          text: { ...lesson.text, content: 'Other words.' },
        },
      ],
    });
    expect(results.map(({ status }) => status)).toEqual(['refused', 'refused', 'refused']);
  });
});

describe('a member takes back', () => {
  it('opting out retires what the team has of the member, and leaves the private lesson', async () => {
    const { learn, prove, move, ofTeam, api, library, idOf } = await openTeam(['ada', 'bob']);
    await learn('ada', 'total-first', RULE);
    await learn('bob', 'first-line-total', RULE);
    await prove('total-first');
    await move();
    const bob = idOf.get('bob') ?? '';
    expect(await api({ do: 'shared', asker: bob })).toMatchObject({
      recorded: { sessions: 1, turns: 1 },
      private: 1,
      team: [{ name: 'total-first', turns: ['t-first-line-total'] }],
    });
    await api({ do: 'share', asker: bob, shares: false });
    expect(ofTeam().map(({ state }) => state)).toEqual(['retired']);
    expect(library.lesson('first-line-total')?.state).toBe('trial');
    await expect(api({ do: 'share', name: 'bob', shares: true })).rejects.toThrow('Only the member');
    await expect(api({ do: 'shared', asker: bob, name: 'ada' })).rejects.toThrow('Only an owner');
  });

  it('opting out holds when its process was killed before the lesson was withdrawn, also while learning is off', async () => {
    const { learn, prove, move, ofTeam, members, idOf } = await openTeam(['ada', 'bob']);
    await learn('ada', 'total-first', RULE);
    await learn('bob', 'first-line-total', RULE);
    await prove('total-first');
    await move();
    expect(ofTeam().map(({ state }) => state)).toEqual(['trial']);
    // The fact alone, and no other one after it.
    await members.change(idOf.get('bob') ?? '', { do: 'share', shares: false }, 'k');
    await move(true);
    expect(ofTeam().map(({ state }) => state)).toEqual(['retired']);
  });

  it('opting out while the step looks at the lessons moves nothing', async () => {
    const { learn, prove, move, ofTeam, api, idOf, meanwhile } = await openTeam(['ada', 'bob']);
    await learn('ada', 'total-first', RULE);
    await learn('bob', 'first-line-total', RULE);
    await prove('total-first');
    meanwhile.run = async () =>
      void (await api({ do: 'share', asker: idOf.get('bob') ?? '', shares: false }));
    await move();
    expect(ofTeam()).toEqual([]);
    // And when the member shares again, nothing else has to happen.
    meanwhile.run = async () => undefined;
    await api({ do: 'share', asker: idOf.get('bob') ?? '', shares: true });
    await move();
    expect(ofTeam().map(({ state }) => state)).toEqual(['trial']);
  });

  it('opting out a second time retires a lesson that was brought back meanwhile', async () => {
    const { learn, api, ofTeam, idOf, library } = await openTeam(['ada', 'bob']);
    await learn('ada', 'total-first', RULE);
    await api({ do: 'move', lesson: 'total-first' });
    const ada = idOf.get('ada') ?? '';
    const id = ofTeam()[0]?.id ?? '';
    await api({ do: 'share', asker: ada, shares: false });
    await api({ do: 'share', asker: ada, shares: true });
    const by = { kind: 'person', name: 'person' } as const;
    const back = library.rollback(library.generation - 1, by);
    if (back === undefined) throw new Error('no such generation');
    await library.publish(back);
    expect(library.lesson(id)?.state).toBe('trial');
    expect(await api({ do: 'share', asker: ada, shares: false })).toMatchObject({
      withdrawn: ['Put the total of the report on the first line'],
    });
    expect(library.lesson(id)?.state).toBe('retired');
  });

  it('the sessions of a member who opted out measure no lesson of the team, and those of the others do', async () => {
    const { learn, api, ofTeam, idOf, library, records, opened } = await openTeam(['ada', 'bob', 'cyd']);
    await learn('ada', 'total-first', RULE);
    await api({ do: 'move', lesson: 'total-first' });
    const team = ofTeam()[0]?.id ?? '';
    await api({ do: 'share', asker: idOf.get('cyd') ?? '', shares: false });
    const scoreOf = async (name: string) => {
      const session = `${idOf.get(name)}:ep_1`;
      const report = (kind: string, data: Record<string, string>): NewFact => ({
        at: 1_800_000_000_500,
        fact: { type: 'event-reported', kind, session, agent: 'ada', data, by: 'k_1' },
      });
      const asked = { task: 'Write the total of the report', agent: 'ada', by: 'k_1' };
      await records.append([report('episode_start', { task: asked.task })]);
      await opened.api.recall({ ...asked, episode: session });
      await records.append([report('episode_end', { outcome: 'success' })]);
      const evidence = createEvidenceReader({ ...records, decoder: () => async () => undefined });
      const [scored] = await endSession(
        session,
        { records, evidence, lessonOf: (id) => library.lesson(id) },
        1_800_000_000_900,
      );
      return scored?.fact;
    };
    expect(await scoreOf('bob')).toMatchObject({ type: 'session-scored', lessons: [team] });
    expect(await scoreOf('bob')).not.toHaveProperty('unmeasured');
    expect(await scoreOf('cyd')).toMatchObject({ lessons: [team], unmeasured: [team] });
  });

  it('when the sessions that a lesson of the team rests on are erased, so are its words', async () => {
    const { learn, prove, move, ofTeam, records, opened, idOf, library } = await openTeam(['ada', 'bob']);
    await learn('ada', 'total-first', RULE);
    await learn('bob', 'first-line-total', RULE);
    await prove('total-first');
    await move();
    await records.erase(`${idOf.get('bob')}:s-first-line-total`, 'test');
    await opened.reload();
    const id = ofTeam()[0]?.id ?? '';
    // The words are ada's: they stay.
    expect(ofTeam()[0]?.state).toBe('trial');
    await records.erase(`${idOf.get('ada')}:s-total-first`, 'test');
    await opened.reload();
    expect(library.lesson(id)?.state).toBe('retired');
    expect(JSON.stringify(library.lesson(id))).not.toContain('total of the report');
  });
});
