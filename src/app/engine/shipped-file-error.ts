/** A file that ships with Instar is missing or was changed. The message names it and the fix. */
export class ShippedFileError extends Error {
  override readonly name = 'ShippedFileError';
  readonly what: string;
  readonly fix = 'install Instar again';

  constructor(what: string, options?: ErrorOptions) {
    super(`${what}; install Instar again`, options);
    this.what = what;
  }
}
