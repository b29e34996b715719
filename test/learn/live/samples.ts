import type { LearnInput, TurnMaterial } from '../../../src/core/learn.ts';
import { createExtractor } from '../../../src/learn/live/extractor.ts';
import type { LiveMaterial, ToolAttempt } from '../../../src/learn/live/live-material.ts';
import { checkLessonText } from '../../../src/lessons/check-lesson-text.ts';
import { failure, type Learned, learnFrom } from '../evolver/samples.ts';

export const scope = { agent: 'coder', project: 'web' };

/** What the gate reads of the session: both calls, and the error of the first. */
const material: TurnMaterial = {
  passages: [
    { origin: 'user', text: 'Run the tests of the web package' },
    { origin: 'tool', text: 'npm ERR! Missing script: "test"\nnpm ERR! A complete log is in /tmp/x' },
  ],
  commands: [
    { text: 'npm test', isOk: false, after: 1 },
    { text: 'cd web && npm test', isOk: true, after: 2 },
  ],
  missing: [],
};

const wrong = failure({
  turn: 't1',
  task: 'Run the tests of the web package',
  scope,
  source: 'signal',
  material,
  passages: [
    { origin: 'user', text: 'Run the tests of the web package' },
    { origin: 'assistant', text: 'bash({"command":"npm test"})' },
    { origin: 'tool', text: 'npm ERR! Missing script: "test"\nnpm ERR! A complete log is in /tmp/x' },
  ],
  appraisal: {
    verdict: 'failure',
    reward: 0.2,
    source: 'signal',
    signals: [
      {
        name: 'tool-failed',
        source: 'signal',
        score: 0,
        weight: 1,
        reason: 'the command ended with exit code 1',
      },
    ],
    digests: ['npm ERR! missing script'],
  },
});

export const tries: readonly ToolAttempt[] = [
  {
    turn: 't1',
    tool: 'bash',
    input: '{"command":"npm test"}',
    isOk: false,
    digest: 'npm ERR! missing script',
  },
  { turn: 't2', tool: 'bash', input: '{"command":"cd web && npm test"}', isOk: true },
];

export const session = (over: Partial<LiveMaterial> = {}): LiveMaterial => ({
  session: 's1',
  scope,
  cases: [wrong],
  successes: [
    {
      turn: 't2',
      task: 'Run the tests of the web package',
      text: 'bash({"command":"cd web && npm test"})',
      material,
      reward: 0.9,
    },
  ],
  tries,
  ...over,
});

/** A note as a good model would write it. */
export const goodNote = {
  pattern: 'tests of a workspace package are run',
  keywords: ['npm', 'workspace', 'test'],
  insight:
    'Change into the package before you run its tests. In the root there is no test script; in the folder of the package there is.',
  quotes: [
    { turn: 't1', text: 'npm ERR! Missing script: "test"' },
    { turn: 't2', text: 'cd web && npm test' },
  ],
};

export const learn = (material: LiveMaterial, over: Partial<LearnInput<unknown>> = {}): Promise<Learned> =>
  learnFrom(createExtractor({ checkText: checkLessonText }) as never, material as never, over);
