import type { ChatModel, ChatRequest } from '../../src/core/chat.ts';
import type { Json } from '../../src/core/json.ts';
import { isAboutSame, readMatter } from '../../src/learn/distiller/matter.ts';
import { createScriptedModel } from '../../src/models/scripted-model.ts';
import { splitSentencesBeforeCapital } from '../../src/text/sentences.ts';
import { keywordsOf } from '../../src/text/topic-words.ts';
import { truncateMiddle } from '../../src/text/truncate.ts';

/**
 * A learner by script for practice: it answers the pipeline's questions by quoting the words of checks, and knows nothing but the
 * question. Of a group it quotes one line that worse attempts got and the best ones did not; it adds it to the notes unless they
 * have it, or beside a note on the same matter. It draws no conclusion of its own, where a language model would generalise.
 */
export const createQuotingLearner = (): ChatModel =>
  createScriptedModel((request) => JSON.stringify(answerOf(request)), 'quoting-learner');

function answerOf(request: ChatRequest): Json {
  const sections = readSections(request);
  const has = (label: RegExp): boolean => sections.some((section) => label.test(section.label));
  if (has(ATTEMPT)) return compareAttempts(sections);
  if (has(/^the new experience$/)) return placeExperience(sections);
  if (has(/^conflict \d/)) return decideConflicts(sections);
  return summarise(sections);
}

interface Section {
  readonly label: string;
  readonly text: string;
}

/** The recorded parts of a question, each between its marks. */
function readSections({ messages }: ChatRequest): readonly Section[] {
  const text = messages
    .flatMap(({ content }) => content.flatMap((part) => (part.type === 'text' ? [part.text] : [])))
    .join('\n');
  return [...text.matchAll(/^<<<([0-9a-f]+) ([^\n]*)\n([\s\S]*?)\n\1>>>$/gm)].map(
    ([, , label = '', inner = '']) => ({ label, text: inner }),
  );
}

const textOf = (sections: readonly Section[], label: string): string =>
  sections.find((section) => section.label === label)?.text ?? '';

const ATTEMPT = /^attempt (\d+), \w+ ([\d.]+)$/;
const VERIFIER = /^The verifier: (.+)$/m;
/** The lines of a check are joined by semicolons, and each of them is a sentence. */
const BETWEEN_REASONS = /(?<=[.!?]); /;
/** What was found in this one piece of work says nothing about the next. */
const IS_FINDING = /\bI saw\b/;

interface GradedText {
  readonly number: number;
  readonly reward: number;
  readonly said: readonly string[];
}

/** The line that most of the worse attempts got and none of the best ones did. */
function compareAttempts(sections: readonly Section[]): Json {
  const attempts = sections.flatMap(({ label, text }): readonly GradedText[] => {
    const [, number, reward] = ATTEMPT.exec(label) ?? [];
    if (number === undefined) return [];
    const words = VERIFIER.exec(text)?.[1] ?? '';
    const said = words.split(BETWEEN_REASONS).filter((line) => line !== '' && !IS_FINDING.test(line));
    return [{ number: Number(number), reward: Number(reward), said }];
  });
  const best = Math.max(...attempts.map(({ reward }) => reward));
  const avoided = new Set(attempts.flatMap(({ reward, said }) => (reward === best ? said : [])));
  const counts = new Map<string, number>();
  for (const { reward, said } of attempts)
    for (const line of reward < best ? said : [])
      if (!avoided.has(line)) counts.set(line, (counts.get(line) ?? 0) + 1);
  const [line] = [...counts].sort(([, a], [, b]) => b - a)[0] ?? [];
  if (line === undefined) return { situation: null };
  const task = textOf(sections, 'the task');
  return {
    situation: `${SAYS}${line}`,
    insight: line,
    keywords: [...keywordsOf(line, 8)],
    triggers: splitSentencesBeforeCapital(task)
      .map((sentence) => sentence.trim())
      .filter((sentence) => sentence.length > 12)
      .slice(-3),
    quotes: attempts
      .filter(({ said }) => said.includes(line))
      .slice(0, 1)
      .map(({ number }) => ({ attempt: number, text: line })),
  };
}

const SAYS = 'a check says: ';
const NOTE = /^(E\d+)( \(fixed\))?: (.+)$/;
/** Notes and experiences of ours have their first line twice: as the situation, and as the text. */
const EXPERIENCE = /^When a check says: (.+?): (\1[\s\S]*)$/;
const OWN_NOTE = /^When a check says: (.+?)\. (\1[\s\S]*)$/;
/** Lines of one note, in characters together: more of them say nothing new. */
const LONGEST_NOTE = 260;

/** Known words change nothing; other words on the matter of a note go beside it; everything else is new. */
function placeExperience(sections: readonly Section[]): Json {
  const experience = textOf(sections, 'the new experience');
  const line = EXPERIENCE.exec(experience)?.[2] ?? experience;
  const notes = textOf(sections, 'lessons that exist')
    .split('\n')
    .flatMap((note) => {
      const [, id, fixed, words = ''] = NOTE.exec(note) ?? [];
      const said = OWN_NOTE.exec(words)?.[2] ?? words;
      return id === undefined ? [] : [{ id, said, isOpen: fixed === undefined }];
    });
  if (notes.some(({ said }) => said.includes(line))) return [{ operation: 'NONE' }];
  const near = notes.find(({ said }) => isOnSameMatter(said, line));
  if (near === undefined || !near.isOpen) return [{ operation: 'ADD' }];
  // One line each, as they were said.
  const content = [...splitSentencesBeforeCapital(near.said), line].join('\n');
  return content.length > LONGEST_NOTE
    ? [{ operation: 'NONE' }]
    : [{ operation: 'UPDATE', id: near.id, content }];
}

/** Names with underscores, and runs of characters that ordinary sentences do not have. */
const MARK = /\p{L}+(?:_\p{L}+)+|_{2,}|[^\p{L}\p{N}\s_.,:;!'"()[\]{}/-]+/gu;

/** By their words, or by a mark that both have. */
function isOnSameMatter(said: string, line: string): boolean {
  const marks = new Set(said.match(MARK) ?? []);
  const isMarked = (line.match(MARK) ?? []).some((mark) => marks.has(mark));
  return isMarked || isAboutSame(readMatter(said), readMatter(line));
}

/** What the clearest contrast wants, in its own words. */
const decideConflicts = (sections: readonly Section[]): Json =>
  sections.flatMap(({ label, text }) => {
    const conflict = /^conflict (\d+)/.exec(label)?.[1];
    const operation = /^[A-Z]+/.exec(text)?.[0];
    return conflict === undefined || operation === undefined
      ? []
      : [{ conflict: Number(conflict), operation }];
  });

const LONGEST_STEPS = 900;

/** The words of the check are kept whole. */
function summarise(sections: readonly Section[]): Json {
  const told = textOf(sections, 'the attempt');
  const check = VERIFIER.exec(told)?.[0] ?? '';
  return { summary: `${truncateMiddle(told.replace(check, ''), LONGEST_STEPS).trim()}\n${check}`.trim() };
}
