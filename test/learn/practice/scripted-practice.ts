import { NOTHING_SPENT } from '../../../src/core/budget.ts';
import { systemClock } from '../../../src/core/clock.ts';
import type { Json } from '../../../src/core/json.ts';
import type { Answer, Ask, Question } from '../../../src/core/learn.ts';
import type { Library } from '../../../src/core/library.ts';
import type { Attempt, AttemptOrder, MakeAttempt, PracticeTask } from '../../../src/core/practice.ts';
import type { Records } from '../../../src/core/store.ts';
import { createAsk } from '../../../src/learn/ask.ts';
import { createGate } from '../../../src/learn/gate/gate.ts';
import { practice } from '../../../src/learn/practice/practice.ts';
import type {
  PracticeEvent,
  PracticeInput,
  PracticeResult,
} from '../../../src/learn/practice/practice-input.ts';
import { openPracticeJournal } from '../../../src/learn/practice/practice-journal.ts';
import { checkLessonText } from '../../../src/lessons/check-lesson-text.ts';
import { openLibrary } from '../../../src/lessons/library.ts';
import { toRecords } from '../../../src/record/records.ts';
import { createMemoryStore } from '../../../src/record/store/memory-store.ts';
