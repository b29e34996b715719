import { type EngineProfile, type StepInput, TrainingError } from '../../core/training.ts';
import { encodeTrainCall, type WireKind } from './encode-train.ts';
import { sendRequest } from './send-request.ts';
import type { Wiring } from './wiring.ts';

/** How servers say that they do not read a body, or have no route for it. */
const OTHER_WIRE = new Set([404, 405, 415, 422]);
const WIRES: readonly WireKind[] = ['json', 'protobuf'];

/**
 * Which of the two wires a server takes a forward in, by sending one to a new model. The second is tried only when the
 * first was refused for its form.
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
  throw new TrainingError('user', `the server takes a forward in neither wire; ${reasons.join('; ')}`);
}
