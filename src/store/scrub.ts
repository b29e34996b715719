import type { Fact } from '../core/fact.ts';

/**
 * A fact without its quoted text: a reward's note, an event's data, a failure's message, a project's label, and the keys of
 * bodies (the text behind the hash of a short text can be guessed). Ids, times, counts and scores stay. The same object when
 * it quotes nothing. Its JSON never becomes longer: erasing overwrites the old one.
 */
export function scrubFact(fact: Fact): Fact {
  switch (fact.type) {
    case 'turn-start': {
      const { request, project, ...rest } = fact;
      if (request === undefined && !project?.label) return fact;
      return project === undefined ? rest : { ...rest, project: { id: project.id, label: '' } };
    }
    case 'turn-end': {
      const { failure, request, reply, ...rest } = fact;
      return failure === undefined && request === undefined && reply === undefined ? fact : rest;
    }
    case 'reward-given': {
      const { note, ...rest } = fact;
      return note === undefined ? fact : rest;
    }
    case 'lessons-recalled': {
      const { block, after, first, ...rest } = fact;
      return block === undefined && after === undefined && first === undefined ? fact : rest;
    }
    case 'turn-appraised':
      return fact.signals.length === 0 && fact.digests.length === 0
        ? fact
        : { ...fact, signals: [], digests: [] };
    case 'turn-sampled': {
      const { tokens, ...rest } = fact;
      return tokens === undefined ? fact : rest;
    }
    case 'session-marked':
      return fact.reason === '' ? fact : { ...fact, reason: '' };
    case 'event-reported':
      return Object.keys(fact.data).length === 0 ? fact : { ...fact, data: {} };
    default:
      return fact;
  }
}

/** Whether a fact belongs to this session, directly or through one of its turns. */
export function concerns(fact: Fact, session: string, isItsTurn: (turn: string) => boolean): boolean {
  switch (fact.type) {
    case 'turn-end':
      return isItsTurn(fact.turn);
    case 'reward-given':
      return fact.session === session || (fact.turn !== undefined && isItsTurn(fact.turn));
    case 'library-changed':
    case 'cycle-end':
    case 'schedule-changed':
    case 'job-leased':
    case 'job-checkpointed':
    case 'job-ended':
    case 'policy-moved':
      return false;
    default:
      return fact.session === session;
  }
}
