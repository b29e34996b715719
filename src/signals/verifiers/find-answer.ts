/** The answer in an output, and whether it was marked as such. */
export interface FoundAnswer {
  readonly text: string;
  readonly isMarked: boolean;
}

const MARK = /\banswer\s{0,3}(?:is\b|:|=)[\s*_:]{0,6}/gi;

/** The last box (`\boxed{…}`), else the line after the last "answer:" or "answer is", else the whole output. */
export function findAnswer(output: string): FoundAnswer {
  const boxed = lastBox(output);
  if (boxed !== undefined) return { text: boxed.trim(), isMarked: true };
  const mark = [...output.matchAll(MARK)].at(-1);
  if (mark === undefined) return { text: output.trim(), isMarked: false };
  const line = output.slice(mark.index + mark[0].length).split('\n', 1)[0] ?? '';
  return { text: line.replace(/[\s*_]{1,20}$/, '').trim(), isMarked: true };
}

function lastBox(output: string): string | undefined {
  const start = Math.max(lastEnd(output, '\\boxed{'), lastEnd(output, '\\bbox{'));
  if (start < 0) return undefined;
  let depth = 1;
  for (let at = start; at < output.length; at++) {
    if (output[at] === '{') depth++;
    else if (output[at] === '}' && --depth === 0) return output.slice(start, at);
  }
  return undefined;
}

const lastEnd = (output: string, opening: string): number => {
  const at = output.lastIndexOf(opening);
  return at < 0 ? -1 : at + opening.length;
};
