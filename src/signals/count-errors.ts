import { bothEnds, eachLine } from './lines.ts';

/** Lines of compilers and linters that are one error each. */
const ONE: readonly RegExp[] = [
  /\berror TS\d{4,5}:/,
  /^error(?:\[E\d{4}\])?: (?!test failed|aborting|could not compile)/,
  /^[^\s:]{1,200}:\d{1,7}(?::\d{1,7})?: (?:fatal )?error:/,
  /\berror (?:CS|C|LNK|FS|BC)\d{4,5}\b/,
  /^\s{1,8}\d{1,7}:\d{1,7}\s{1,8}error\s/,
  /^\.{0,2}\/?[\w./-]{1,200}\.go:\d{1,7}:\d{1,7}: /,
  /^e: (?:file:\/\/)?\S{1,200}\.kt:/,
  /^\S{1,200}\.py:\d{1,7}:(?:\d{1,7}:)? (?:error:|[A-Z]{1,4}\d{3,4} )/,
];
/** Lines that summarise a failed run. */
const WHOLE =
  /^(?:error: could not compile|error: test failed|make(?:\[\d+\])?: \*\*\* |BUILD FAILED|Build FAILED\.|FAILURE: Build failed|\[ERROR\] (?:Failed to execute goal|BUILD FAILURE)|ninja: build stopped|Found [1-9]\d* errors?|[1-9]\d* errors? generated|[1-9]\d* errors?$|✖ [1-9]\d* problems? \([1-9])/;

const TEXT_CAP = 200_000;

/** The number of errors that a compiler, a linter or a build printed; 0 for clean or other output. */
export function countErrors(text: string): number {
  let count = 0;
  let isFailed = false;
  eachLine(bothEnds(text, TEXT_CAP), (line) => {
    if (ONE.some((pattern) => pattern.test(line))) count++;
    else if (WHOLE.test(line)) isFailed = true;
    return undefined;
  });
  return count === 0 && isFailed ? 1 : count;
}
