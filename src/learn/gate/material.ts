import { setImmediate as takeTurn } from 'node:timers/promises';
import type { FailureCase, Origin } from '../../core/learn.ts';
import type { Taint } from '../../core/lesson.ts';
import { readStrangerViews } from './decode-text.ts';
import { foldText } from './fold-text.ts';
import { readSpoken } from './own-words.ts';
import { speaksToAnyAgent } from './speaks-to-agents.ts';
import { unwrapped } from './tokens.ts';

/** A text that strangers wrote, or may have. */
export interface Stranger {
  readonly taint: Taint;
  /** What it says, in every way in which it can be read; folded. The first is as it stands. */
  readonly views: readonly string[];
  /** As it was written. */
  readonly text: string;
  /** An agent's words: only a long run of them counts against a lesson, unless they repeat what a tool said. */
  readonly isAgent: boolean;
}

export interface Material {
  /** What people and verifiers said themselves; folded. Only this may be followed. */
  readonly spoken: readonly string[];
  /** The same with exit codes and digests: what may be repeated. Programs are named by strangers, so they ask for nothing. */
  readonly trusted: readonly string[];
  readonly strangers: readonly Stranger[];
}

const SHORTEST_NOTE = 20;

const without = (text: string, parts: readonly string[]): string =>
  parts.reduce((left, part) => left.split(part).join('\n'), text);

/** Whose words may become an instruction. */
export const isOwn = (origin: Origin): boolean =>
  origin === 'user' || origin === 'person' || origin === 'verifier';

/**
 * Sorts what was recorded by who may give orders. Of what people passed on, and of any message that turns to agents in
 * general, nothing counts as theirs: nobody speaks to their own agent like that. Others get their turn between passages.
 */
export async function readMaterial(cases: readonly FailureCase[]): Promise<Material> {
  const spoken: string[] = [];
  const measured: string[] = [];
  const strangers = new Map<string, Stranger>();
  const meet = (text: string, taint: Taint, isAgent = false): void => {
    const key = `${taint} ${isAgent} ${text}`;
    if (!strangers.has(key)) strangers.set(key, strangerOf(text, taint, isAgent));
  };
  // What someone said of a turn is theirs, also where a message of the conversation repeats it.
  const notes = cases
    .flatMap(({ passages }) => passages)
    .flatMap(({ origin, text }) => (origin === 'person' || origin === 'verifier' ? [text.trim()] : []))
    .filter((note) => note.length >= SHORTEST_NOTE);
  const listen = (message: string, origin: Origin): void => {
    const text = origin === 'user' ? without(message, notes) : message;
    const { own, pasted } = readSpoken(text, origin);
    const isTheirs = origin !== 'user' || !speaksToAnyAgent(foldText(own));
    if (isTheirs) spoken.push(foldText(own));
    const others = isTheirs ? pasted : text;
    if (others.trim() !== '') meet(others, 'web');
  };
  for (const { task, passages, appraisal } of cases) {
    listen(task, 'user');
    measured.push(...appraisal.digests.map(foldText));
    for (const { source, reason } of appraisal.signals)
      if (source !== 'judge') measured.push(foldText(reason));
    for (const { origin, text } of passages) {
      await takeTurn();
      if (isOwn(origin)) listen(text, origin);
      else meet(text, origin === 'web' ? 'web' : 'tool', origin === 'assistant');
    }
  }
  return { spoken, trusted: [...spoken, ...measured], strangers: [...strangers.values()] };
}

const strangerOf = (written: string, taint: Taint, isAgent: boolean): Stranger => {
  const text = unwrapped(written);
  return { taint, text, isAgent, views: readStrangerViews(text) };
};
