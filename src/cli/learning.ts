import { asArray, asObject } from '../core/json.ts';
import { confirmOwner } from './confirm-owner.ts';
import type { CommandAction, DeclareCommand } from './context.ts';
import { printWaiting } from './say-waiting.ts';
import { onApi } from './with-api.ts';

export const declareLearning: DeclareCommand = (learning, act) => {
  learning
    .command('status', { isDefault: true })
    .description('Show whether Instar learns, and what waits to be learned from.')
    .action(act(showLearning));
  learning
    .command('on')
    .description('Learn again; failures that waited are learned from.')
    .action(act(switchTo(true)));
  learning
    .command('off')
    .description('Write and change no lessons, and ask no model; lessons in use are still shown.')
    .action(act(switchTo(false)));
};

const showLearning = onApi(async (_options: object, { api, printer }) => {
  const learning = await api.learning();
  printer.document(learning);
  printer.line(`learning is ${learning.on === false ? 'off' : 'on'}`);
  printWaiting(
    printer,
    asArray(learning.waiting)
      .map(asObject)
      .filter(({ code, count }) => !(code === 'learning-off' && count === 0)),
    Date.now(),
  );
});

const switchTo = (on: boolean): CommandAction<object> =>
  onApi(async (_, context) => {
    const { api, printer } = context;
    const was = (await api.learning()).on !== false;
    // More freedom for what learns needs a person's word; less does not.
    if (on && !was) await confirmOwner(context, 'Let Instar learn again?');
    printer.document(was === on ? { on, was } : await api.switchLearning(on));
    if (was === on) return printer.line(`learning is ${on ? 'on' : 'off'} already`);
    if (on) return printer.line('learning is on: failures that waited are learned from');
    printer.line('learning is off: no lesson changes, no model is asked; serving goes on');
    printer.next('turn it on again with: instar learning on');
  }, true);
