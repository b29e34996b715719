import type { Finding } from './stage-outcome.ts';

/** Ends an attempt, with its findings. Thrown by `fail` and `interrupt`. */
export class StageFailure extends Error {
  readonly findings: readonly Finding[];

  constructor(findings: readonly Finding[]) {
    super(findings.map(({ reason }) => reason).join('; '));
    this.name = 'StageFailure';
    this.findings = findings;
  }
}
