import { openaiChat } from '../../../src/wire/openai-chat/openai-chat.ts';
import { describeWire } from '../wire-contract.ts';

// A tool message has a call id and content, but no error flag.
describeWire(openaiChat, new Set(['tool-error'] as const));
