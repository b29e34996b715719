/** What the followers of a log are told about a committed batch. */
export interface LogNotice {
  /** The head of the log before the batch and after it. */
  readonly from: number;
  readonly to: number;
  /** The types of its facts. Who needs none of them reads nothing. */
  readonly types: readonly string[];
}

/** The name of the channel as SQL: one for each schema. */
export const NOTICE_CHANNEL = `'instar_' || hashtext(current_schema())`;

/** There are a few dozen types: far below the 8,000 bytes that a notice may have. */
export const encodeNotice = ({ from, to, types }: LogNotice): string => `${from} ${to} ${types.join(',')}`;

/** Undefined for what is no notice of this version: then the log itself says what is new. */
export function decodeNotice(text: string): LogNotice | undefined {
  const [from = '', to = '', types = ''] = text.split(' ');
  if (!/^\d+$/.test(from) || !/^\d+$/.test(to)) return undefined;
  return { from: Number(from), to: Number(to), types: types === '' ? [] : types.split(',') };
}
