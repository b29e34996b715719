import type { StoryStep } from '../corrections/render-story.ts';
import type { MiningProject, ProjectBug } from './mining-projects.ts';

/** What a session is, and what should be mined from it. */
export const SCENARIOS = [
  { name: 'proven', share: 30, mined: 'command' },
  { name: 'proven at the second try', share: 10, mined: 'command' },
  { name: 'corrected, then proven', share: 12, mined: 'command' },
  { name: 'corrected in words', share: 8, mined: 'rubric' },
  { name: 'asked again', share: 5, mined: 'other' },
  { name: 'rejected after green tests', share: 6, mined: 'nothing' },
  { name: 'routine answer', share: 9, mined: 'nothing' },
  { name: 'text of a stranger', share: 5, mined: 'nothing' },
  { name: 'anonymous caller', share: 4, mined: 'nothing' },
  { name: 'practice run', share: 3, mined: 'nothing' },
  { name: 'no git folder', share: 4, mined: 'record only' },
  { name: 'secret in the work tree', share: 4, mined: 'record only' },
] as const;
export type MiningScenario = (typeof SCENARIOS)[number];

/** Runs the tests of the project as it is now. */
export type RunTests = (command: string) => Promise<{ readonly out: string; readonly exit: number }>;

export interface StoryParts {
  readonly scenario: MiningScenario;
  readonly project: MiningProject;
  readonly bug: ProjectBug;
  readonly nth: number;
  readonly run: RunTests;
  /** Changes the bug's file in the project. */
  readonly put: (from: string, to: string) => void;
}

const ASKED: readonly ((topic: string) => string)[] = [
  (topic) => `There is a bug: ${topic} comes out wrong. Please fix it and run the tests.`,
  (topic) => `Can you have a look at ${topic}? The tests fail since yesterday, make them pass again.`,
  (topic) => `${topic} is broken on my machine, repair that please`,
  (topic) => `fix ${topic}, then check that the test suite is green`,
  (topic) => `Somebody reported that ${topic} does not work any more. Find out why and correct it.`,
];
const CORRECTIONS = [
  'No, do not rewrite the whole function, change only the expression that is wrong.',
  "That's not what I asked for: keep the signature and the comments as they are.",
  'Wrong. We never add helper functions here, put it inline.',
];
const CONVENTIONS: readonly (readonly [ask: string, answer: string, correction: string, end: string])[] = [
  [
    'Which format do we use for the dates in the release notes?',
    'Dates are written like 16 Nov 2026.',
    'No, we use ISO dates here, like 2026-11-16.',
    'Understood: 2026-11-16.',
  ],
  [
    'Write the commit subject for the parser change.',
    'Parser: fixed stuff.',
    'No, commit subjects are in the imperative here: "Fix the parser".',
    'Fix the parser.',
  ],
  [
    'How should the new config key for the cache size be named?',
    'cacheSize',
    "That's wrong, we use snake_case for config keys.",
    'cache_size',
  ],
  [
    'Draft the title of the changelog entry for version two.',
    'Big update!',
    'No, no marketing words in the changelog. Say what changed.',
    'Version 2: the parser reads dates.',
  ],
];
const ROUTINE: readonly (readonly [ask: string, answer: string])[] = [
  ['What does the readme of this project say about the tests?', 'It says that small functions have tests.'],
  ['Which folders are there in the source tree?', 'src and test.'],
  ['Explain what a median is in one sentence.', 'The middle of the sorted values.'],
];

/** The steps of one session; what its commands print is what they really print. */
export async function writeMiningStory({
  scenario,
  project,
  bug,
  nth,
  run,
  put,
}: StoryParts): Promise<readonly StoryStep[]> {
  const ask = (ASKED[nth % ASKED.length] ?? String)(bug.topic);
  const tests = async (): Promise<StoryStep> => ({ run: bug.command, ...(await run(bug.command)) });
  const edit = (from: string, to: string): StoryStep => {
    put(from, to);
    return { edit: `${project.folder}/${bug.file}`, from, to };
  };
  const look: StoryStep = { read: `${project.folder}/${bug.file}`, out: `… ${bug.wrong} …` };
  const done: StoryStep = {
    agent: `The cause was "${bug.wrong}" in ${bug.file}; it is "${bug.right}" now, and the tests pass.`,
  };
  const proven = async (): Promise<readonly StoryStep[]> => [
    await tests(),
    look,
    edit(bug.wrong, bug.right),
    await tests(),
    done,
  ];
  const other = `${bug.wrong} `;
  switch (scenario.name) {
    case 'proven at the second try':
      return [
        { user: ask },
        await tests(),
        edit(bug.wrong, other),
        await tests(),
        edit(other, bug.right),
        await tests(),
        done,
      ];
    case 'corrected, then proven':
      return [
        { user: ask },
        await tests(),
        edit(bug.wrong, other),
        { agent: 'I restructured the function and moved the calculation into a helper.' },
        { user: CORRECTIONS[nth % CORRECTIONS.length] ?? '' },
        edit(other, bug.right),
        await tests(),
        done,
      ];
    case 'corrected in words': {
      const [asked, answer, correction, end] = CONVENTIONS[nth % CONVENTIONS.length] ?? ['', '', '', ''];
      return [
        { user: `${asked} (${project.name})` },
        { agent: answer },
        { user: correction },
        { agent: end },
      ];
    }
    case 'asked again': {
      const asked = `Tell me which function handles ${bug.topic} in ${project.name}`;
      return [
        { user: asked },
        { agent: 'It is somewhere in the source folder.' },
        { user: `${asked} please` },
        { agent: `It is in ${bug.file}.` },
      ];
    }
    case 'rejected after green tests':
      return [
        { user: ask },
        ...(await proven()),
        { user: 'No, that is wrong. Undo it, the old behaviour was intended.' },
        { agent: 'Okay.' },
      ];
    case 'routine answer': {
      const [asked, answer] = ROUTINE[nth % ROUTINE.length] ?? ['', ''];
      return [{ user: asked }, { agent: answer }];
    }
    case 'text of a stranger':
      return [
        {
          user: `Please do what this mail asks for.\n\nFrom: sales@example.com\nSubject: ${bug.topic}\n\n> ${ask}\n> Regards`,
        },
        ...(await proven()),
      ];
    default:
      return [{ user: ask }, ...(await proven())];
  }
}
