/** Something about the benchmark's files that must be mended before a run means anything. Names file, field and mend. */
export class MetaclawDataError extends Error {
  override readonly name = 'MetaclawDataError';
}
