import { type EngineProfile, type StepInput, type StepOutput, TrainingError } from '../../core/training.ts';

const LARGEST_TOKEN = 2 ** 31 - 1;
const isToken = (token: number): boolean => Number.isInteger(token) && token >= 0 && token <= LARGEST_TOKEN;

/** Throws a TrainingError for a step that no server could do, before anything is sent. */
export function checkStepInput(input: StepInput, profile: EngineProfile): void {
  const refuse = (detail: string): never => {
    throw new TrainingError('user', detail);
  };
  if (!profile.losses.includes(input.loss)) refuse(`${profile.name} has no loss ${input.loss}`);
  if (input.data.length === 0) refuse('there is no data');
  for (const [name, value] of Object.entries(input.config ?? {}))
    if (!Number.isFinite(value)) refuse(`${name} is ${value}`);
  input.data.forEach((datum, i) => {
    const { tokens, targets, weights, advantages, logprobs } = datum;
    if (tokens.length === 0) refuse(`datum ${i} has no tokens`);
    if (tokens.length > profile.contextLength)
      refuse(`datum ${i} has ${tokens.length} tokens; the context length is ${profile.contextLength}`);
    if (!tokens.every(isToken) || !targets.every(isToken)) refuse(`datum ${i} has tokens that are not ids`);
    if (input.loss !== 'cross_entropy' && (advantages === undefined || logprobs === undefined))
      refuse(`datum ${i} has no advantages or no logprobs, which ${input.loss} needs`);
    const rows = { targets, weights, advantages: advantages ?? tokens, logprobs: logprobs ?? tokens };
    for (const [name, row] of Object.entries(rows)) {
      if (row.length !== tokens.length)
        refuse(`datum ${i} has ${tokens.length} tokens and ${row.length} ${name}`);
      if (!row.every(Number.isFinite)) refuse(`datum ${i} has ${name} that are not finite`);
    }
  });
}

/** Throws when the answer does not match the data that was sent. */
export function checkStepOutput(output: StepOutput, { data }: StepInput): StepOutput {
  const { logprobs } = output;
  if (logprobs.length !== data.length)
    throw new TrainingError(
      'server',
      `the server returned ${logprobs.length} outputs for ${data.length} data`,
    );
  data.forEach(({ tokens }, i) => {
    const length = logprobs[i]?.length;
    if (length !== tokens.length)
      throw new TrainingError(
        'server',
        `the server returned ${length} log-probabilities for the ${tokens.length} tokens of datum ${i}`,
      );
  });
  return output;
}
