import { createRandom } from '../src/base/random.ts';
import { renderBlock } from '../src/lessons/render-block.ts';
import { writeLesson } from '../src/learn/distiller/write-lesson.ts';
import { createLiveSkill } from './measure/recall/synthetic.ts';
import { DESK_FORMS, deskRule, tellRule } from './desk/desk-rules.ts';
import { drawDeskTask } from './desk/desk-tasks.ts';
import { DESK_SYSTEM, gradeDeskReply } from './desk/desk.ts';
const T = Number(process.argv[2]);
const which = process.argv[3];
let followed = 0, done = 0, n = 0;
for (const [at, form] of DESK_FORMS.entries()) {
  const random = createRandom(`probe ${at}`);
  const task = drawDeskTask(form.family, 'train', random);
  const rule = deskRule(form, 'train', 0);
  const said = tellRule(rule, 'train', 0);
  const asked = drawDeskTask(form.family, 'train', random).request;
  const lesson = createLiveSkill({ id: 'a', ...writeLesson({ speaker: 'user', count: 2, quotes: [said], tasks: [asked] }) });
  const block = which === 'none' ? '' : which === 'line' ? `## Rules\n- ${said}` : renderBlock([lesson]);
  const msgs = which === 'user' ? [{ role: 'system', content: DESK_SYSTEM }, { role: 'user', content: `${said}\n\n${task.request}` }] : [{ role: 'system', content: `${DESK_SYSTEM}\n\n${block}` }, { role: 'user', content: task.request }];
  const reply = await fetch('http://127.0.0.1:8099/v1/chat/completions', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ messages: msgs, max_tokens: 160, temperature: T }) });
  const { choices } = (await reply.json()) as { choices: { message: { content: string } }[] };
  const text = choices[0]?.message.content ?? '';
  const verdict = gradeDeskReply(text, task, [rule]);
  n++; followed += Number(verdict.broken.length === 0); done += Number(verdict.isDone);
  console.log(`== ${form.id} done ${verdict.isDone} followed ${verdict.broken.length === 0}\n${said}\n${task.request}\n${text}`);
}
console.log(`T ${T} ${which}: followed ${followed} done ${done} of ${n}`);
