import type { Random } from '../../../src/base/random.ts';
import { between, fill, pick, some } from '../workdays/draw.ts';
import type { Split } from '../workdays/world.ts';
import {
  type DeskFacts,
  type DeskTask,
  drawDeskTask,
  type FileFamily,
  type WideFamily,
} from './desk-tasks.ts';

/** A kind of small file: what people ask for, and whether a file is that. */
interface FamilyOfFiles {
  readonly requests: readonly string[];
  drawFacts(random: Random): DeskFacts;
  isDone(file: string, facts: DeskFacts): boolean;
}

const JOBS: readonly (readonly [job: string, tools: string])[] = [
  ['packs the folder {folder} into an archive', 'tar|zip'],
  ['counts the files in {folder}', 'wc|find|ls'],
  ['deletes files in {folder} that are older than {days} days', 'find|rm'],
  ['shows how much space {folder} takes', 'du'],
  ['copies {folder} to /mnt/copy', 'cp|rsync'],
  ['lists the ten newest files in {folder}', 'ls|find'],
  ['makes the files in {folder} read-only', 'chmod|find'],
  ['finds the word "urgent" in the files of {folder}', 'grep'],
];
const FOLDERS = [
  '/srv/photos',
  '/home/lena/mail',
  '/var/lib/stock',
  '/data/scans',
  '/opt/music',
  '/srv/maps',
];
const ARTICLES = ['teapot', 'ladder', 'hammock', 'kettle', 'easel', 'anvil', 'lantern', 'barrow', 'trellis'];
const PAGES: readonly (readonly [title: string, text: string, url: string])[] = [
  ['Opening hours', 'we are open until six', '/hours'],
  ['Summer school', 'places are left in July', '/summer'],
  ['Bike repair', 'bring your bike in the morning', '/bikes'],
  ['Guided walks', 'we meet at the bridge', '/walks'],
  ['Lost property', 'found things are kept for a month', '/lost'],
  ['Choir evening', 'new voices are welcome', '/choir'],
  ['Garden plots', 'three plots are free', '/plots'],
  ['Seed library', 'take a bag and bring one back', '/seeds'],
];
const COUNTED: readonly (readonly [kind: string, ...things: string[]])[] = [
  ['birds', 'heron', 'robin', 'magpie', 'wren', 'swift'],
  ['tools', 'chisel', 'mallet', 'plane', 'clamp', 'rasp'],
  ['fruits', 'quince', 'medlar', 'plum', 'damson', 'pear'],
  ['boats', 'dinghy', 'ferry', 'kayak', 'sloop', 'canoe'],
  ['fabrics', 'linen', 'felt', 'denim', 'velvet', 'tweed'],
];
const PEOPLE = ['Marta', 'Yusuf', 'Greta', 'Ilse', 'Kofi', 'Dario', 'Freya', 'Nils', 'Samir', 'Wanda'];
const NEWS: readonly (readonly [news: string, key: string])[] = [
  ['the parcel has arrived', 'parcel'],
  ['the meeting moves to Thursday', 'meeting'],
  ['the garage is full', 'garage'],
  ['her visa was granted', 'visa'],
  ['the course starts in May', 'course'],
  ['the boiler needs a new valve', 'boiler'],
  ['the tickets are sold out', 'tickets'],
  ['the photos are ready', 'photos'],
];
const IMAGES: readonly (readonly [image: string, program: string, run: string])[] = [
  ['python:3.12-slim', 'app.py', 'python'],
  ['node:20', 'server.js', 'node'],
  ['ruby:3.3', 'main.rb', 'ruby'],
  ['php:8.3-cli', 'index.php', 'php'],
  ['perl:5.38', 'serve.pl', 'perl'],
  ['python:3.11', 'worker.py', 'python'],
  ['node:22-alpine', 'bot.js', 'node'],
];
const SCRIPTS: readonly (readonly [name: string, what: string])[] = [
  ['reverseText', 'returns a text backwards'],
  ['sumEven', 'returns the sum of the even numbers of an array'],
  ['countWords', 'returns how many words a text has'],
  ['lastItem', 'returns the last element of an array'],
  ['isPalindrome', 'says whether a text reads the same backwards'],
  ['flattenOnce', 'flattens an array by one level'],
  ['toTitle', 'returns a text with each word capitalised'],
  ['maxOf', 'returns the largest number of an array'],
  ['pickKeys', 'returns an object with only the given keys'],
];

const hasAll = (file: string, ...parts: readonly (string | undefined)[]): boolean =>
  parts.every((part) => part !== undefined && file.toLowerCase().includes(part.toLowerCase()));
const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The object that a JSON file has, or undefined: a model's file may be anything. */
export function readJsonFile(file: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(file);
    return isObject(value) ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** The record of a JSON file, also inside an envelope: an object with one key. */
export function readJsonRecord(file: string): Readonly<Record<string, unknown>> | undefined {
  const whole = readJsonFile(file);
  const [only, ...others] = Object.values(whole ?? {});
  return others.length === 0 && isObject(only) ? only : whole;
}

const WIDE: Readonly<Record<WideFamily, FamilyOfFiles>> = {
  shell: {
    requests: [
      'Write a shell script that {job}.',
      'I need a bash script. It {job}.',
      'Shell script, please: it {job}.',
    ],
    drawFacts: (random) => {
      const folder = pick(random, FOLDERS);
      const [job, tools] = pick(random, JOBS);
      return { folder, tools, job: fill(job, { folder, days: between(random, 3, 60) }) };
    },
    isDone: (file, { folder, tools }) => hasAll(file, folder) && new RegExp(`\\b(?:${tools})\\b`).test(file),
  },
  json: {
    requests: [
      'Write a JSON record for the article {name}: price {price}, {stock} in stock, added on {date}.',
      'JSON for one article, please: name {name}, price {price}, stock {stock}, date {date}.',
      'The {name} as a JSON object: it costs {price}, we have {stock} of it, since {date}.',
    ],
    drawFacts: (random) => ({
      name: pick(random, ARTICLES),
      price: `${between(random, 11, 89)}.${between(random, 1, 9)}5`,
      stock: String(between(random, 101, 899)),
      date: `2028-0${between(random, 1, 9)}-${between(random, 10, 28)}`,
    }),
    isDone: (file, { name, stock }) => readJsonRecord(file) !== undefined && hasAll(file, name, stock),
  },
  html: {
    requests: [
      'Write an HTML fragment with the heading "{title}", a line that says {text}, and a link to {url}.',
      'HTML snippet: heading {title}; text: {text}; link: {url}. No whole page.',
      'A small piece of HTML, please. Heading "{title}", below it that {text}, then a link to {url}.',
    ],
    drawFacts: (random) => {
      const [title, text, url] = pick(random, PAGES);
      return { title, text, url };
    },
    isDone: (file, { title, url }) =>
      hasAll(file, title) && new RegExp(`<a\\b[^>]*href=["']${url}["']`).test(file) && /<h[1-6]\b/.test(file),
  },
  csv: {
    requests: [
      'Write a CSV table of {kind} and their numbers: {things}.',
      'CSV with a header, please: the {kind} {things}.',
      'We counted {kind}: {things}. Put it into a CSV file.',
    ],
    drawFacts: (random) => {
      const [kind, ...things] = pick(random, COUNTED);
      const rows = some(random, things, 3).map((thing) => `${thing} ${between(random, 12, 98)}`);
      return { kind, things: rows.join(', ') };
    },
    isDone: (file, { things }) =>
      (things ?? '').split(', ').every((row) => {
        const [thing = '', number = ''] = row.split(' ');
        return new RegExp(`^.*\\b${thing}\\b.*(?<!\\d)${number}(?!\\d)`, 'im').test(file);
      }),
  },
  mail: {
    requests: [
      'Write a short e-mail to {person}: {news}. With a subject line.',
      'E-mail to {person}, subject and all: tell them that {news}.',
      'Please draft an e-mail (subject, text) that tells {person} that {news}.',
    ],
    drawFacts: (random) => {
      const [news, key] = pick(random, NEWS);
      return { person: pick(random, PEOPLE), news, key };
    },
    isDone: (file, { person, key }) => hasAll(file, person, key) && /^subject:/im.test(file),
  },
  docker: {
    requests: [
      'Write a Dockerfile: base image {image}, it runs {program} and listens on port {port}.',
      'Dockerfile for {program}, please. Image {image}, port {port}.',
      'I want to run {program} in a container based on {image}, port {port}. The Dockerfile?',
    ],
    drawFacts: (random) => {
      const [image, program, run] = pick(random, IMAGES);
      return { image, program, run, port: String(between(random, 3000, 9800)) };
    },
    isDone: (file, { image, program }) =>
      new RegExp(`^FROM\\s+\\S*${image}\\b`, 'im').test(file) &&
      /^(?:CMD|ENTRYPOINT)\b/m.test(file) &&
      hasAll(file, program),
  },
  javascript: {
    requests: [
      'Write a JavaScript function {name} that {what}.',
      'I need a JavaScript function called {name}: it {what}.',
      'JavaScript please: {name}, which {what}.',
    ],
    drawFacts: (random) => {
      const [name, what] = pick(random, SCRIPTS);
      return { name, what };
    },
    // A rule may add to the name.
    isDone: (file, { name }) =>
      new RegExp(`(?:function\\s+|(?:const|let|var)\\s+)${name}\\w*`).test(file) &&
      /\breturn\b|=>/.test(file),
  },
};

/** A task of any family. The wide ones have no split: they are trained on and never reported. */
export function drawFileTask(family: FileFamily, split: Split, random: Random): DeskTask<FileFamily> {
  if (!isWideFamily(family)) return drawDeskTask(family, split, random);
  const { requests, drawFacts, isDone } = WIDE[family];
  const facts = drawFacts(random);
  const request = fill(pick(random, requests), facts);
  return { family, facts, request, isDone: (file) => isDone(file, facts) };
}

const isWideFamily = (family: FileFamily): family is WideFamily => Object.hasOwn(WIDE, family);
