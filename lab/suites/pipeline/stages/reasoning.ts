import { asArray, asNumber, asObject, asString } from '../../../../src/core/json.ts';
import {
  asPercent,
  citationKeysIn,
  countWords,
  isNear,
  mentions,
  roundToHundredths,
  textList,
} from '../answer-text.ts';
import { CONFLICT_POINTS } from '../corpus.ts';
import type { ModelStage } from '../stage.ts';
import { createChecks } from '../stage.ts';
import { conflictsAmong, evidenceRows, evidenceRowsIn } from './literature.ts';

const pairName = (keys: readonly string[]): string => [...keys].sort().join(' and ');

export const conflictMapping: ModelStage = {
  id: 'conflict-mapping',
  kind: 'model',
  needs: ['evidence-extraction'],
  task: `Pass judgement on the evidence: which works are in conflict? Two works conflict when they measured the same method on the same dataset and their values are ${CONFLICT_POINTS} points or more apart.`,
  form: [
    'conflicts: a list of { keys, about, gap }, one for each pair of works in conflict',
    'keys: the two keys; about: what they disagree on; gap: the points between them',
  ],
  material: (dossier) => ({ rows: evidenceRows(dossier) }),
  solve: (material) => ({
    conflicts: conflictsAmong(evidenceRowsIn(material.rows)).map(([one, other]) => ({
      keys: [one.key, other.key],
      about: `${one.method} on the ${one.dataset}`,
      gap: roundToHundredths(Math.abs(one.value - other.value)),
    })),
  }),
  check: (output, material) => {
    const { need, problems } = createChecks();
    const truth = new Map(
      conflictsAmong(evidenceRowsIn(material.rows)).map(([one, other]) => [
        pairName([one.key, other.key]),
        Math.abs(one.value - other.value),
      ]),
    );
    const found = asArray(output.conflicts).map((conflict) => asObject(conflict));
    const named = found.map(({ keys }) => pairName(textList(keys) ?? []));
    need(
      [...named].sort().join() === [...truth.keys()].sort().join(),
      'Report every pair of works in conflict once, and no other pair.',
      named.join(', '),
    );
    const wrong = found.filter((_, nth) => {
      const gap = truth.get(named[nth] ?? '');
      return gap !== undefined && !isNear(asPercent(found[nth]?.gap), gap);
    });
    need(
      wrong.length === 0,
      'Compute the gap of a conflict as the difference of its two values.',
      wrong.map(({ gap }) => String(gap)).join(', '),
    );
    need(
      found.every(({ about }) => (asString(about) ?? '') !== ''),
      'Say what each conflict is about.',
    );
    return problems;
  },
};

export const gapAnalysis: ModelStage = {
  id: 'gap-analysis',
  kind: 'model',
  needs: ['evidence-extraction'],
  task: 'Pass judgement on the evidence: which gaps does it leave open? Back each statement with citations of the works.',
  form: [
    'gaps: 2 to 4 of { statement, cites }',
    'statement: 8 to 60 words that name a method and carry a citation of each key in cites; cites: keys of the works',
  ],
  material: (dossier, { topic }) => ({
    field: topic.field.name,
    methods: [topic.focus, topic.rival],
    rows: evidenceRows(dossier),
  }),
  solve: (material, { topic }) => {
    const rows = evidenceRowsIn(material.rows);
    const [first] = rows;
    const last = rows.at(-1);
    return {
      gaps: [
        {
          statement: `No work compares ${topic.focus} and ${topic.rival} with the same seeds on one dataset (${first?.key}).`,
          cites: [first?.key ?? ''],
        },
        {
          statement: `What ${topic.focus} gains over several runs has not been counted so far (${last?.key}).`,
          cites: [last?.key ?? ''],
        },
      ],
    };
  },
  check: (output, material) => {
    const { need, problems } = createChecks();
    const known = new Set(evidenceRowsIn(material.rows).map(({ key }) => key));
    const methods = textList(material.methods) ?? [];
    const gaps = asArray(output.gaps).map((gap) => asObject(gap));
    const texts = gaps.map(({ statement }) => asString(statement) ?? '');
    const cited = gaps.flatMap(({ cites }) => textList(cites) ?? []);
    const unknown = [...cited, ...texts.flatMap(citationKeysIn)].filter((key) => !known.has(key));
    need(gaps.length >= 2 && gaps.length <= 4, 'State 2 to 4 gaps.', `${gaps.length} gaps`);
    need(unknown.length === 0, 'Cite only keys of works that are in the evidence.', unknown.join(', '));
    need(
      gaps.length > 0 &&
        gaps.every(({ cites }, nth) => {
          const keys = textList(cites) ?? [];
          return keys.length > 0 && keys.every((key) => citationKeysIn(texts[nth] ?? '').includes(key));
        }),
      'Make no statement without a citation: each of its keys stands in the statement.',
    );
    need(
      texts.every((text) => countWords(text) >= 8 && countWords(text) <= 60),
      'Keep each statement between 8 and 60 words.',
    );
    need(
      texts.every((text) => methods.some((name) => mentions(text, name))),
      'Name a method in each statement.',
    );
    return problems;
  },
};

export const hypothesis: ModelStage = {
  id: 'hypothesis',
  kind: 'model',
  needs: ['gap-analysis'],
  task: 'Put forward one hypothesis that an experiment can refute: which method is better, by what metric, and by how many points.',
  form: [
    'hypothesis: one sentence that names both methods and the metric',
    'metric: the metric; direction: higher or lower; threshold: points, more than 0 and at most 20',
    'falsified_if: the result that would refute it, with the metric and the threshold in it',
  ],
  material: (dossier, { topic }) => ({
    gaps: asArray(dossier.get('gap-analysis')?.gaps).map((gap) => asObject(gap).statement ?? ''),
    methods: [topic.focus, topic.rival],
    metric: topic.field.metric,
  }),
  solve: (_, { topic: { focus, rival, field } }) => ({
    hypothesis: `The ${field.metric} of ${focus} is higher than that of ${rival}.`,
    metric: field.metric,
    direction: 'higher',
    threshold: 2,
    falsified_if: `the ${field.metric} of ${focus} is less than 2 points above that of ${rival}`,
  }),
  check: (output, material) => {
    const { need, problems } = createChecks();
    const claim = asString(output.hypothesis) ?? '';
    const metric = asString(material.metric) ?? '';
    const threshold = asNumber(output.threshold);
    const refuted = asString(output.falsified_if) ?? '';
    need(
      [...(textList(material.methods) ?? []), metric].every((name) => mentions(claim, name)),
      'Name both methods and the metric in the hypothesis.',
      claim,
    );
    need(output.metric === metric, 'Use the metric of the material.', String(output.metric));
    need(
      output.direction === 'higher' || output.direction === 'lower',
      'Say in direction whether higher or lower is claimed.',
    );
    need(
      threshold !== undefined && threshold > 0 && threshold <= 20,
      'Set a threshold of more than 0 and at most 20 points.',
      String(output.threshold),
    );
    need(
      mentions(refuted, metric) && hasNumber(refuted, threshold),
      'Make the hypothesis falsifiable: put metric and threshold into falsified_if.',
      refuted,
    );
    return problems;
  },
};

const hasNumber = (text: string, number: number | undefined): boolean =>
  (text.match(/\d+(?:\.\d+)?/g) ?? []).some((digits) => Number(digits) === number);
