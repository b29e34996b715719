import { createMemoryStore } from '../../../src/record/store/memory-store.ts';
import { describeErasing } from './erase-contract.ts';
import { describeStore } from './store-contract.ts';

describeStore('memory', createMemoryStore);
describeErasing('memory', createMemoryStore);
