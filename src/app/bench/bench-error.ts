/** A benchmark cannot be run with these options. `fix` says what to change. */
export class BenchError extends Error {
  override readonly name = 'BenchError';
  readonly fix: string;

  constructor(message: string, fix: string) {
    super(message);
    this.fix = fix;
  }
}
