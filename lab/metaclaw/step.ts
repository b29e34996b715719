import type { FieldPath } from './field-path.ts';

/** A file that a command names, or the program whose output names it. */
export type FileName = { readonly name: string } | { readonly code: string };

/** One link of a check: a line of Python, or a call of one of the five checkers. */
export type Step =
  | { readonly kind: 'python'; readonly code: string }
  | { readonly kind: 'iso8601'; readonly file: FileName; readonly fields: readonly FieldPath[] }
  | { readonly kind: 'filename'; readonly file: FileName }
  | {
      readonly kind: 'filename';
      readonly folder: string;
      readonly extension: string;
      readonly minCount: number;
    }
  | { readonly kind: 'metadata'; readonly file: FileName; readonly type?: string }
  | { readonly kind: 'backup'; readonly file: FileName }
  | {
      readonly kind: 'done-log';
      readonly file: FileName;
      readonly minEntries: number;
      readonly taskPrefix?: string;
    };
