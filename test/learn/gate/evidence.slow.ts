import { describe, expect, it } from 'vitest';
import type { RewardSource, Verdict } from '../../../src/core/evidence.ts';
import type { FailureCase, Judgement, Proposal } from '../../../src/core/learn.ts';
import type { LessonText } from '../../../src/core/lesson.ts';
import type { GateOptions } from '../../../src/learn/gate/gate.ts';
import { NEEDS_ANOTHER_SESSION } from '../../../src/learn/gate/weigh-evidence.ts';
import { add } from '../../lessons/library/samples.ts';
import { proposedText } from '../../support/proposed-text.ts';
import { failureOf, proposalOf } from './corpus/cases.ts';
import { CLEAN, gateWith, libraryWith, passage, textOf, twoFailures, withEvidence } from './samples.ts';

const library = await libraryWith();
const judge = (
  proposal: Proposal,
  cases: readonly FailureCase[],
  over: Partial<GateOptions> = {},
): Promise<Judgement> => gateWith(over)(proposal, cases, library);

const failure = (
  number: number,
  source: RewardSource = 'signal',
  session = `session-${number}`,
): FailureCase =>
  failureOf({
    task: 'Make the tests pass.',
    passages: [passage('tool', 'Exit code: 1')],
    source,
    number,
    session,
  });

const called = (one: FailureCase, verdict: Verdict): FailureCase => ({
  ...one,
  appraisal: { ...one.appraisal, verdict },
});

describe('votes', () => {
  it.each(['signal', 'judge'] as const)(
    'need two sessions where only a %s calls it a failure',
    async (source) => {
      const one = [failure(1, source)];
      const same = [failure(1, source, 's'), failure(2, source, 's')];
      expect(await judge(proposalOf(CLEAN, one), one)).toEqual({
        outcome: 'refused',
        why: [NEEDS_ANOTHER_SESSION],
      });
      expect((await judge(proposalOf(CLEAN, same), same)).why).toEqual([NEEDS_ANOTHER_SESSION]);
      const two = [failure(1, source), failure(2, source)];
      expect((await judge(proposalOf(CLEAN, two), two)).outcome).not.toBe('refused');
    },
  );

  it.each(['person', 'verifier'] as const)('need one session where a %s says so', async (source) => {
    const one = [failure(1, source)];
    expect((await judge(proposalOf(CLEAN, one), one)).outcome).toBe('trial');
  });

  it('are one for a session that fails a thousand times, on one day or on many', async () => {
    const flood = Array.from({ length: 1000 }, (_, index) => failure(index, 'signal', 'loud'));
    expect((await judge(proposalOf(CLEAN, flood.slice(0, 60)), flood)).why).toEqual([NEEDS_ANOTHER_SESSION]);
    const other = failure(2000);
    const cited = [...flood.slice(0, 60), other];
    const { change } = await judge(proposalOf(CLEAN, cited), [...flood, other]);
    // One turn of each vote comes first, so that the limit drops repeated votes.
    expect(textOf(change)?.evidence.turns).toContain(other.turn);
  });
});

describe('what a user said in the chat', () => {
  const said = (number: number, isStanding: boolean): FailureCase => {
    const one = failure(number, 'chat');
    return {
      ...one,
      appraisal: { ...one.appraisal, correction: { quotes: ['we use pnpm here'], isStanding } },
    };
  };

  it('is enough in one session when it is meant for later work (a correction of one answer needs two)', async () => {
    const standing = [said(1, true)];
    expect((await judge(proposalOf(CLEAN, standing), standing)).outcome).toBe('trial');
    const passing = [said(1, false)];
    expect((await judge(proposalOf(CLEAN, passing), passing)).why).toEqual([NEEDS_ANOTHER_SESSION]);
    const toInstar = [failure(1, 'chat')];
    expect((await judge(proposalOf(CLEAN, toInstar), toInstar)).outcome).toBe('trial');
  });

  it('counts for its own agent and project: a wider lesson waits, unless a person said it too', async () => {
    const cases = [said(1, true)];
    for (const scope of [{}, { agent: 'coder' }, { project: 'shop' }, { agent: 'coder', project: 'other' }]) {
      const { outcome, why } = await judge(proposalOf(CLEAN, cases, { scope }), cases);
      expect([outcome, why.join()], JSON.stringify(scope)).toEqual([
        'proposed',
        expect.stringMatching(/said in a chat/),
      ]);
    }
    const both = [...cases, failure(2, 'person')];
    expect((await judge(proposalOf(CLEAN, both, { scope: { agent: 'coder' } }), both)).outcome).toBe('trial');
    // A verifier finds that it went badly; what is learned from it are still the user's words.
    const checked = [...cases, failure(2, 'verifier')];
    const wide = await judge(proposalOf(CLEAN, checked, { scope: { agent: 'coder' } }), checked);
    expect([wide.outcome, wide.why.join()]).toEqual(['proposed', expect.stringMatching(/said in a chat/)]);
  });

  it('is not shared with every agent, however narrow its scope is', async () => {
    const cases = [said(1, true)];
    const { note } = proposedText(proposalOf(CLEAN, cases));
    const shared = proposalOf(CLEAN, cases, { note: { ...note, visibility: 'shared' } });
    const { outcome, why } = await judge(shared, cases);
    expect([outcome, why.join()]).toEqual(['proposed', expect.stringMatching(/said in a chat/)]);
  });

  it('never makes a lesson one for everything; a person’s feedback may', async () => {
    const note = { ...proposedText(proposalOf(CLEAN, [])).note, isAlways: true as const };
    const cases = [said(1, true)];
    const fromChat = await judge(proposalOf(CLEAN, cases, { note }), cases);
    expect([fromChat.outcome, textOf(fromChat.change)?.note.isAlways]).toEqual(['trial', undefined]);
    const checked = [...cases, failure(2, 'verifier')];
    const fromBoth = await judge(proposalOf(CLEAN, checked, { note }), checked);
    expect(textOf(fromBoth.change)?.note.isAlways).toBeUndefined();
    const told = [failure(1, 'person')];
    const fromPerson = await judge(proposalOf(CLEAN, told, { note }), told);
    expect(textOf(fromPerson.change)?.note.isAlways).toBe(true);
  });
});

describe('evidence', () => {
  it('is limited to the turns of the cycle: others are removed, and a lesson without any is refused', async () => {
    const cases = twoFailures();
    const turns = cases.map(({ turn }) => turn);
    const proposal = proposalOf(CLEAN, cases);
    const { change } = await judge(withEvidence(proposal, [...turns, 'turn-of-others']), cases);
    expect([...(textOf(change)?.evidence.turns ?? [])].sort()).toEqual(turns);
    for (const none of [[], ['turn-of-others']])
      expect((await judge(withEvidence(proposal, none), cases)).why).toEqual([
        'it cites none of the turns of this cycle',
      ]);
  });

  it('must say something: infrastructure faults and unknown verdicts do not count', async () => {
    for (const verdict of ['infrastructure', 'ambiguous'] as const) {
      const cases = [called(failure(1, 'person'), verdict), called(failure(2), verdict)];
      expect((await judge(proposalOf(CLEAN, cases), cases)).why).toEqual([
        'none of the turns that it cites failed, was corrected or succeeded',
      ]);
    }
  });

  it('of a success goes on trial when a test, an exit code or a verifier proved it, and waits when only words did', async () => {
    const succeeded = (name: string, source: RewardSource): FailureCase => {
      const one = called(failure(1, source), 'success');
      const signals = [{ name, source, score: 1, weight: 1, reason: 'it went well' }];
      return { ...one, appraisal: { ...one.appraisal, reward: 1, signals } };
    };
    for (const [name, source] of [
      ['checks-passed', 'signal'],
      ['result-proven', 'signal'],
      ['verified', 'verifier'],
    ] as const) {
      const cases = [succeeded(name, source)];
      expect((await judge(proposalOf(CLEAN, cases), cases)).outcome, name).toBe('trial');
    }
    for (const [name, source] of [
      ['user-thanked', 'signal'],
      ['feedback', 'person'],
    ] as const) {
      const cases = [succeeded(name, source)];
      const { outcome, why } = await judge(proposalOf(CLEAN, cases), cases);
      expect([outcome, why], name).toEqual([
        'proposed',
        ['nothing proved the result: no verifier, no test and no exit code'],
      ]);
    }
  });

  it('of a success teaches nothing where a tool only did what it was told, or the agent praised itself', async () => {
    for (const name of ['tool-ok', 'attempted']) {
      const one = called(failure(1, 'signal'), 'success');
      const signals = [{ name, source: 'signal', score: 1, weight: 1, reason: 'it went well' }] as const;
      const cases = [{ ...one, appraisal: { ...one.appraisal, reward: 1, signals } }];
      expect((await judge(proposalOf(CLEAN, cases), cases)).outcome, name).toBe('refused');
    }
  });

  it('counts a turn once, also when it is listed twice', async () => {
    const twice = [failure(1), failure(1)];
    expect((await judge(proposalOf(CLEAN, twice), twice)).why).toEqual([NEEDS_ANOTHER_SESSION]);
  });

  it('keeps a recorded quote with its position, and drops others', async () => {
    const cases = twoFailures(passage('tool', 'TypeError: x'));
    const quotes = [
      { turn: 'turn-1', text: 'TypeError: x' },
      { turn: 'turn-1', text: 'TypeError: y' },
      { turn: 'turn-2', text: 'Make the tests' },
      { turn: 'turn-9', text: 'TypeError: x' },
    ];
    const asked: string[] = [];
    const locate: GateOptions['locate'] = async (turn, text) => {
      asked.push(`${turn} ${text}`);
      return { turn, block: 'ab', start: 0, length: text.length };
    };
    const { change } = await judge({ ...proposalOf(CLEAN, cases), quotes }, cases, { locate });
    expect(asked).toEqual(['turn-1 TypeError: x', 'turn-2 Make the tests']);
    expect(textOf(change)?.evidence.quotes.map(({ length }) => length)).toEqual([12, 14]);
  });

  it('does not count a turn all of whose quotes are fabricated', async () => {
    const cases = twoFailures();
    const lie = { turn: 'turn-1', text: 'it must be so' };
    const half = { ...proposalOf(CLEAN, cases), quotes: [lie] };
    const all = { ...half, quotes: [lie, { ...lie, turn: 'turn-2' }] };
    expect((await judge(half, cases)).why).toEqual([NEEDS_ANOTHER_SESSION]);
    expect((await judge(all, cases)).why).toEqual(['it cites quotes that were not recorded']);
  });

  it('of a revision keeps the earlier evidence, after the new', async () => {
    const text = { ...proposedText(proposalOf(CLEAN, [])), taint: [] };
    const evidence = {
      turns: ['old-1'],
      quotes: [{ turn: 'old-1', block: 'b', start: 0, length: 2 }],
      learner: 'x',
    };
    const shelf = await libraryWith([add('a', { state: 'trial', text: { ...text, evidence } })]);
    const cases = twoFailures();
    const revised = proposedText(
      proposalOf({ ...CLEAN, content: `${CLEAN.content}\n3. Name the list.` }, cases),
    );
    const change = { op: 'revise', id: 'a', from: 1, text: revised } as const;
    const judgement = await gateWith()({ change, quotes: [] }, cases, shelf);
    expect(judgement.outcome).toBe('trial');
    expect(textOf(judgement.change)?.evidence.turns.at(-1)).toBe('old-1');
    expect(textOf(judgement.change)?.evidence.quotes).toEqual(evidence.quotes);
  });
});

describe('a retirement', () => {
  const lesson = (over: Partial<LessonText> = {}) =>
    add('a', { state: 'trial', text: { ...proposedText(proposalOf(CLEAN, [])), ...over } });
  const retire = async (cases: readonly FailureCase[], over: Partial<LessonText> = {}): Promise<Judgement> =>
    gateWith()(
      {
        change: { op: 'retire', id: 'a', reason: 'a newer correction says otherwise' },
        quotes: [],
        turns: cases.map(({ turn }) => turn),
      },
      cases,
      await libraryWith([lesson(over)]),
    );
  const told = { ...proposedText(proposalOf(CLEAN, [])).note, source: 'told' as const };

  it('by a correction in the chat is for lessons of its own agent and project, and for none that a person told', async () => {
    const chat = [failure(1, 'chat')];
    expect((await retire(chat)).outcome).toBe('trial');
    expect((await retire(chat, { scope: { agent: 'coder' } })).why.join()).toMatch(/beyond the agent/);
    expect((await retire(chat, { scope: { agent: 'other' } })).why.join()).toMatch(/does not apply/);
    expect((await retire(chat, { note: told })).why.join()).toMatch(/told by a person/);
  });

  it('of what a person told needs what a person told later (not the feedback it came from)', async () => {
    expect((await retire([failure(2, 'person')], { note: told })).outcome).toBe('trial');
    const own = { turns: ['turn-1'], quotes: [], learner: 'distiller' };
    const before = [failure(1, 'person')];
    expect((await retire(before, { note: told, evidence: own })).outcome).toBe('refused');
    const written = { turns: [], quotes: [], learner: 'person' };
    expect((await retire([failure(2, 'person')], { evidence: written })).why.join()).toMatch(
      /written by a person/,
    );
  });
});
