import { createRandom } from '../../src/base/random.ts';
import type { ChatRequest, Tool } from '../../src/core/chat.ts';
import type { TrainingTask } from '../../src/core/task-source.ts';
import { pickOne, shuffle } from './family.ts';

/* Requests that no rule is about: the policy's own replies to them, learned again, keep it as it was. None is among the questions that
   weights are measured on. */

/** A tool: its description, its arguments with their types, and how people ask for it. */
const TOOLS: readonly (readonly [name: string, about: string, args: string, asks: string])[] = [
  ['book_table', 'Books a table.', 'restaurant:string,people:integer', 'Book a table for {n} at {name}.'],
  ['play_song', 'Plays a song.', 'title:string', 'Play {name}. | I would like to hear {name} now.'],
  [
    'convert_units',
    'Converts lengths.',
    'value:number,from:string,to:string',
    'How many feet are {n} metres?',
  ],
  [
    'create_ticket',
    'Opens a ticket.',
    'title:string,priority:string',
    'Open a ticket: {name} is broken, urgent.',
  ],
  ['query_database', 'Runs a query.', 'sql:string', 'How many rows does the table {word} have?'],
  [
    'restart_service',
    'Restarts a service.',
    'service:string',
    'Restart {word}. | {word} hangs, restart it please.',
  ],
  [
    'translate',
    'Translates a text.',
    'text:string,language:string',
    'Say "good morning, {name}" in Spanish.',
  ],
  ['track_parcel', 'Finds a parcel.', 'number:string', 'Where is my parcel {n}{n}A? | Track {n}{n}A.'],
  ['set_thermostat', 'Sets a room.', 'room:string,degrees:number', 'Make the {word} {n} degrees.'],
  ['list_branches', 'Lists branches.', 'repository:string', 'Which branches does {word} have?'],
  ['delete_event', 'Removes an event.', 'title:string', 'Cancel {name}. | Remove {name} from my calendar.'],
  ['stock_price', 'The price of a share.', 'symbol:string', 'What does {name} trade at today?'],
  ['run_tests', 'Runs tests of a folder.', 'folder:string', 'Run the tests in {word}/.'],
  ['find_contact', 'Finds a person.', 'name:string', 'What is the number of {name}?'],
  ['resize_image', 'Resizes an image.', 'file:string,width:integer', 'Make {word}.png {n} pixels wide.'],
  ['lookup_word', 'Explains a word.', 'word:string', 'What does "{word}" mean? Look it up.'],
];
const NAMES =
  'Aurora,Bello,Canto,Dorado,Ember,Falke,Ginster,Harbour,Iris,Juniper,Kestrel,Lumen,Maple,Nord'.split(',');
const WORDS =
  'archive,billing,cellar,deploy,engine,frontend,garage,hallway,ingest,kitchen,ledger,mailer'.split(',');
const QUESTIONS = [
  'A shop sells {n} boxes of {m} pens. How many pens is that? Think step by step.',
  'A tank holds {n} litres and loses {m} litres a day. After how many full days is it empty?',
  'What is {n} plus {m}, times 2? Answer with the number.',
  'Name three uses of a {word} in one sentence each.',
  'Which is larger, {n} or {m}? Answer in one word.',
  'Write a Python function that returns the sum of a list without its largest {m} elements.',
  'Explain in two sentences what a hash table is.',
  'What is the capital of the country whose largest city is Sydney?',
  'Sort these numbers: {n}, {m}, 7, 12.',
  'Is this sentence in the past tense: "{name} walked home"? Answer yes or no.',
  'Write a regular expression for a time such as 09:{m}.',
  'What does HTTP status 404 mean?',
  'Give the opposite of "early", "empty" and "loud".',
  'If today is Wednesday, what day is it in {n} days?',
  'Rewrite politely: "Send me the {word} file now."',
  'Which gas do plants take in? A. oxygen B. carbon dioxide C. helium. Answer with the letter.',
  'A rectangle is {n} by {m}. What is its area? Show the calculation.',
  'Summarise in one sentence: {name} missed the train, waited an hour, and met an old friend.',
];

/** A longer reply may have been cut. */
const MOST_TOKENS = 200;

const toolOf = ([name, description, args]: (typeof TOOLS)[number]): Tool => {
  const pairs = args.split(',').map((one) => one.split(':'));
  return {
    name,
    description,
    parameters: {
      type: 'object',
      properties: Object.fromEntries(pairs.map(([key = '', type = 'string']) => [key, { type }])),
      required: pairs.map(([key = '']) => key),
    },
  };
};

/** Half of them ask for a tool. A reply counts that calls one of the tools, or says something. */
export function drawPlainTasks(count: number, seed: number): readonly TrainingTask[] {
  return Array.from({ length: count }, (_, at) => {
    const id = `plain/${seed}/${at}`;
    const random = createRandom(id);
    const fill = (text: string): string =>
      text
        .replaceAll('{name}', () => pickOne(random, NAMES))
        .replaceAll('{word}', () => pickOne(random, WORDS))
        .replaceAll('{n}', () => String(3 + random.below(60)))
        .replaceAll('{m}', () => String(2 + random.below(28)));
    const [asked, ...others] = shuffle(random, TOOLS);
    const wantsTool = at % 2 === 0 && asked !== undefined;
    const prompt = fill(wantsTool ? pickOne(random, asked[3].split(' | ')) : pickOne(random, QUESTIONS));
    const tools = wantsTool ? shuffle(random, [asked, ...others.slice(0, 2)]).map(toolOf) : [];
    const request: ChatRequest = {
      model: 'policy',
      system: wantsTool ? [{ type: 'text', text: 'Use the tools that you are given.' }] : [],
      messages: [{ role: 'user', content: [{ type: 'text', text: prompt }] }],
      tools,
      stream: false,
    };
    return {
      id,
      recall: { task: prompt },
      shown: { text: '' },
      open: async () => ({
        run: async ({ speak, session }, signal) => {
          const reply = await speak(request, { session, agent: 'practice', runKind: 'train' }, signal);
          if (reply.failure !== undefined) return { ok: false, why: reply.failure.message };
          const isSaid = wantsTool ? reply.calls.length > 0 : reply.text.trim() !== '';
          const isRight = isSaid && (reply.usage?.outputTokens ?? 0) < MOST_TOKENS;
          return { ok: true, reward: isRight ? 1 : 0, isComplete: isRight, answer: reply.text };
        },
        close: async () => undefined,
      }),
    };
  });
}
