import { writeFileSync } from 'node:fs';
import { AGENT_GUIDANCE, COMMAND_PARAMETERS, TOOL_DESCRIPTION } from '../../../src/agent/prompts.ts';
import { createRandom } from '../../../src/base/random.ts';
import type { RegressionQuestion } from '../../../train/regression-suite.ts';
import { makeChoices } from '../../suites/workdays/choices/make-choices.ts';
import { commandOf } from '../../suites/workdays/files/draft.ts';
import { makeDays } from '../../suites/workdays/make-world/make-days.ts';
import { makeDayTasks } from '../nano/day-tasks.ts';

/*
 * Writes models/nano/regression.jsonl: what the embedded policy must not forget while it is trained, in its own task language. Half are
 * questions on documents with letters to choose, half are file tasks without any rule. They are made of worlds of the training split that
 * nothing else uses: no seed of pre-training, of the gate or of the report. Run once; the file is data.
 *
 *   npm run -s build && node dist/lab/measure/gate/make-data.js
 */
const FIRST_WORLD = 12_000_000;
const OF_EACH = 60;
const tools = [
  { name: 'run_command', description: TOOL_DESCRIPTION, parameters: structuredClone(COMMAND_PARAMETERS) },
];

const choices: RegressionQuestion[] = [];
const work: RegressionQuestion[] = [];
for (let world = FIRST_WORLD; choices.length < OF_EACH || work.length < OF_EACH; world++) {
  const random = createRandom(`regression/${world}`);
  const [facts] = makeDays('train', world);
  if (facts === undefined) continue;
  const ids = ['a', 'b', 'c'];
  const asked = makeChoices({ facts, ids, seed: `regression/${world}`, asked: new Set() });
  for (const { text, answer } of asked)
    if (choices.length < OF_EACH)
      choices.push({
        id: `choice-${choices.length + 1}`,
        prompt: text,
        tools: [],
        check: { kind: 'choice', letters: answer.join('') },
      });
  const tasks = makeDayTasks(facts, random).filter(({ invented }) => invented === undefined);
  for (const { text, base } of tasks.slice(0, 4))
    if (work.length < OF_EACH)
      work.push({
        id: `work-${work.length + 1}`,
        prompt: text,
        system: AGENT_GUIDANCE,
        tools,
        check: {
          kind: 'tool',
          name: 'run_command',
          arguments: { command: [...base.steps.map(commandOf), 'done'].join('\n') },
        },
      });
}
const lines = [...choices, ...work].map((question) => JSON.stringify(question));
writeFileSync('models/nano/regression.jsonl', `${lines.join('\n')}\n`);
process.stdout.write(`${choices.length} questions and ${work.length} tasks\n`);
