import { toAsyncStore } from '../../../src/record/store/async-store.ts';
import { createMemoryStore } from '../../../src/record/store/memory-store.ts';
import { describeErasing } from './erase-contract.ts';
import { describeStore } from './store-contract.ts';
import { describeVisibility } from './visibility-contract.ts';

const open = async () => toAsyncStore(createMemoryStore());
describeStore('memory', open);
describeErasing('memory', open);
describeVisibility('memory', open);
