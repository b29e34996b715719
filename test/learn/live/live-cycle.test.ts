import { describe, expect, it } from 'vitest';
import { createManualClock } from '../../../src/core/clock.ts';
import type { Ask } from '../../../src/core/learn.ts';
import { createTrainingBuffer } from '../../../src/evidence/training-buffer.ts';
import { runCycle } from '../../../src/learn/cycle.ts';
import { createGate } from '../../../src/learn/gate/gate.ts';
import { NEEDS_ANOTHER_SESSION } from '../../../src/learn/gate/weigh-evidence.ts';
import { createExtractor } from '../../../src/learn/live/extractor.ts';
import { type LiveMaterial, shownCases } from '../../../src/learn/live/live-material.ts';
import { checkLessonText } from '../../../src/lessons/check-lesson-text.ts';
import { createMemoryStore } from '../../../src/record/store/memory-store.ts';
import { openOn } from '../../lessons/library/samples.ts';
import { numbered, success } from '../../train/facts.ts';
import { asker, speaker, text } from '../ask/samples.ts';
import { goodNote, session } from './samples.ts';

const gate = createGate({
  autonomy: 'guarded',
  checkText: checkLessonText,
  hasSecret: () => false,
  findSimilar: async () => [],
  voteDay: (at) => new Date(at).toDateString(),
});

async function live(material: LiveMaterial, ask?: Ask) {
  const store = createMemoryStore();
  const { library } = await openOn(store);
  let ids = 0;
  const end = await runCycle(
    {
      id: 'c1',
      learner: createExtractor({ checkText: checkLessonText }),
      material,
      cases: shownCases(material),
      items: ['i1'],
    },
    {
      library,
      ask,
      gate: (proposal, cases) => gate(proposal, cases, library),
      clock: createManualClock(1_000),
      newId: (prefix) => `${prefix}-${++ids}`,
      journal: () => undefined,
      signal: new AbortController().signal,
    },
  );
  return { end, library, store };
}

const told = (): LiveMaterial =>
  session({ cases: session().cases.map((one) => ({ ...one, source: 'person' as const })) });

describe('a finished session', () => {
  it.each([
    ['with a model', asker(speaker(text(JSON.stringify(goodNote))).model).ask],
    ['without one', undefined],
  ])('puts what it taught on trial when a person said what failed, %s', async (_how, ask) => {
    const { end, library } = await live(told(), ask);
    expect(end).toMatchObject({ outcome: 'published', items: ['i1'], turns: ['t1', 't2'], generation: 1 });
    expect(library.shown(0)).toMatchObject([{ kind: 'experience', state: 'trial' }]);
  });

  it('leads to a proposed lesson when only heuristics report the failure', async () => {
    const { end, library } = await live(session());
    expect(end.judgements[0]).toMatchObject({ outcome: 'proposed', why: [NEEDS_ANOTHER_SESSION] });
    expect([end.outcome, library.generation]).toEqual(['queued', 0]);
  });

  it('does not use the success that it learned from as training data', async () => {
    const { end, store } = await live(told());
    const samples = createTrainingBuffer({ cap: 10 });
    const stored = numbered();
    for (const fact of [success('t2'), success('t3')]) samples.add(stored(fact));
    for (const { fact } of store.facts(0, 10)) samples.add(stored(fact));
    const { isRetryable: _not, ...fact } = end;
    for (const one of [fact, success('t2', { generation: 1 }), success('t4', { generation: 1 })])
      samples.add(stored(one));
    expect(samples.samples().map(({ turn }) => turn)).toEqual(['t4']);
  });
});
