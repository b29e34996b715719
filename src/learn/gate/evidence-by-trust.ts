import { setImmediate as takeTurn } from 'node:timers/promises';
import type { EvidenceCase, Origin, Passage, TurnMaterial } from '../../core/learn.ts';
import type { Taint } from '../../core/lesson.ts';
import { decodeUntrustedViews, foldText, unwrapped } from './normalize-text.ts';
import { addressesAnyAgent, splitFirstPartyText } from './outside-statements.ts';

/** A text that neither the user nor a verifier wrote, as far as can be told. */
export interface UntrustedText {
  readonly taint: Taint;
  /** Its decoded readings, normalized; the first is the text itself. */
  readonly views: readonly string[];
  /** As recorded. */
  readonly text: string;
  /** Written by an agent: only a long common run taints a lesson, or a sentence with the meaning of an outside statement. */
  readonly isAgent: boolean;
  /** Added by the person's program, which addresses the agent in every message: that alone taints nothing. */
  readonly isClient: boolean;
}

/** A text or a command of a session, in the order in which they came. */
export interface SessionEvent {
  readonly kind: 'own' | 'outside' | 'agent' | 'succeeded' | 'failed';
  /** Its lines, normalized, in every reading, with single blanks. */
  readonly lines: string;
}

export interface EvidenceByTrust {
  /** Text that people and verifiers wrote themselves, normalized. Only this may become an instruction. */
  readonly firstParty: readonly string[];
  /** The same with exit codes and error digests: text that a lesson may repeat. Programs choose their messages, so these may not instruct. */
  readonly trusted: readonly string[];
  /** What was said with the owner's key, and what verifiers said: it may teach what others may only propose. */
  readonly owners: readonly string[];
  readonly untrusted: readonly UntrustedText[];
  /** The sessions in order of time, to tell who brought a name or a command up first. */
  readonly events: readonly SessionEvent[];
  /** Why text that the model had cannot be compared; empty when all of it can. */
  readonly missing: readonly string[];
}

const SHORTEST_NOTE = 20;
const NOT_READ = 'what the model was given before its answer could not be read';

const without = (text: string, parts: readonly string[]): string =>
  parts.reduce((left, part) => left.split(part).join('\n'), text);

/** Whether text of this origin may become an instruction. */
export const isFirstParty = (origin: Origin): boolean =>
  origin === 'user' || origin === 'person' || origin === 'verifier';

/** What the gate compares a lesson with: all of the material, or what the learner was shown where there is no more. */
export const materialOf = ({ task, passages, material }: EvidenceCase): TurnMaterial =>
  material ?? {
    passages: [{ origin: 'user', text: task }, ...passages],
    commands: [],
    missing: [NOT_READ],
  };

/**
 * Sorts the recorded text by whether its author may give instructions. Text that people forwarded, and messages that address
 * agents in general, are untrusted: nobody addresses their own agent like that. Yields to the event loop between passages.
 */
export async function sortEvidenceByTrust(cases: readonly EvidenceCase[]): Promise<EvidenceByTrust> {
  const firstParty = new Set<string>();
  const owners = new Set<string>();
  const measured: string[] = [];
  const untrusted = new Map<string, UntrustedText>();
  const events: SessionEvent[] = [];
  const missing = new Set<string>();
  const addUntrusted = (text: string, taint: Taint, origin: Origin): UntrustedText => {
    const key = `${taint} ${origin === 'assistant'} ${text}`;
    const known = untrusted.get(key) ?? untrustedText(text, taint, origin);
    untrusted.set(key, known);
    return known;
  };
  const happened = (kind: SessionEvent['kind'], ...texts: readonly string[]): void => {
    events.push({ kind, lines: texts.flatMap((text) => text.split('\n').map(flatten)).join('\n') });
  };
  const materials = cases.toSorted((a, b) => a.at - b.at).map(materialOf);
  // Feedback on a turn is first-party text, also where a message of the conversation repeats it.
  const notes = materials
    .flatMap(({ passages }) => passages)
    .flatMap(({ origin, text }) => (origin === 'person' || origin === 'verifier' ? [text.trim()] : []))
    .filter((note) => note.length >= SHORTEST_NOTE);
  const addFirstParty = ({ text: message, origin, isOwners }: Passage): void => {
    const text = origin === 'user' ? without(message, notes) : message;
    const { own, pasted } = splitFirstPartyText(text, origin);
    const isTheirs = origin !== 'user' || !addressesAnyAgent(foldText(own));
    if (isTheirs) {
      firstParty.add(foldText(own));
      if (isOwners === true || origin === 'verifier') owners.add(foldText(own));
      happened('own', foldText(own));
    }
    const others = isTheirs ? pasted : text;
    if (others.trim() !== '') happened('outside', ...addUntrusted(others, 'web', 'web').views);
  };
  for (const { appraisal } of cases) {
    measured.push(...appraisal.digests.map(foldText));
    for (const { source, reason } of appraisal.signals)
      if (source !== 'judge') measured.push(foldText(reason));
  }
  const told = new Set<string>();
  for (const { passages, commands, missing: why } of materials) {
    for (const one of why) missing.add(one);
    let next = 0;
    const runUpTo = (index: number): void => {
      for (; next < commands.length && (commands[next]?.after ?? 0) <= index; next++) {
        const { text = '', isOk = false } = commands[next] ?? {};
        happened(isOk ? 'succeeded' : 'failed', foldText(text));
      }
    };
    for (const [index, passage] of passages.entries()) {
      const { origin, text, isOwners = false } = passage;
      runUpTo(index);
      // The turns of a session share their history.
      const key = `${origin} ${isOwners} ${text}`;
      if (told.has(key)) continue;
      told.add(key);
      await takeTurn();
      if (isFirstParty(origin)) addFirstParty(passage);
      else {
        const { views } = addUntrusted(text, origin === 'web' ? 'web' : 'tool', origin);
        happened(origin === 'assistant' ? 'agent' : 'outside', ...views);
      }
    }
    runUpTo(passages.length);
  }
  return {
    firstParty: [...firstParty],
    owners: [...owners],
    trusted: [...firstParty, ...measured],
    untrusted: [...untrusted.values()],
    events,
    missing: [...missing],
  };
}

/** A normalized text with single blanks. */
export const flatten = (folded: string): string => folded.split(/\s+/).join(' ').trim();

const untrustedText = (written: string, taint: Taint, origin: Origin): UntrustedText => {
  const text = unwrapped(written);
  return {
    taint,
    text,
    isAgent: origin === 'assistant',
    isClient: origin === 'client',
    views: decodeUntrustedViews(text),
  };
};
