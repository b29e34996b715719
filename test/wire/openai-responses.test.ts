import { openaiResponses as wire } from '../../src/wire/openai-responses/openai-responses.ts';
import { describeWire } from './wire-contract.ts';

// The format has no member for stop sequences, and none that marks a tool's result as an error.
describeWire(wire, new Set(['stop', 'tool-error']));
