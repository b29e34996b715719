import type { Random } from '../../../src/base/random.ts';
import { pick } from '../../suites/workdays/draw.ts';
import { newWord } from './placeholders.ts';

const OPENINGS: readonly string[] =
  `What is|Who was|How do I|Can you|Please|Tell me about|Explain|Why does|Write a poem about|Translate|Give me a recipe for|Summarise|
  Where is|When did|Help me with|Is there|Do you know|Compare|List ten|Fix this code for|Write a function that handles|Plan a trip to|
  Draw|Calculate|Hello, how is|I feel sad about|What do you think of|Recommend a book on|Debug|Refactor|Describe|Which is better,|
  Hi there, talk about|Sing|Count|Prove|Solve|Invent a name for|Review my letter about|Continue the story of|Good morning, any news on|
  Should I buy|Convert|Remind me of|Play|Search the web for|Open|Deploy|Book|Order|Teach me|Imagine|Define`
    .split('|')
    .map((one) => one.trim());
const THINGS: readonly string[] =
  `the capital of France|a black hole|the weather|a good dinner|quantum physics|my cat|the stock market|football|a bicycle|the French
  revolution|photosynthesis|my resume|machine learning|a linked list|a regular expression|Python|the moon|Shakespeare|a divorce|taxes|the
  meaning of life|chess|a trip to Japan|coffee|the human heart|climate change|a wedding speech|this sentence|prime numbers|a joke|the
  news|music|a birthday present|my back pain|a sorting algorithm|Bitcoin|the Roman empire|a haiku|dogs|dinosaurs|an email to my boss|a
  logo|gravity|my password|a horror story|two plus two|the square root of 144|a business plan|vegetables|love|tomorrow|a database|the
  kernel|docker|a web page|the president|an elephant|Paris|cancer|sleep|a song|lunch|numbers|files|a task|a report|JSON|a new file|the board|
  a ticket|our rules|the log`
    .split('|')
    .map((one) => one.trim().replace(/\s+/g, ' '));
const ENDINGS = [
  '.',
  '?',
  '',
  '!',
  ' please.',
  ' in short.',
  ' for me.',
  ' today?',
  ', thanks.',
  ' in detail.',
  ' now.',
];

/** A text that is not a task of the suite: small talk, other work, or nonsense. */
export function makeForeignTask(random: Random): string {
  const luck = random.next();
  if (luck < 0.08)
    return pick(random, [
      'Hi',
      'Hello',
      'Hey!',
      'Thanks',
      'ok',
      'test',
      'ping',
      'Help',
      'Who are you?',
      'What can you do?',
    ]);
  const sentence = () => {
    const thing = random.next() < 0.25 ? words(random, 1 + random.below(4)) : pick(random, THINGS);
    return `${pick(random, OPENINGS)} ${thing}${pick(random, ENDINGS)}`;
  };
  if (luck < 0.7) return sentence();
  if (luck < 0.85) return `${sentence()} ${sentence()}`;
  const said = words(random, 3 + random.below(30));
  return `${said.charAt(0).toUpperCase()}${said.slice(1)}${pick(random, ENDINGS)}`;
}

const words = (random: Random, count: number): string =>
  Array.from({ length: count }, () =>
    random.next() < 0.4 ? pick(random, THINGS).split(' ').at(-1) : newWord(random),
  ).join(' ');
