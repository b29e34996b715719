/** Another daemon serves this home; it is named in the home's record. */
export class HomeTakenError extends Error {
  override readonly name = 'HomeTakenError';
}
