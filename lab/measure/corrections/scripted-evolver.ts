import type { ChatRequest } from '../../../src/core/chat.ts';
import { topicWords } from '../../../src/text/topic-words.ts';
import { oneLine } from '../../../src/text/visible-text.ts';

const LONGEST_RULE = 300;
const MOST_RULES = 4;
const LONGEST_LINE = 120;

/**
 * A learning model by script: it turns the user's last words in each recording into a skill. Its answers have the small faults
 * that models' answers have: prose around the JSON, a fence, a comma too many, a name with capitals, fields that are missing.
 */
export function writeScriptedLessons(request: ChatRequest): string {
  const prompt = request.messages
    .flatMap(({ content }) => content.map((part) => (part.type === 'text' ? part.text : '')))
    .join('\n');
  const recordings = readRecordings(prompt);
  const rules = [...new Set(recordings.map(({ said }) => said))].slice(-MOST_RULES);
  if (rules.length === 0) return 'There is nothing to learn here.\n\n```json\n[]\n```';
  const words = topicWords(rules.join(' ')).slice(0, 4);
  const quotes = recordings.map(({ turn, said }) => ({ turn, text: said.slice(0, LONGEST_RULE) }));
  const isNote = /Answer with one JSON object/.test(prompt) && !/Answer with a JSON list/.test(prompt);
  const answer = isNote
    ? {
        pattern: recordings[0]?.task ?? 'the same kind of task',
        keywords: words,
        insight: rules.join(' '),
        quotes,
      }
    : {
        name: words.map((word) => word[0]?.toUpperCase() + word.slice(1)).join(' '),
        description: `${rules[0]?.slice(0, LONGEST_LINE)} (${recordings[0]?.task ?? ''})`,
        content: [`# ${words.join(' ')}`, ...rules.map((rule, at) => `${at + 1}. ${rule}`)].join('\n'),
        triggers: recordings.map(({ task }) => task),
        quotes,
      };
  const json = JSON.stringify(answer, null, 2).replace(/\n\}$/, ',\n}');
  return `Here is what I would write down:\n\n\`\`\`json\n${isNote ? json : `[\n${json}\n]`}\n\`\`\`\n\nLet me know if it should be shorter.`;
}

interface Recording {
  readonly turn: string;
  readonly task: string;
  readonly said: string;
}

/** The fenced recordings of the question; the user's passages are marked with whose words they are. */
function readRecordings(prompt: string): readonly Recording[] {
  const starts = [...prompt.matchAll(/^<<<(\S+) [^\n]{0,200}?\bturn (\S+)[^\n]*$/gm)];
  return starts.flatMap((start, index) => {
    const [text = ''] = prompt
      .slice(start.index, starts[index + 1]?.index ?? prompt.length)
      .split(`${start[1]}>>>`, 1);
    const spoken = [...text.matchAll(/^\[(?:user|person)[^\]\n]{0,60}\] ?(.+)$/gm)].map(([, words = '']) =>
      oneLine(words),
    );
    const [task, said] = [spoken[0], spoken.at(-1)];
    const turn = (start[2] ?? '').replace(/[,;:]$/, '');
    return task === undefined || said === undefined ? [] : [{ turn, task: task.slice(0, 120), said }];
  });
}
