import { describe, expect, it } from 'vitest';
import { makeTaughtTasks } from '../../../lab/real-model/desk-training.ts';
import { gradeDeskReply } from '../../../lab/suites/desk/desk.ts';
import { DESK_FORMS, type DeskForm, deskRule } from '../../../lab/suites/desk/desk-rules.ts';
import {
  DESK_FAMILIES,
  type DeskFacts,
  type DeskTask,
  drawDeskTask,
  type FileFamily,
} from '../../../lab/suites/desk/desk-tasks.ts';
import { WIDE_FORMS } from '../../../lab/suites/desk/wide-forms.ts';
import { drawFileTask } from '../../../lab/suites/desk/wide-tasks.ts';
import { writeDeskFile } from '../../../lab/suites/desk/write-desk-file.ts';
import { createRandom } from '../../../src/base/random.ts';

const TOOL: Readonly<Record<string, string>> = {
  'tar|zip': 'tar -cf a.tar',
  du: 'du -sh',
  'cp|rsync': 'cp -r',
};

/** A file that does the task and follows no rule. */
function plainFile({ family, facts }: DeskTask<FileFamily>): string {
  const { name, title, text, url, person, news, image, run, program, port, folder, tools = '' } = facts;
  switch (family) {
    case 'shell':
      return `#!/bin/bash\n\n${TOOL[tools] ?? tools.split('|')[0]} "${folder}"`;
    case 'json':
      return JSON.stringify(
        { name, price: Number(facts.price), stock: Number(facts.stock), added: facts.date },
        null,
        2,
      );
    case 'html':
      return `<div>\n  <h2>${title}</h2>\n  <p>${text}</p>\n  <a href="${url}">More</a>\n</div>`;
    case 'csv':
      return ['name,count', ...(facts.things ?? '').split(', ').map((row) => row.replace(' ', ','))].join(
        '\n',
      );
    case 'mail':
      return `Subject: News\n\nDear ${person},\n\n${news}.\n\nBest regards,\nLou`;
    case 'docker':
      return `FROM ${image}\nWORKDIR /app\nCOPY . .\nEXPOSE ${port}\nCMD ["${run}", "${program}"]`;
    case 'javascript':
      return `function ${name}(input) {\n  if (!input) {\n    return input;\n  }\n  return input;\n}`;
    default:
      return writeDeskFile({ ...drawDeskTask(family, 'train', createRandom('plain')), facts }, []);
  }
}

const record = (
  file: string,
  change: (fields: Record<string, unknown>) => Record<string, unknown>,
): string => {
  const whole = JSON.parse(file) as Record<string, unknown>;
  const [key = ''] = Object.keys(whole);
  const inner = whole[key];
  const isWrapped = Object.keys(whole).length === 1 && typeof inner === 'object' && inner !== null;
  return JSON.stringify(isWrapped ? { [key]: change({ ...inner }) } : change(whole));
};
const lines = (file: string, change: (line: string, at: number) => string): string =>
  file.split('\n').map(change).join('\n');
/** The separator that a table has. */
const cut = (file: string): string => /^[\w-]+?([^\w-])/.exec(file)?.[1] ?? ',';
const ORDER: Readonly<Record<string, RegExp>> = {
  port: /\bport:/,
  'time-out': /timeout/,
  owner: /owner/,
  tracing: /tracing/,
};
const lastPoint = (file: string, { keys = '' }: DeskFacts): number => {
  const all = file.split('\n');
  return Math.max(...keys.split(' ').map((key) => all.findLastIndex((line) => line.includes(key))));
};

/** How a writer follows each form, as a change of a file. */
const FOLLOW: Readonly<Record<string, (file: string, value: string, facts: DeskFacts) => string>> = {
  'house-import': (file, v) => `from house import ${v}\n\n${file}`,
  'return-type': (file, v) => file.replace(/\):$/m, `) -> ${v}:`),
  decorator: (file, v) => file.replace(/^def/m, `@${v}\ndef`),
  'error-code': (file, v) => file.replace(/raise (\w+)\("/, `raise $1("${v}: `),
  'call-before-raise': (file, v) => file.replace(/^( *)raise/m, `$1${v}()\n$1raise`),
  'load-settings': (file, v) => file.replace('\n', `\n. /opt/${v}/env.sh\n`),
  'folder-variable': (file, v, { folder = '' }) =>
    file.replace(/^.*"\/.*$/m, (line) => `${v}="${folder}"\n${line.replace(folder, `$${v}`)}`),
  'last-echo': (file, v) => `${file}\necho "${v}"`,
  'command-prefix': (file, v, { tools }) => file.replace(new RegExp(`^(?=${tools})`, 'm'), `${v} `),
  'stage-label': (file, v) => file.replace('COPY', `LABEL stage="${v}"\nCOPY`),
  'work-folder': (file, v) => file.replace('/app', v),
  'user-before-start': (file, v) => file.replace('CMD', `USER ${v}\nCMD`),
  'stage-name': (file, v) => file.replace(/^FROM.*$/m, `$& AS ${v}`),
  'outer-class': (file, v) => file.replace('<div', `<div class="${v}"`),
  'link-rel': (file, v) => file.replace('<a', `<a rel="${v}"`),
  'text-element': (file, v) => file.replace('<p>', `<${v}>`).replace('</p>', `</${v}>`),
  'sign-before-link': (file, v) => file.replace('<a', `${v} <a`),
  'name-suffix': (file, v, { name }) => file.replace(`function ${name}`, `function ${name}${v}`),
  'first-statement': (file, v, { name }) =>
    file.replace(/\{\n( +)/, (_, indent: string) => `{\n${indent}${v}("${name}");\n${indent}`),
  indentation: (file, v) =>
    lines(file, (line) => line.replace(/^( {2})+/, (all) => ' '.repeat((all.length / 2) * Number(v)))),
  'result-name': (file, v) =>
    file.replaceAll('return input', `return ${v}`).replace(/\n( +)if/, `\n$1const ${v} = input;\n$1if`),
  'kind-field': (file, v) => {
    const indent = /^( *)port/m.exec(file)?.[1] ?? '';
    return `${file}\n${indent}kind: ${v}`;
  },
  'owner-address': (file, v, { owner = '' }) => file.replace(owner, `${owner.toLowerCase()}@${v}`),
  'root-key': (file, v) => `${v}:\n${lines(file, (line) => `  ${line}`)}`,
  'service-key': (file, v) => file.replace('service:', `${v}:`),
  'key-order': (file, v) => {
    const all = file.split('\n');
    const wanted = v.split(', ').map((name) => all.find((line) => ORDER[name]?.test(line)) ?? '');
    return [...all.filter((line) => !wanted.includes(line)), ...wanted].join('\n');
  },
  'team-word': (file, v) => lines(file, (line, at) => (at === 0 ? `${line} To the ${v}.` : line)),
  'line-between-points': (file, v) => file.replaceAll(/^(- .*)\n(?=- )/gm, `$1\n${v}\n`),
  week: (file, v) => lines(file, (line, at) => (at === 0 ? `${line} This is ${v}.` : line)),
  'line-after-points': (file, v, facts) => {
    const last = lastPoint(file, facts);
    return lines(file, (line, at) => (at === last ? `${line}\n${v}` : line));
  },
  'true-field': (file, v) => record(file, (fields) => ({ [v]: true, ...fields })),
  envelope: (file, v) => JSON.stringify({ [v]: JSON.parse(file) as unknown }),
  'price-unit': (file, v, { price }) => record(file, (fields) => ({ ...fields, price: `${price} ${v}` })),
  'field-count': (file, v) => record(file, (fields) => ({ ...fields, [v]: Object.keys(fields).length })),
  separator: (file, v) => file.replaceAll(',', () => v),
  'sum-row': (file, v, { things = '' }) => {
    const sum = things.split(', ').reduce((all, row) => all + Number(row.split(' ')[1]), 0);
    return `${file}\n${v}${cut(file)}${sum}`;
  },
  'row-number': (file, v) => {
    const sign = cut(file);
    return lines(file, (line, at) => (at === 0 ? `row${sign}${line}` : `${v}${at}${sign}${line}`));
  },
  'number-header': (file, v) => file.replace('count', v),
  'subject-end': (file, v) => file.replace('Subject: News', `Subject: News (${v})`),
  greeting: (file, v) => file.replace('Dear', v),
  'sign-off': (file, v) => file.replace('Best regards', v),
  postscript: (file, v) => `${file}\n\nP.S. ${v}`,
};

const follow = (form: DeskForm<FileFamily>, file: string, value: string, facts: DeskFacts): string =>
  FOLLOW[form.id]?.(file, value, facts) ?? file;
const taskFor = (family: FileFamily, seed: string): DeskTask<FileFamily> =>
  drawFileTask(family, 'train', createRandom(seed));
const WIDE_FAMILIES = [...new Set(WIDE_FORMS.map(({ family }) => family))];

describe('forms for wide training', () => {
  it.each(WIDE_FORMS.map((form) => [form.id, form] as const))(
    '%s: a file with a value is recognised, a plain one or one with another value is not',
    (id, form) => {
      expect(form.values).toHaveLength(9);
      for (const [nth, value] of form.values.entries())
        for (let draw = 0; draw < 4; draw++) {
          const task = taskFor(form.family, `${id}/${nth}/${draw}`);
          const plain = plainFile(task);
          const rule = { id, form, value };
          expect(gradeDeskReply(plain, task, [rule]), plain).toMatchObject({ isDone: true, passed: false });
          const followed = follow(form, plain, value, task.facts);
          expect(gradeDeskReply(followed, task, [rule]), followed).toMatchObject({
            isDone: true,
            passed: true,
          });
          const recognised = form.values.filter((one) => form.isFollowed(followed, one, task));
          expect(recognised, followed).toEqual([value]);
        }
    },
  );

  it('any two rules of a family can be followed together, also with the trained forms of the desk', () => {
    for (const [at, form] of WIDE_FORMS.entries()) {
      const task = taskFor(form.family, `pair/${form.id}`);
      const one = { id: form.id, form, value: form.values[at % 9] ?? '' };
      for (const other of WIDE_FORMS.filter(({ family, id }) => family === form.family && id > form.id)) {
        const two = { id: other.id, form: other, value: other.values[(at + 4) % 9] ?? '' };
        const write = (rules: readonly (typeof one)[]): string =>
          rules.reduce((file, rule) => follow(rule.form, file, rule.value, task.facts), plainFile(task));
        const passed = [write([one, two]), write([two, one])].filter(
          (file) => gradeDeskReply(file, task, [one, two]).passed,
        );
        expect(passed.length, `${form.id} and ${other.id}:\n${write([one, two])}`).toBeGreaterThan(0);
      }
      const held = ['owner-comment', 'port-mark', 'point-mark'];
      for (const desk of DESK_FORMS.filter(
        ({ family, id }) => family === form.family && !held.includes(id),
      )) {
        const own = drawDeskTask(desk.family, 'train', createRandom(`pair/${form.id}`));
        const two = deskRule(desk, 'train', at);
        const file = follow(form, writeDeskFile(own, [two]), one.value, own.facts);
        expect(gradeDeskReply(file, own, [one, two]).passed, `${desk.id} and ${form.id}:\n${file}`).toBe(
          true,
        );
      }
    }
  });

  it('the plain file of every task passes the check of its task, and a file of another family does not', () => {
    for (const family of WIDE_FAMILIES)
      for (let draw = 0; draw < 60; draw++) {
        const task = taskFor(family, `plain/${draw}`);
        expect(task.isDone(plainFile(task)), plainFile(task)).toBe(true);
        for (const other of WIDE_FAMILIES)
          if (other !== family) expect(task.isDone(plainFile(taskFor(other, `plain/${draw}`)))).toBe(false);
      }
  });

  it('shares no name and no value with the forms that reports measure, and no family with the houses', () => {
    const measured = new Set(DESK_FORMS.flatMap(({ id, values }) => [id, ...values]));
    expect(
      WIDE_FORMS.flatMap(({ id, values }) => [id, ...values]).filter((one) => measured.has(one)),
    ).toEqual([]);
    expect(new Set(WIDE_FORMS.map(({ id }) => id)).size).toBe(WIDE_FORMS.length);
    const wordings = WIDE_FORMS.flatMap((form) => form.wordings);
    expect(new Set(wordings).size).toBe(wordings.length);
    for (const family of ['sql', 'commit'] as const) expect(WIDE_FAMILIES).not.toContain(family);
    expect(WIDE_FAMILIES.filter((family) => !DESK_FAMILIES.some((one) => one === family))).toHaveLength(7);
  });

  it('mixes the families evenly in training, and each prompt states the value of each of its rules', () => {
    const tasks = makeTaughtTasks('wide', 480, 1, 'message');
    const counts = new Map<string, number>();
    for (const { rules, shown } of tasks) {
      const family = rules[0]?.form.family ?? '';
      counts.set(family, (counts.get(family) ?? 0) + 1);
      for (const { id, value } of rules) expect(shown.text, id).toContain(value);
    }
    expect([...counts.values()]).toEqual(Array.from({ length: 10 }, () => 48));
    const forms = new Set(tasks.flatMap(({ rules }) => rules.map(({ id }) => id)));
    expect(forms.size).toBe(WIDE_FORMS.length + 7);
    for (const held of ['owner-comment', 'port-mark', 'point-mark', 'schema', 'area-mark'])
      expect(forms).not.toContain(held);
  });
});
