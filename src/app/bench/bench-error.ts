/** A benchmark cannot be run as it was asked for. */
export class BenchError extends Error {
  override readonly name = 'BenchError';
  readonly mend: string;

  constructor(message: string, mend: string) {
    super(message);
    this.mend = mend;
  }
}
