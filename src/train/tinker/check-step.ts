import { type EngineProfile, type StepInput, type StepOutput, TrainingError } from '../../core/training.ts';

const LARGEST_TOKEN = 2 ** 31 - 1;
const isToken = (token: number): boolean => Number.isInteger(token) && token >= 0 && token <= LARGEST_TOKEN;

/** Throws what is wrong with a step that no server could do, before anything is sent. */
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
      refuse(`datum ${i} has ${tokens.length} tokens; the model reads ${profile.contextLength}`);
    if (!tokens.every(isToken) || !targets.every(isToken)) refuse(`datum ${i} has tokens that are no ids`);
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

/** Throws when the server answered for other data than it was sent. */
export function checkStepOutput(output: StepOutput, { data }: StepInput): StepOutput {
  const { logprobs } = output;
  if (logprobs.length !== data.length)
    throw new TrainingError(
      'server',
      `the server answered for ${logprobs.length} data instead of ${data.length}`,
    );
  data.forEach(({ tokens }, i) => {
    const length = logprobs[i]?.length;
    if (length !== tokens.length)
      throw new TrainingError(
        'server',
        `datum ${i} came back with ${length} log-probabilities for ${tokens.length} tokens`,
      );
  });
  return output;
}
