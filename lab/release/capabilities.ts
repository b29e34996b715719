import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkConfig } from '../../src/config/check-config.ts';
import { settingAt } from '../../src/config/setting-path.ts';
import { markdownTable } from '../measure/markdown.ts';
import { cell, code } from './markdown.ts';

/** What a source describes, and the test that shows it end to end. */
interface Capability {
  readonly says: string;
  /** The file below `test/` and the title of a test in it; absent: it is not built, and `why` says why. */
  readonly shown?: readonly [file: string, title: string];
  /** The setting that turns it on, where its default does not. */
  readonly setting?: string;
  readonly why?: string;
}

const SOURCES: Readonly<Record<string, readonly Capability[]>> = {
  MetaClaw: [
    {
      says: 'Requests of three wires reach the provider as they are',
      shown: ['gateway/serving.test.ts', 'body, path and query reach the provider as they are'],
    },
    {
      says: 'Skills for the task stand in the prompt, the same bytes on every turn',
      shown: [
        'served/served-lessons.slow.ts',
        'gets the lessons for its task, with the same bytes on every turn',
      ],
    },
    {
      says: 'Nothing that fits, nothing in the prompt',
      shown: ['served/served-lessons.slow.ts', 'gets no lessons when none matches'],
    },
    {
      says: 'Failures become a skill of the next session and never train',
      shown: [
        'served/served-learning.test.ts',
        'become a skill in the next new session, and are never training samples',
      ],
    },
    {
      says: 'A judge decides turns that nothing else decides',
      shown: ['served/served-learning.test.ts', 'can also come from a judge'],
    },
    {
      says: 'Verifiers outrank people',
      shown: ['served/served-learning.test.ts', 'can come from the verifier of the domain'],
    },
    {
      says: 'A new generation flushes only the samples that it affects',
      shown: ['served/served-scoped.slow.ts', 'with learn.flush scoped'],
      setting: 'learn.flush',
    },
    {
      says: 'Weights train while the user is away and serve only after they measured better',
      shown: [
        'served/practice-training.slow.ts',
        'trains nothing while too few tasks could measure the weights',
      ],
    },
    {
      says: 'Weights train on rewarded live turns, with a switch that acts at once',
      shown: ['served/training-live-only.slow.ts', 'turned off ends it with the step in progress'],
      setting: 'train.live',
    },
    {
      says: 'Live turns that nobody rated are rewarded by the checks of your rules',
      shown: [
        'served/training-live-only.slow.ts',
        'train by the checks of the rules that they were given with, each turn once',
      ],
      setting: 'train.live',
    },
    {
      says: 'New weights serve a few sessions, then all, or are rolled back',
      shown: ['served/training-canary.slow.ts', 'goes live when enough of its sessions were not worse'],
    },
    {
      says: 'Weights change under open streams',
      shown: ['served/training-swap.slow.ts', 'streams, each by the one version that its head names'],
    },
    {
      says: 'Lessons move into the weights',
      why: 'measured a loss; taken out',
    },
    {
      says: 'Sleep hours, idle input, calendar and requests open and close the window',
      shown: [
        'served/served-schedule.slow.ts',
        'stops at a request, and goes on when it has been quiet again',
      ],
    },
    {
      says: 'A Google calendar counts as away in its meetings',
      shown: ['served/served-loops.slow.ts', 'counts a meeting as away, read by its secret address'],
    },
    {
      says: 'A long system prompt is shortened, and no rule is lost',
      shown: [
        'served/served-compress.slow.ts',
        'is never shortened when the reply of the model omits a rule',
      ],
      setting: 'learn.compress',
    },
    {
      says: 'Stages of a pipeline learn from their checks',
      shown: ['served/served-episodes.slow.ts', 'is helped on Tuesday by what its own checks said on Monday'],
    },
    {
      says: 'Retry rate, refine cycles, completion and robustness of your own stages',
      shown: ['served/served-pipelines.test.ts', 'are told by the command line, the page and the API'],
    },
  ],
  'Adaptation Engine': [
    {
      says: 'Prompt fragments',
      shown: ['served/adapt-types.slow.ts', 'prompt_fragment: guidance joins the block of that agent'],
    },
    {
      says: 'Fix templates',
      shown: ['served/adapt-types.slow.ts', 'fix_template: a repair is shown when its error comes up again'],
    },
    {
      says: 'Policy tweaks',
      shown: ['served/adapt-types.slow.ts', 'validator_policy_tweak: a failing provider is tried less often'],
    },
    {
      says: 'Routing hints',
      shown: [
        'served/adapt-types.slow.ts',
        'routing_hint: the router of a new kind of work takes the other model',
      ],
      setting: 'router',
    },
    {
      says: 'Flows that the gateway answers',
      shown: [
        'served/adapt-types.slow.ts',
        'flow_offload: the event of docs/adaptation.md lets the gateway answer the next call itself',
      ],
      setting: 'gateway.flows',
    },
    {
      says: 'A command that was put right is a repair',
      shown: ['served/served-conduct.slow.ts', 'a command that was put right: a repair'],
    },
    {
      says: 'Repeated calls of one day become a flow',
      shown: ['served/served-conduct.slow.ts', 'calls that three sessions of one day repeat: a flow'],
    },
  ],
  'Training-Free GRPO': [
    {
      says: 'Groups of attempts; what separates good from bad becomes a lesson',
      shown: [
        'served/served-practice.slow.ts',
        'attempts the tasks that a person gave, learns what separates good from bad',
      ],
    },
    {
      says: 'Exact resume after a kill; nothing is paid for twice',
      shown: [
        'served/served-practice-kill.slow.ts',
        'goes on with it: the same library and spending as without',
      ],
    },
    {
      says: 'A session with a failure and a success teaches when it ends',
      shown: ['served/served-learning.test.ts', 'are not needed when a session has a failure and a success'],
    },
    {
      says: 'Episodes over MCP and the library: a contrast becomes a lesson',
      shown: ['served/served-episodes.slow.ts', 'that failed, then worked, and ended well is a success'],
    },
    {
      says: 'Wait for what a session taught',
      shown: ['served/served-told.test.ts', 'waits for the end of the session and prints what it taught'],
    },
    {
      says: 'OpenClaw and Claude Code attempt tasks',
      shown: ['served/served-practice-programs.slow.ts', 'are attempted by the agent of the config, %s'],
      setting: 'practice.agent',
    },
    {
      says: 'Contradictions become tasks',
      shown: [
        'served/served-loops.slow.ts',
        'become a task in the words of the request that taught one of them',
      ],
    },
    {
      says: 'Notes of people are kept, updated and taken back',
      shown: ['served/served-notes.slow.ts', 'is updated and taken back by later words'],
    },
    {
      says: 'Consolidation',
      shown: ['served/served-consolidate.slow.ts', 'is planned and made over the API'],
    },
    {
      says: 'Night jobs do not repeat what they have read, and pause when nothing comes of them',
      shown: ['served/night-jobs.test.ts', 'a night job runs once for the same input'],
    },
    {
      says: 'Outcomes leave as rows that TRL and ART read',
      shown: ['served/served-export.test.ts', 'are rows of prompt, completion, label and reward for TRL'],
    },
    { says: 'Variations of tasks that a model writes', why: 'no measured gain; taken out' },
  ],
  EvoClaw: [
    {
      says: 'An identity opens the prompt of its agent',
      shown: ['served/served-conduct.slow.ts', 'an identity: it stands before every lesson of a prompt'],
    },
    {
      says: 'What people say twice about the manner becomes a proposal',
      shown: [
        'served/served-identity.slow.ts',
        'in two sessions becomes a proposal for that agent in their own words',
      ],
    },
    {
      says: 'A proposal is attempted with and without',
      shown: ['served/served-identity-practice.slow.ts', 'is attempted with and without, on the same tasks'],
    },
    {
      says: 'The parts of each turn’s reward: task, rules kept, tokens',
      shown: [
        'served/served-adherence.slow.ts',
        'stands among the parts of the reward of each turn, in the terminal, the API and on the page',
      ],
    },
    {
      says: 'Reward of an attempt from task, identity and efficiency by weights',
      shown: [
        'served/served-identity-reward.slow.ts',
        'are made of the parts that the owner weighs, and say of each attempt what they are made of',
      ],
      setting: 'learn.identity.reward.identity',
    },
  ],
};

/** The capabilities of the sources with what is true of each, from the titles of the tests that show them. */
export function writeCapabilities(root: string): string {
  const { config } = checkConfig({}, { env: {} });
  const stateOf = ({ shown, setting }: Capability): string => {
    if (shown === undefined || !hasTest(root, shown)) return 'not built';
    return setting !== undefined && isOff(settingAt(config, setting.split('.'))) ? 'off by default' : 'works';
  };
  return `${[
    '# What the sources describe',
    'Written by `npm run docs:reference` from the titles of tests: a row without its test says *not built*, and a row whose setting is off without a config says *off by default*.',
    ...Object.entries(SOURCES).flatMap(([source, rows]) => [
      `## ${source}`,
      markdownTable(
        ['what', 'state', 'shown by'],
        rows.map((row) => [
          cell(row.says),
          stateOf(row) + (row.setting === undefined ? '' : ` (${code(row.setting)})`),
          row.shown === undefined
            ? cell(row.why ?? '')
            : cell(`${code(`test/${row.shown[0]}`)}: ${row.shown[1]}`),
        ]),
      ),
    ]),
  ].join('\n\n')}\n`;
}

const hasTest = (root: string, [file, title]: readonly [string, string]): boolean =>
  existsSync(join(root, 'test', file)) && readFileSync(join(root, 'test', file), 'utf8').includes(title);

const isOff = (value: unknown): boolean =>
  value === undefined ||
  value === false ||
  value === 0 ||
  value === 'off' ||
  value === 'strict' ||
  value === 'model';
