/** Where the answer stands in a reply; by default in a box (`\boxed{…}`), after "answer:", or the whole reply. */
interface AnswerPlace {
  /** `answer`: the boxed text or the text after "answer:", else the whole reply. */
  readonly from?: 'answer' | 'whole' | undefined;
  /** A JSON pointer into the reply's JSON, such as `/total/amount`. */
  readonly field?: string | undefined;
  /** A pattern; its first group, or else the whole match, is the answer. The last match counts. */
  readonly pattern?: string | undefined;
}

type ExpectedText = string | number;

/** The right answers: one for every task of the domain, or one for each of several tasks. */
interface ExpectedAnswers {
  readonly expected?: ExpectedText | readonly ExpectedText[] | undefined;
  readonly answers?:
    | readonly {
        /** Text that the request contains; case and white space do not matter. */
        readonly task: string;
        readonly expected: ExpectedText | readonly ExpectedText[];
      }[]
    | undefined;
}

/** One configured verifier: the domains whose answers it grades (`*` stands for anything), its kind and its options. */
export type VerifierRow = { readonly domain: string } & (
  | ({
      readonly kind: 'exact';
      readonly isCaseSensitive?: boolean | undefined;
      /** `answer`: where a bare number is expected, the number in the answer counts. `exact`: the whole text. */
      readonly match?: 'answer' | 'exact' | undefined;
    } & AnswerPlace &
      ExpectedAnswers)
  | ({
      readonly kind: 'number';
      /** As a share of the expected number. */
      readonly tolerance?: number | undefined;
      readonly absoluteTolerance?: number | undefined;
    } & AnswerPlace &
      ExpectedAnswers)
  | {
      readonly kind: 'regex';
      readonly pattern: string;
      readonly flags?: string | undefined;
      /** `contains`: it matches anywhere. */
      readonly match?: 'contains' | 'whole' | undefined;
    }
  | { readonly kind: 'schema'; readonly schema: unknown }
  | {
      readonly kind: 'rubric';
      readonly criteria: readonly { readonly text: string; readonly weight?: number | undefined }[];
    }
  | { readonly kind: 'module'; readonly file: string }
);

/** Verifiers that compare attempts or look at what an attempt left behind: a recorded turn has neither. */
export type PracticeVerifierRow = { readonly domain: string } & (
  | {
      readonly kind: 'command';
      /** A program with its arguments, or a line for the shell. */
      readonly command: string | readonly string[];
      /** `plain`: the built-in shell without programs, for machines that cannot confine processes. */
      readonly shell?: 'confined' | 'plain' | undefined;
      readonly expectExit?: number | undefined;
      /** Text that the output must contain. */
      readonly expectStdout?: string | undefined;
      readonly timeoutMs?: number | undefined;
      readonly outputBytes?: number | undefined;
      /** A folder with the command's files: readable at its own path, as `$CHECKS`, and hidden from the attempt. */
      readonly checks?: string | undefined;
      /** Whether a time-out of the check is a grade of 0 or no grade. */
      readonly timeoutFails?: boolean | undefined;
    }
  | { readonly kind: 'comparative' }
);
