import type { SessionNews } from './run-session.ts';

/** Facts of a running session that people follow. */
export interface SessionProgress {
  run?: string;
  kind?: string;
  why?: string;
  tasks: number;
  attempts: number;
  graded: number;
  kept: number;
  groups: number;
  experiences: number;
  lost: number;
  pairs: number;
  decided: number;
  /** Groups that weights were trained on, and the pairs that new weights were compared on. */
  trained: number;
  compared: number;
  last?: string;
}

export const beginProgress = (): SessionProgress => ({
  tasks: 0,
  attempts: 0,
  graded: 0,
  kept: 0,
  groups: 0,
  experiences: 0,
  lost: 0,
  pairs: 0,
  decided: 0,
  trained: 0,
  compared: 0,
});

/** Adds one event to what people see. */
export function followSession(progress: SessionProgress, event: SessionNews): void {
  switch (event.type) {
    case 'session-planned':
      Object.assign(progress, { run: event.run, kind: event.kind, why: event.why, tasks: event.tasks });
      break;
    case 'attempt-made':
      progress.attempts++;
      if (event.is === 'graded') progress.graded++;
      break;
    case 'groups-kept':
      progress.kept += event.kept;
      progress.groups += event.of;
      break;
    case 'experience-found':
      progress.experiences++;
      progress.last = event.insight;
      break;
    case 'group-lost':
      progress.lost++;
      progress.last = event.why;
      break;
    case 'pairs-measured':
      progress.pairs++;
      break;
    case 'trial-decided':
      progress.decided++;
      break;
    case 'groups-trained':
      progress.trained += event.trained?.groups ?? 0;
      break;
    case 'weights-compared':
      progress.compared = event.pairs;
      break;
    default:
  }
}
