import { setImmediate as takeTurn } from 'node:timers/promises';
import type { FailureCase, Origin } from '../../core/learn.ts';
import type { Taint } from '../../core/lesson.ts';
import { splitFirstPartyText } from './first-party-text.ts';
import { addressesAnyAgent } from './injection-phrases.ts';
import { decodeUntrustedViews, foldText, unwrapped } from './normalize-text.ts';

/** A text that neither the user nor a verifier wrote, as far as can be told. */
export interface UntrustedText {
  readonly taint: Taint;
  /** Its decoded readings, normalized; the first is the text itself. */
  readonly views: readonly string[];
  /** As recorded. */
  readonly text: string;
  /** Written by an agent: only a long common run taints a lesson, unless the agent repeats a tool. */
  readonly isAgent: boolean;
}

export interface EvidenceByTrust {
  /** Text that people and verifiers wrote themselves, normalized. Only this may become an instruction. */
  readonly firstParty: readonly string[];
  /** The same with exit codes and error digests: text that a lesson may repeat. Programs choose their messages, so these may not instruct. */
  readonly trusted: readonly string[];
  readonly untrusted: readonly UntrustedText[];
}

const SHORTEST_NOTE = 20;

const without = (text: string, parts: readonly string[]): string =>
  parts.reduce((left, part) => left.split(part).join('\n'), text);

/** Whether text of this origin may become an instruction. */
export const isFirstParty = (origin: Origin): boolean =>
  origin === 'user' || origin === 'person' || origin === 'verifier';

/**
 * Sorts the recorded text by whether its author may give instructions. Text that people forwarded, and messages that address
 * agents in general, are untrusted: nobody addresses their own agent like that. Yields to the event loop between passages.
 */
export async function sortEvidenceByTrust(cases: readonly FailureCase[]): Promise<EvidenceByTrust> {
  const firstParty: string[] = [];
  const measured: string[] = [];
  const untrusted = new Map<string, UntrustedText>();
  const addUntrusted = (text: string, taint: Taint, isAgent = false): void => {
    const key = `${taint} ${isAgent} ${text}`;
    if (!untrusted.has(key)) untrusted.set(key, untrustedText(text, taint, isAgent));
  };
  // Feedback on a turn is first-party text, also where a message of the conversation repeats it.
  const notes = cases
    .flatMap(({ passages }) => passages)
    .flatMap(({ origin, text }) => (origin === 'person' || origin === 'verifier' ? [text.trim()] : []))
    .filter((note) => note.length >= SHORTEST_NOTE);
  const addFirstParty = (message: string, origin: Origin): void => {
    const text = origin === 'user' ? without(message, notes) : message;
    const { own, pasted } = splitFirstPartyText(text, origin);
    const isTheirs = origin !== 'user' || !addressesAnyAgent(foldText(own));
    if (isTheirs) firstParty.push(foldText(own));
    const others = isTheirs ? pasted : text;
    if (others.trim() !== '') addUntrusted(others, 'web');
  };
  for (const { task, passages, appraisal } of cases) {
    addFirstParty(task, 'user');
    measured.push(...appraisal.digests.map(foldText));
    for (const { source, reason } of appraisal.signals)
      if (source !== 'judge') measured.push(foldText(reason));
    for (const { origin, text } of passages) {
      await takeTurn();
      if (isFirstParty(origin)) addFirstParty(text, origin);
      else addUntrusted(text, origin === 'web' ? 'web' : 'tool', origin === 'assistant');
    }
  }
  return { firstParty, trusted: [...firstParty, ...measured], untrusted: [...untrusted.values()] };
}

const untrustedText = (written: string, taint: Taint, isAgent: boolean): UntrustedText => {
  const text = unwrapped(written);
  return { taint, text, isAgent, views: decodeUntrustedViews(text) };
};
