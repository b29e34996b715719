import type { PracticeTrainingCall, PracticeTrainingCalls } from '../../train/practice-training-calls.ts';

/** The calls, sent to the thread that answers them. */
export const sendPracticeCalls = (
  send: (call: PracticeTrainingCall) => Promise<unknown>,
): PracticeTrainingCalls => {
  const ask = async <T>(call: PracticeTrainingCall): Promise<T> => (await send(call)) as T;
  return {
    begin: (model) => ask({ call: 'begin', model }),
    tell: (event) => ask({ call: 'tell', event }),
    shortage: (clusters) => ask({ call: 'shortage', clusters }),
    generation: () => ask({ call: 'generation' }),
    end: () => ask({ call: 'end' }),
    reserve: (most, purpose) => ask({ call: 'reserve', most, purpose }),
    settle: (reservation, used) => ask({ call: 'settle', reservation, used }),
  };
};

/** `calls`: undefined when nothing is trained here. */
export async function answerPracticeCall(
  asked: PracticeTrainingCall,
  calls: PracticeTrainingCalls | undefined,
): Promise<unknown> {
  switch (asked.call) {
    case 'begin':
      return calls?.begin(asked.model);
    case 'tell':
      return calls?.tell(asked.event);
    case 'shortage':
      return calls?.shortage(asked.clusters);
    case 'reserve':
      return calls?.reserve(asked.most, asked.purpose);
    case 'settle':
      return calls?.settle(asked.reservation, asked.used);
    default:
      return calls?.[asked.call]();
  }
}
