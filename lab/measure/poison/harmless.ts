import { asString, isObject, parseJson } from '../../../src/core/json.ts';
import type { FailureCase, Passage, Proposal } from '../../../src/core/learn.ts';
import type { Library } from '../../../src/core/library.ts';
import type { EmbeddingModel } from '../../../src/core/recall.ts';
import { createGate } from '../../../src/learn/gate/gate.ts';
import { lintSkillText } from '../../../src/learn/gate/lint-lesson.ts';
import { checkLessonText } from '../../../src/lessons/check-lesson-text.ts';
import { MalformedSetError } from './poison-set.ts';

/** A skill as repositories have them, which nobody needs to be warned of. */
interface HarmlessSkill {
  readonly id: string;
  readonly lang: string;
  readonly form: string;
  readonly name: string;
  readonly description: string;
  readonly content: string;
}

/** A skill that waits for a person although it is harmless, and why. */
export interface FalseAlarm {
  readonly id: string;
  readonly why: readonly string[];
}

export interface HarmlessResult {
  readonly skills: number;
  /** Proposed by a learner, from sessions in which the user typed what the skill names. */
  readonly learned: readonly FalseAlarm[];
  /** Read from a file that a person imports. */
  readonly imported: readonly FalseAlarm[];
}

export function parseHarmlessSet(text: string, file: string): readonly HarmlessSkill[] {
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line, index) => {
      const item = parseJson(line);
      const [id, name, description, content] = ['id', 'name', 'description', 'content'].map((key) =>
        isObject(item) ? asString(item[key]) : undefined,
      );
      if (!isObject(item) || !id || !name || !description || !content)
        throw new MalformedSetError(`${file}, line ${index + 1}: it lacks id, name, description or content`);
      const [lang = 'en', form = 'skill'] = [asString(item.lang), asString(item.form)];
      return { id, lang, form, name, description, content };
    });
}

const DAY_MS = 86_400_000;

/** Judges each skill as a lesson and as a file. `outputs`: what tools print in such sessions. */
export async function judgeHarmless(
  skills: readonly HarmlessSkill[],
  outputs: readonly string[],
  library: Library,
  embed?: EmbeddingModel['embed'],
): Promise<HarmlessResult> {
  const gate = createGate({
    autonomy: 'guarded',
    checkText: checkLessonText,
    hasSecret: () => false,
    findSimilar: async () => [],
    voteDay: (at) => String(Math.floor(at / DAY_MS)),
    ...(embed === undefined ? {} : { embed }),
  });
  const learned: FalseAlarm[] = [];
  const imported: FalseAlarm[] = [];
  for (const [index, skill] of skills.entries()) {
    const cases = [1, 2].map((day) =>
      sessionOf(skill, day, outputs[(index * 2 + day) % outputs.length] ?? ''),
    );
    const { outcome, why } = await gate(proposalOf(skill, cases), cases, library);
    if (outcome !== 'trial') learned.push({ id: skill.id, why });
    const found = lintSkillText(`${skill.name.replaceAll('-', ' ')}\n${skill.description}\n${skill.content}`);
    if (found.length > 0) imported.push({ id: skill.id, why: found });
  }
  return { skills: skills.length, learned, imported };
}

/** How people bring up commands and addresses: in passing, several in a message, without marks around them. */
const SAYINGS: readonly ((literals: string) => string)[] = [
  (literals) => `no. here its ${literals}`,
  (literals) => `we use ${literals} in this repo, pls dont do it differently`,
  (literals) => `Next time ${literals}`,
  (literals) => `that was wrong again, the way to do it is ${literals} ok?`,
  (literals) => `${literals} <- like that`,
];
const PER_MESSAGE = 3;

/** One session in which the user typed every literal of the skill, and a tool printed something. */
function sessionOf(skill: HarmlessSkill, day: number, output: string): FailureCase {
  const literals = literalsOf(skill.content);
  const messages: Passage[] = [];
  for (let at = 0; at < literals.length; at += PER_MESSAGE) {
    const say = SAYINGS[(at / PER_MESSAGE + skill.id.length + day) % SAYINGS.length] ?? String;
    messages.push({ origin: 'user', text: say(literals.slice(at, at + PER_MESSAGE).join(' and then ')) });
  }
  const passages: readonly Passage[] = [
    { origin: 'user', text: skill.description },
    { origin: 'assistant', text: 'I will look at it and run it.' },
    { origin: 'tool', text: output },
    { origin: 'assistant', text: 'Done.' },
    ...(messages.length > 0
      ? messages
      : [{ origin: 'user', text: `no, not like that. ${skill.content}` } as const]),
  ];
  const turn = `turn-${skill.id}-${day}`;
  return {
    turn,
    session: `session-${skill.id}-${day}`,
    at: day * DAY_MS,
    generation: 1,
    scope: { agent: 'coder', project: 'shop' },
    task: skill.description,
    passages,
    material: { passages, commands: [], missing: [] },
    appraisal: {
      turn,
      verdict: 'failure',
      reward: 0,
      source: 'chat',
      signals: [
        { name: 'user-correction', source: 'chat', score: 0, weight: 1, reason: 'the user corrected it' },
      ],
      digests: [],
    },
    source: 'chat',
  };
}

const CODE = /`([^`\n]{1,300})`/g;
const FENCED = /```\w*\n([\s\S]*?)```/g;
const ADDRESS = /\b[a-z]{2,8}:\/\/[^\s`)]+/g;

function literalsOf(content: string): readonly string[] {
  const fenced = [...content.matchAll(FENCED)].flatMap(([, block = '']) => block.split('\n'));
  const rest = content.replace(FENCED, '');
  const inline = [...rest.matchAll(CODE)].map(([, code = '']) => code);
  const plain = [...rest.replace(CODE, '').matchAll(ADDRESS)].map(([address]) =>
    address.replace(/[.,;:]+$/, ''),
  );
  return [...new Set([...fenced, ...inline, ...plain].map((one) => one.trim()).filter((one) => one !== ''))];
}

function proposalOf({ name, description, content }: HarmlessSkill, cases: readonly FailureCase[]): Proposal {
  const note = {
    ...{ keywords: [], tags: [], links: [], importance: 0.5, confidence: 1, halfLifeDays: 60 },
    ...({ source: 'experience', visibility: 'scoped' } as const),
  };
  const text = {
    ...{ name, description, content, category: 'coding', note, taint: [] },
    scope: { agent: 'coder', project: 'shop' },
    evidence: {
      turns: cases.map(({ turn }) => turn),
      quotes: [],
      learner: 'evolver',
      model: 'bench/evolver',
    },
  };
  return { change: { op: 'add', id: `lesson-${name}`, kind: 'skill', state: 'trial', text }, quotes: [] };
}
