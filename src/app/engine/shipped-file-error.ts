/** A file that comes with Instar is missing or is not what was shipped. The message says which, and what mends it. */
export class ShippedFileError extends Error {
  override readonly name = 'ShippedFileError';
  readonly what: string;
  readonly mend = 'install Instar again';

  constructor(what: string, options?: ErrorOptions) {
    super(`${what}; install Instar again`, options);
    this.what = what;
  }
}
