import { neutraliseLine } from '../base/printable.ts';

/** One problem of the setup, where it is, and how to fix it. */
export interface Problem {
  /** Where: a path in the config such as `providers.openai.baseUrl`, a file, or a variable. */
  readonly path: string;
  readonly what: string;
  readonly fix?: string;
}

const renderProblem = (problem: Problem): string =>
  neutraliseLine(`${problem.path}: ${problem.what}${problem.fix === undefined ? '' : ` (${problem.fix})`}`);

/** The setup is invalid. Carries every problem; the message has one line per problem and can be printed as it is. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[], file?: string) {
    const count = problems.length === 1 ? 'a problem' : `${problems.length} problems`;
    const lines = problems.map(renderProblem);
    super(
      file === undefined
        ? lines.join('\n')
        : [`${neutraliseLine(file)} has ${count}:`, ...lines.map((line) => `  ${line}`)].join('\n'),
    );
    this.problems = problems;
  }
}
