import { asArray, asNumber, asObject, asString, type JsonObject } from '../../../../src/core/json.ts';
import { countWords, mentions, textList } from '../answer-text.ts';
import type { Corpus } from '../corpus.ts';
import type { ModelStage } from '../stage.ts';
import { createChecks } from '../stage.ts';

const methodsOf = ({ topic }: Corpus): readonly string[] => [topic.focus, topic.rival];

export const topicScoping: ModelStage = {
  id: 'topic-scoping',
  kind: 'model',
  needs: [],
  task: 'Turn the idea into a planning document for a small study: what it asks, what belongs to it and what does not.',
  form: [
    'title: 3 to 14 words',
    'question: one question that names both methods and the metric',
    'in_scope: at least two short texts',
    'out_of_scope: at least two short texts, none of them also in scope',
  ],
  material: (_, { topic }) => ({
    idea: `Find out whether ${topic.focus} beats ${topic.rival} in ${topic.field.name}.`,
    field: topic.field.name,
    methods: [topic.focus, topic.rival],
    metric: topic.field.metric,
  }),
  solve: (_, { topic }) => ({
    title: `${topic.focus} against ${topic.rival}: a small study`,
    question: `Does ${topic.focus} reach a higher ${topic.field.metric} than ${topic.rival} in ${topic.field.name}?`,
    in_scope: ['a comparison of the two methods', 'public datasets of the field'],
    out_of_scope: ['cost of hardware', 'methods that need a person in the loop'],
  }),
  check: (output, _, corpus) => {
    const { need, problems } = createChecks();
    const title = countWords(asString(output.title) ?? '');
    const question = asString(output.question) ?? '';
    const inside = textList(output.in_scope) ?? [];
    const outside = textList(output.out_of_scope) ?? [];
    need(title >= 3 && title <= 14, 'Give the plan a title of 3 to 14 words.', `${title} words`);
    need(
      question.trimEnd().endsWith('?'),
      'Put the question as one sentence that ends with a question mark.',
      question,
    );
    need(
      [...methodsOf(corpus), corpus.topic.field.metric].every((name) => mentions(question, name)),
      'Name both methods and the metric in the question.',
      question,
    );
    need(
      inside.length >= 2 && outside.length >= 2,
      'Name at least two things in scope and two out of scope.',
    );
    need(
      !inside.some((one) => outside.includes(one)),
      'Keep what is out of scope out of the list of what is in scope.',
    );
    return problems;
  },
};

export const queryPlanning: ModelStage = {
  id: 'query-planning',
  kind: 'model',
  needs: ['topic-scoping'],
  task: 'Write the planning document for the literature search: the queries that will be sent to the corpus, and the years that count.',
  form: [
    'queries: 3 to 5 different queries of at most 8 words; each method stands in one of them, and the name of the field in one',
    'from, to: the first and the last year, as numbers',
  ],
  material: (dossier, { topic }) => ({
    question: dossier.get('topic-scoping')?.question ?? '',
    field: topic.field.name,
    methods: [topic.focus, topic.rival],
    metric: topic.field.metric,
    years: { ...topic.years },
  }),
  solve: (_, { topic }) => ({
    queries: [
      topic.field.name,
      `${topic.focus} ${topic.field.metric}`,
      `${topic.rival} ${topic.field.metric}`,
    ],
    from: topic.years.from,
    to: topic.years.to,
  }),
  check: (output, _, corpus) => {
    const { need, problems } = createChecks();
    const queries = textList(output.queries) ?? [];
    const { field, years } = corpus.topic;
    const isOne = (name: string): boolean => queries.some((query) => mentions(query, name));
    need(queries.length >= 3 && queries.length <= 5, 'Plan 3 to 5 queries.', `${queries.length} queries`);
    need(new Set(queries).size === queries.length, 'Make every query different from the others.');
    need(
      queries.every((query) => countWords(query) <= 8),
      'Keep each query to 8 words at most.',
    );
    need(methodsOf(corpus).every(isOne), 'Let each method stand in one of the queries.');
    need(isOne(field.name), 'Let the name of the field stand in one of the queries.');
    need(
      asNumber(output.from) === years.from && asNumber(output.to) === years.to,
      'Take the years from the material as they are.',
      `${String(output.from)} to ${String(output.to)}`,
    );
    return problems;
  },
};

const HEADINGS = ['Introduction', 'Related work', 'Method', 'Results'] as const;

export const outline: ModelStage = {
  id: 'outline',
  kind: 'model',
  needs: ['gap-analysis'],
  task: 'Write the planning document for the paper: its outline, section by section, with the points that each section makes.',
  form: [
    `sections: a list of { heading, points } with the headings ${HEADINGS.join(', ')} in this order`,
    'points: at least two short texts for each section',
  ],
  material: (dossier) => ({
    question: dossier.get('topic-scoping')?.question ?? '',
    gaps: asArray(dossier.get('gap-analysis')?.gaps).map((gap) => asObject(gap).statement ?? ''),
  }),
  solve: () => ({
    sections: HEADINGS.map((heading) => ({
      heading,
      points: [
        `what ${heading.toLowerCase()} has to tell`,
        `what a reader needs from ${heading.toLowerCase()}`,
      ],
    })),
  }),
  check: (output) => {
    const { need, problems } = createChecks();
    const sections = asArray(output.sections).map((section): JsonObject => asObject(section));
    const headings = sections.map(({ heading }) => asString(heading) ?? '');
    need(
      headings.join('|') === HEADINGS.join('|'),
      `Give the outline the headings ${HEADINGS.join(', ')} in this order.`,
      headings.join(', '),
    );
    need(
      sections.length > 0 && sections.every(({ points }) => (textList(points) ?? []).length >= 2),
      'Name at least two points for each section.',
    );
    return problems;
  },
};
