import { type EngineProfile, type StepInput, TrainingError } from '../../core/training.ts';
import { encodeTrainCall, type WireKind } from './encode-train.ts';
import { sendRequest } from './send-request.ts';
import type { Wiring } from './wiring.ts';

/** Statuses of servers that do not read this format or have no such route. */
const OTHER_WIRE = new Set([404, 405, 415, 422]);
const WIRES: readonly WireKind[] = ['json', 'protobuf'];

/**
 * Which of the two wire formats a server takes, detected by sending a forward to a new model. The second is tried only when
 * the first was refused for its format.
 */
export async function findWire(
  wiring: Wiring,
  modelId: string,
  tokens: readonly number[],
): Promise<WireKind> {
  const datum = { tokens, targets: tokens, weights: tokens.map(() => 1) };
  const input: StepInput = { data: [datum], loss: 'cross_entropy' };
  const reasons: string[] = [];
  for (const wire of WIRES) {
    const profile: EngineProfile = { ...wiring.profile, wire };
    const call = encodeTrainCall({ modelId, seq: 1, input, forwardOnly: true }, wire, profile);
    const sent = await sendRequest(
      { ...wiring, profile },
      { call, encode: () => call, isLarge: true, redo: 'same', signal: wiring.closing },
    );
    if (sent.kind === 'taken') {
      const outcome = await sent.outcome;
      if (outcome.kind === 'result') return wire;
      throw outcome.kind === 'failed' || outcome.kind === 'lost'
        ? outcome.error
        : new TrainingError('unknown', 'the connection was closed');
    }
    if (sent.kind !== 'refused' || !OTHER_WIRE.has(sent.status)) throw sent.error;
    reasons.push(`${wire}: ${sent.error.message}`);
  }
  throw new TrainingError('user', `the server takes a forward in neither format: ${reasons.join('; ')}`);
}
