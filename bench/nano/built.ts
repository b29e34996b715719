import { pathToFileURL } from 'node:url';

export type { Suite } from '../../dist/bench/suite.js';
/*
 * The parts of the built program that the data are made with. Benches are compiled on their own, so they are loaded from `dist`,
 * from the root of the checkout; their types come from there as well.
 */
export type { PlannedQuestion } from '../../dist/bench/workdays/files/make-file-question.js';
export type { Plan } from '../../dist/bench/workdays/files/plan.js';
export type { HouseRule, RuleSet } from '../../dist/bench/workdays/rules/rule-set.js';
export type { Split } from '../../dist/bench/workdays/world.js';
export type { Tokenizer } from '../../dist/nano/policy/tokenizer.js';
export type { Pieces } from '../../dist/nano/policy/vocabulary.js';
export type { Random } from '../../dist/stats/random.js';

const load = async <T>(file: string): Promise<T> =>
  (await import(pathToFileURL(`dist/${file}.js`).href)) as T;

export const { createWorkdays } =
  await load<typeof import('../../dist/bench/workdays/workdays.js')>('bench/workdays/workdays');
export const { createDraft, stepsOf } = await load<typeof import('../../dist/bench/workdays/files/draft.js')>(
  'bench/workdays/files/draft',
);
export const { commandOf } = await load<typeof import('../../dist/bench/workdays/files/steps.js')>(
  'bench/workdays/files/steps',
);
export const { FORMS } = await load<typeof import('../../dist/bench/workdays/rules/forms.js')>(
  'bench/workdays/rules/forms',
);
export const { HOUSE_RULES } = await load<typeof import('../../dist/bench/workdays/rules/house-rules.js')>(
  'bench/workdays/rules/house-rules',
);
export const { OTHER_RULES } = await load<typeof import('../../dist/bench/workdays/rules/other-rules.js')>(
  'bench/workdays/rules/other-rules',
);
export const { GIVEN_NAMES, FAMILY_NAMES, PROJECTS } = await load<
  typeof import('../../dist/bench/workdays/make-world/pools.js')
>('bench/workdays/make-world/pools');
export const { fill } =
  await load<typeof import('../../dist/bench/workdays/files/fill.js')>('bench/workdays/files/fill');
export const { pick, shuffled } =
  await load<typeof import('../../dist/bench/workdays/draw.js')>('bench/workdays/draw');
export const { createRandom } = await load<typeof import('../../dist/stats/random.js')>('stats/random');
export const { createDistiller } =
  await load<typeof import('../../dist/learn/distiller/distiller.js')>('learn/distiller/distiller');
export const { renderBlock } =
  await load<typeof import('../../dist/library/render-block.js')>('library/render-block');
export const { STARTER_SKILLS } = await load<typeof import('../../dist/library/starter/starter-skills.js')>(
  'library/starter/starter-skills',
);
export const { createTokenizer } =
  await load<typeof import('../../dist/nano/policy/tokenizer.js')>('nano/policy/tokenizer');
export const { runsOf } = await load<typeof import('../../dist/nano/policy/runs.js')>('nano/policy/runs');
export const { createVocabulary, readVocabulary, writeVocabulary, FIRST_PIECE, MARK } =
  await load<typeof import('../../dist/nano/policy/vocabulary.js')>('nano/policy/vocabulary');
export const { shownSkills } =
  await load<typeof import('../../dist/nano/policy/shown-skills.js')>('nano/policy/shown-skills');
export const { LIMITS, renderTask } =
  await load<typeof import('../../dist/nano/policy/render-prompt.js')>('nano/policy/render-prompt');
export const { writeReply } =
  await load<typeof import('../../dist/nano/policy/write-reply.js')>('nano/policy/write-reply');
export const { readReply } =
  await load<typeof import('../../dist/nano/policy/read-reply.js')>('nano/policy/read-reply');
export const { NANO } = await load<typeof import('../../dist/nano/shape.js')>('nano/shape');
export const { createWorkspace } =
  await load<typeof import('../../dist/sandbox/workspace.js')>('sandbox/workspace');
