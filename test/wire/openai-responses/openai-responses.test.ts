import { openaiResponses as wire } from '../../../src/wire/openai-responses/openai-responses.ts';
import { describeWire } from '../wire-contract.ts';

// The format has neither stop sequences nor an error flag for tool results.
describeWire(wire, new Set(['stop', 'tool-error']));
