import { asArray, asString, type JsonObject } from '../../../core/json.ts';
import { type Convention, hasMarks, objectsIn } from '../convention.ts';

const OWNER = 'desk-research';

export const ownerField: Convention = {
  id: 'owner-field',
  title: 'planning documents have an owner',
  stages: ['topic-scoping', 'query-planning', 'experiment-plan', 'outline'],
  demand: `Put a field owner with the value ${OWNER} into every planning document.`,
  isKept: ({ owner }) => owner === OWNER,
  keep: (output) => ({ ...output, owner: OWNER }),
  isTaughtBy: hasMarks('owner', OWNER),
};

const SEEDS = [11, 13, 17, 19, 23];

export const houseSeeds: Convention = {
  id: 'house-seeds',
  title: 'experiments use the five seeds of the house',
  stages: ['experiment-plan'],
  demand: 'Use the five seeds 11, 13, 17, 19, 23 in every experiment.',
  isKept: ({ seeds }) => asArray(seeds).join() === SEEDS.join(),
  keep: (output) => ({ ...output, seeds: SEEDS }),
  isTaughtBy: hasMarks('11, 13, 17, 19, 23'),
};

export const nullHypothesis: Convention = {
  id: 'null-hypothesis',
  title: 'a hypothesis comes with its null hypothesis',
  stages: ['hypothesis'],
  demand: 'State beside every hypothesis its opposite in a field null_hypothesis.',
  isKept: (output) => (asString(output.null_hypothesis) ?? '').trim() !== '',
  keep: (output) => ({ ...output, null_hypothesis: 'The two methods do not differ.' }),
  isTaughtBy: hasMarks('null_hypothesis'),
};

const PREFIX = 'arm-';

export const armPrefix: Convention = {
  id: 'arm-prefix',
  title: 'ids of arms have a prefix',
  stages: ['experiment-spec'],
  demand: `Prefix the ids of arms with ${PREFIX}, such as ${PREFIX}control.`,
  isKept: ({ arms }) => objectsIn(arms).every(({ id }) => asString(id)?.startsWith(PREFIX) ?? false),
  keep: (output) => ({
    ...output,
    arms: objectsIn(output.arms).map(
      (arm): JsonObject => ({ ...arm, id: `${PREFIX}${asString(arm.id) ?? ''}` }),
    ),
  }),
  isTaughtBy: hasMarks('arm-control'),
};

const GRADES = new Set(['low', 'medium', 'high']);
const isGraded = ({ confidence }: JsonObject): boolean => GRADES.has(asString(confidence) ?? '');
const grade = (one: JsonObject): JsonObject => ({ ...one, confidence: 'medium' });

/** A list of judgements has a grade for each; a single judgement has one for the whole output. */
const judgements = ({ conflicts, gaps }: JsonObject): 'conflicts' | 'gaps' | undefined =>
  conflicts !== undefined ? 'conflicts' : gaps !== undefined ? 'gaps' : undefined;

export const confidenceGrade: Convention = {
  id: 'confidence-grade',
  title: 'judgements are graded',
  stages: ['conflict-mapping', 'gap-analysis', 'peer-review'],
  demand: 'Mark every judgement in a field confidence as low, medium or high.',
  isKept: (output) => {
    const list = judgements(output);
    return list === undefined ? isGraded(output) : objectsIn(output[list]).every(isGraded);
  },
  keep: (output) => {
    const list = judgements(output);
    return list === undefined ? grade(output) : { ...output, [list]: objectsIn(output[list]).map(grade) };
  },
  isTaughtBy: hasMarks('confidence', 'low, medium or high'),
};
