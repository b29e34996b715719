/** A rule of the simulated user: what it is about, and what holds. Two rules of one slot with other values contradict each other. */
export interface YearRule {
  readonly slot: string;
  readonly value: string;
  readonly topic: string;
  readonly text: string;
  readonly question: string;
}

interface RuleAspect {
  readonly name: string;
  readonly values: readonly string[];
  /** The first wording, and others that say the same. */
  readonly wordings: readonly ((topic: string, value: string) => string)[];
  readonly question: (topic: string) => string;
}

/**
 * Receiver, branch and approval have values that no list of words knows to exclude each other. The last three were added when the rules
 * for contradictions were done, and no rule was made for them.
 */
export const RULE_ASPECTS: readonly RuleAspect[] = [
  {
    name: 'timeout',
    values: ['10', '30', '60', '90'],
    wordings: [
      (topic, value) => `Set the timeout of the ${topic} to ${value} seconds.`,
      (topic, value) => `Please set the timeout of the ${topic} to ${value} seconds.`,
      (topic, value) => `For the ${topic}, set the timeout to ${value} seconds.`,
    ],
    question: (topic) => `Configure the timeout of the ${topic}.`,
  },
  {
    name: 'language',
    values: ['English', 'German', 'French'],
    wordings: [
      (topic, value) => `Write the summary of the ${topic} in ${value}.`,
      (topic, value) => `Please write the summary of the ${topic} in ${value}.`,
      (topic, value) => `The summary of the ${topic} must be written in ${value}.`,
    ],
    question: (topic) => `Write a short summary of the ${topic}.`,
  },
  {
    name: 'linter',
    values: ['yes', 'no'],
    wordings: [
      (topic, value) =>
        `${value === 'yes' ? 'Always' : 'Never'} run the linter on the ${topic} before a commit.`,
      (topic, value) =>
        value === 'yes'
          ? `Run the linter on the ${topic} before each commit.`
          : `Do not run the linter on the ${topic} before a commit.`,
    ],
    question: (topic) => `Prepare the commit for the ${topic}: is the linter needed?`,
  },
  {
    name: 'format',
    values: ['json', 'csv', 'yaml'],
    wordings: [
      (topic, value) => `Keep the log of the ${topic} as ${value}.`,
      (topic, value) => `Please keep the log of the ${topic} as ${value}.`,
    ],
    question: (topic) => `Write the log of the ${topic}.`,
  },
  {
    name: 'order',
    values: ['ascending', 'descending'],
    wordings: [
      (topic, value) => `Sort the rows of the ${topic} in ${value} order.`,
      (topic, value) => `The rows of the ${topic} must be sorted in ${value} order.`,
    ],
    question: (topic) => `Sort the rows of the ${topic}.`,
  },
  {
    name: 'receiver',
    values: ['Anna', 'Boris', 'Chen'],
    wordings: [
      (topic, value) => `Send the report about the ${topic} to ${value}.`,
      (topic, value) => `Please send the report about the ${topic} to ${value}.`,
    ],
    question: (topic) => `Send the report about the ${topic}.`,
  },
  {
    name: 'branch',
    values: ['main', 'release', 'staging'],
    wordings: [
      (topic, value) => `Deploy the ${topic} from the ${value} branch.`,
      (topic, value) => `Please deploy the ${topic} from the ${value} branch.`,
    ],
    question: (topic) => `Deploy the ${topic}.`,
  },
  {
    name: 'approval',
    values: ['needed', 'optional'],
    wordings: [
      (topic, value) =>
        value === 'needed'
          ? `Ask the team lead before you restart the ${topic}.`
          : `You may restart the ${topic} on your own.`,
    ],
    question: (topic) => `Restart the ${topic}.`,
  },
  {
    name: 'retention',
    values: ['week', 'for good'],
    wordings: [
      (topic, value) =>
        value === 'week'
          ? `Delete the backups of the ${topic} after a week.`
          : `Keep the backups of the ${topic} for good.`,
    ],
    question: (topic) => `Clean up the backups of the ${topic}.`,
  },
  {
    name: 'owner',
    values: ['red', 'blue', 'green'],
    wordings: [
      (topic, value) => `Team ${value} owns the ${topic}.`,
      (topic, value) => `The ${topic} belongs to team ${value}.`,
    ],
    question: (topic) => `Who owns the ${topic}?`,
  },
  {
    name: 'naming',
    values: ['snake case', 'camel case'],
    wordings: [
      (topic, value) => `Name the columns of the ${topic} in ${value}.`,
      (topic, value) => `The ${topic} has its columns in ${value}.`,
    ],
    question: (topic) => `Add a column to the ${topic}.`,
  },
];

const KINDS = ['export', 'import', 'dashboard', 'queue', 'archive', 'parser'];
const THINGS = [
  'invoice',
  'login',
  'payment',
  'weather',
  'library',
  'newsletter',
  'warehouse',
  'booking',
  'survey',
  'camera',
];

/** Sixty topics: the first six are worked on all year, the others for some weeks each. */
export const YEAR_TOPICS: readonly string[] = KINDS.flatMap((kind) =>
  THINGS.map((thing) => `${thing} ${kind}`),
);
export const EVERGREEN = 6;

export function ruleOfYear(topic: string, aspect: RuleAspect, value: string, wording: number): YearRule {
  const words = aspect.wordings[wording % aspect.wordings.length] ?? aspect.wordings[0];
  return {
    slot: `${topic}/${aspect.name}`,
    value,
    topic,
    text: words?.(topic, value) ?? '',
    question: aspect.question(topic),
  };
}
