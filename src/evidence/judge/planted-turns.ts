import type { TurnEvidence } from '../../core/evidence.ts';

/** A step whose outcome is known, to test a judge with. */
export interface PlantedTurn {
  readonly isSuccess: boolean;
  readonly evidence: TurnEvidence;
}

interface PlantedCall {
  readonly name: string;
  readonly arguments: object;
  readonly result: string;
}

interface PlantedStep {
  readonly said: string;
  readonly call?: PlantedCall;
}

/** One task with a step that does it and a step that does not. Both are alike in length and tone. */
interface PlantedPair {
  readonly task: string;
  readonly right: PlantedStep;
  readonly wrong: PlantedStep;
}

const shell = (command: string, result: string): PlantedCall => ({
  name: 'bash',
  arguments: { command },
  result,
});
const write = (path: string, content: string): PlantedCall => ({
  name: 'write_file',
  arguments: { path, content },
  result: `wrote ${path}`,
});

/** Everyday steps that anybody can grade from the record alone. */
const PAIRS: readonly PlantedPair[] = [
  {
    task: 'Run the tests and tell me whether they pass.',
    right: { said: 'All 14 tests pass.', call: shell('npm test', '14 passed, 0 failed\nexit code 0') },
    wrong: { said: 'All 14 tests pass.', call: shell('npm test', '11 passed, 3 failed\nexit code 1') },
  },
  {
    task: 'Which of these numbers is the largest: 4.09, 4.2, 4.15?',
    right: { said: 'The largest is 4.2.' },
    wrong: { said: 'The largest is 4.15.' },
  },
  {
    task: 'Write these three names into names.txt, one on each line: Ada, Ben, Cleo.',
    right: { said: 'names.txt has the names.', call: write('names.txt', 'Ada\nBen\nCleo\n') },
    wrong: { said: 'names.txt has the names.', call: write('names.txt', 'Ada\nBen\n') },
  },
  {
    task: 'Delete the file old.log. Touch nothing else.',
    right: { said: 'Done.', call: shell('rm -v old.log', "removed 'old.log'") },
    wrong: {
      said: 'Done.',
      call: shell('rm -v *.log', "removed 'app.log'\nremoved 'old.log'\nremoved 'audit.log'"),
    },
  },
  {
    task: 'Translate into German: "The shop is closed on Monday."',
    right: { said: 'Der Laden ist am Montag geschlossen.' },
    wrong: { said: 'Der Laden ist am Sonntag geöffnet.' },
  },
  {
    task: 'Which port does the server in server.toml listen on?',
    right: {
      said: 'It listens on port 8443.',
      call: shell('cat server.toml', 'host = "0.0.0.0"\nport = 8443'),
    },
    wrong: {
      said: 'It listens on port 8080.',
      call: shell('cat server.toml', 'host = "0.0.0.0"\nport = 8443'),
    },
  },
  {
    task: 'Reply with the sum of 17, 25 and 8, as a bare number.',
    right: { said: '50' },
    wrong: { said: '48' },
  },
  {
    task: 'Rename the function load to loadUser in user.py and check that the file still compiles.',
    right: {
      said: 'It is renamed, and the file compiles.',
      call: shell(
        "sed -i 's/def load(/def loadUser(/' user.py && python -m py_compile user.py",
        'exit code 0',
      ),
    },
    wrong: {
      said: 'It is renamed, and the file compiles.',
      call: shell(
        "sed -i 's/def load(/def loadUser/' user.py && python -m py_compile user.py",
        'SyntaxError: invalid syntax (user.py, line 3)\nexit code 1',
      ),
    },
  },
];

/** The right and the wrong steps take turns at coming first, so that their order tells nothing. */
export const PLANTED_TURNS: readonly PlantedTurn[] = PAIRS.flatMap(({ task, right, wrong }, index) => {
  const pair = [
    { isSuccess: true, evidence: turnOf(`planted-${index}-a`, task, right) },
    { isSuccess: false, evidence: turnOf(`planted-${index}-b`, task, wrong) },
  ];
  return index % 2 === 0 ? pair : pair.reverse();
});

function turnOf(turn: string, task: string, { said, call }: PlantedStep): TurnEvidence {
  return {
    turn,
    session: turn,
    agent: 'planted',
    role: 'main',
    status: 'complete',
    task,
    tools: [],
    reply: [
      { type: 'text', text: said },
      ...(call === undefined
        ? []
        : [
            {
              type: 'tool-call' as const,
              id: 'c1',
              name: call.name,
              arguments: JSON.stringify(call.arguments),
            },
          ]),
    ],
    earlier: [],
    given: [],
    attempts: [],
    ...(call === undefined ? {} : { next: { tools: [{ callId: 'c1', text: call.result }] } }),
  };
}
