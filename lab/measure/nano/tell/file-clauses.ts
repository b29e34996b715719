import type { Clauses } from './value-clauses.ts';

/* What a rule on fields, keys, names and other files asks for; see value-clauses. */

const NEW_FILE =
  '[a new file|every new file|each new file|any new file|a file you create|each file that you make|new files|the files you make]';
const A_NEW_FILE =
  '[a new file|every new file|each new file|any new file|a file you create|each document you make|whatever you create]';
const TO_NEW = '[to|in|into]';

export const FIELD: Clauses = {
  imp: [
    `[add|put|write|give|insert|include] [a field|a key|the key|] {key} [with the value|with|saying|that says|of] {what} ${TO_NEW} ${NEW_FILE}{place}`,
    `[let|have] ${A_NEW_FILE} say {key} {what}{place}`,
    `[state|note|record|mention|store|keep] {what} as {key} in ${NEW_FILE}{place}`,
    `[state|note|record|mention|store|keep] {what} under {key} in ${NEW_FILE}{place}`,
    `set {key} to {what} in ${NEW_FILE}{place}`,
  ],
  s: [
    `${A_NEW_FILE} [has|says|carries|needs|gets|includes|must have] {key} with {what}{place}`,
    `${A_NEW_FILE} [has|carries|needs|gets|must have] {what} [as|under] {key}{place}`,
    `{key} [is|says|reads|holds|must be|must say] {what} in ${NEW_FILE}{place}`,
    `there is [a key|a field] {key} in ${NEW_FILE}, with {what} in it{place}`,
  ],
  np: [
    `{key} with {what} in ${NEW_FILE}{place}`,
    `{what} [under|as] {key} in ${NEW_FILE}{place}`,
    `[a field|a key] {key} that [says|holds|has] {what}{place}`,
  ],
};

export const HEADER: Clauses = {
  imp: [
    `[start|begin|open|head] ${NEW_FILE} with {shown}`,
    `[put|write|place|set] {shown} [first|at the top|on top|before everything else] in ${NEW_FILE}`,
    `let ${A_NEW_FILE} [start|begin|open] with {shown}`,
  ],
  s: [
    `${A_NEW_FILE} [starts|begins|opens] with {shown}`,
    `{shown} [comes|stands|goes|is] [first|at the top|on top|ahead of all else] in ${NEW_FILE}`,
    `the first [key|line|thing|entry] of ${A_NEW_FILE} is {shown}`,
  ],
  np: [
    `{shown} [at the top of|on top of|at the head of|as the first key of] ${NEW_FILE}`,
    `${NEW_FILE} with {shown} [first|on top]`,
  ],
};

export const RENAME: Clauses = {
  imp: [
    `[call|name] the [key|field] {to}[, not|, never| and not| instead of] {from}`,
    `[use|write|put|take|type] [the key |]{to} [instead of|in place of|rather than|where you had|for|not] {from}`,
    `[rename|change|turn] [the key |]{from} [to|into] {to}`,
    `[replace|exchange|swap] [the key |]{from} [by|for|with] {to}`,
  ],
  s: [
    `the [key|field] {from} [is|is called|is named|goes by|must be called|should be] {to}`,
    `{to} [is|is the name of|is the key for|is how we call|stands for] [the field |]{from}`,
    `what [the task calls|you call|you named] {from} is {to} [here|with us|in our files]`,
    `we [say|write|use] {to} [for|and not|where others say] {from}`,
  ],
  np: ['{to} [instead of|in place of|and not] {from} as [a|the] key', 'the key {to}[, not| and not] {from}'],
};

export const ORDERED: Clauses = {
  imp: [
    `[sort|order|arrange|rank|line up|list] @n {order}`,
    `[put|bring|write|get|set] @n [in|into] order, {order}`,
    `[use|keep|follow] this order for @n: {order}`,
  ],
  s: [
    `the order of @n is {order}`,
    `@p [are sorted|are ordered|are arranged|run|go|stand|line up|come] {order}`,
    `@p [have|keep|follow|want] an order: {order}`,
  ],
  np: ['@n [sorted|ordered|arranged|ranked] {order}', '@n in order, {order}', 'this order of @n: {order}'],
};

export const JOINED: Clauses = {
  imp: [
    `[join|connect|glue|string together|link|chain|combine] @n [by|with] {separator}`,
    `[write|put|give|type|store] @n as one [text|string|line] with {separator} [between|in between|between them]`,
    `[put|place|set] {separator} between [the single|] @n, [no list|in one text|and make it one text]`,
  ],
  s: [
    `@p are [one|a single] [text|string], {separator} [between|in between|between them]`,
    `@p are [joined|connected|linked|glued together] [by|with] {separator}`,
    `{separator} [stands|goes|comes|belongs] between @n, [in one text|not a list|all in one string]`,
  ],
  np: [
    '@n as one [text|string] with {separator} between',
    '@n [joined|connected|glued] by {separator}',
    '{separator} between @n instead of a list',
  ],
};

const EACH_FILE = '[each|every|any|a] file';
export const KEEP_OLD: Clauses = {
  imp: [
    `[copy|save|keep|duplicate] ${EACH_FILE} under its name with {suffix} {side} it before [you change it|you edit it|a change|any edit]`,
    `[make|take|leave|keep] a copy of ${EACH_FILE} with {suffix} {side} its name before [you change it|you edit it|touching it]`,
    `[cp|copy] the old file first, with {suffix} {side} its name, [then|and only then] [change|edit] it`,
  ],
  s: [
    `a copy with {suffix} {side} the name [is made|is kept|is there|exists] before ${EACH_FILE} is [changed|edited|touched]`,
    `no file is [changed|edited|touched] without a copy first, {suffix} {side} its name`,
    `${EACH_FILE} [has|gets|needs] a copy with {suffix} {side} its name before it is [changed|edited]`,
  ],
  np: [
    `a copy of the old file with {suffix} {side} its name[, made first|, made before the change|, before any edit]`,
    `the old version, [saved|kept|copied] with {suffix} {side} its name [first|before the edit|beforehand]`,
  ],
};

const OVER =
  '[when a task is over|at the close of a task|when you are through|after the work|once a task is complete|last of all]';
export const LOGGED: Clauses = {
  imp: [
    `[append|add|write|put|enter] {line} [to|into] {file} ${OVER}`,
    `[log|note|record|enter] [each|every] task in {file} as {line}`,
  ],
  s: [
    `{file} [gets|has|receives|needs|must have] [the line|a line|one line] {line} ${OVER}`,
    `[each|every] task [adds|leaves|puts|ends with] {line} [in|into|to] {file}`,
    `${OVER}, {file} [gets|has|receives] {line}`,
  ],
  np: [`{line} in {file} ${OVER}`, `[a line|the line|one line] {line} in {file} for [each|every] task`],
};

export const LISTED: Clauses = {
  imp: [
    `[list|note|enter|register|record|mention] ${NEW_FILE} in {file} as {line}`,
    `[append|add|write|put] {line} [to|into] {file} for ${NEW_FILE}`,
  ],
  s: [
    `${A_NEW_FILE} [has|gets|needs|leaves] [a|its] line in {file}, {line}`,
    `{file} [gets|has|lists|receives|needs] {line} for ${NEW_FILE}`,
    `${A_NEW_FILE} is [listed|noted|entered|registered] in {file} as {line}`,
  ],
  np: [`{line} in {file} for ${NEW_FILE}`, `[a line|an entry] {line} in {file} on ${NEW_FILE}`],
};

const ALL_FILES =
  '[the files of a task, one by one,|any file touched by you|all files you wrote or changed|what you made or changed|files that were created or edited]';
export const SUMS: Clauses = {
  imp: [
    `[write|put|enter|carry] the sha256 [sum|] of ${ALL_FILES} [to|into] {file}`,
    `[run|use] sha256sum on ${ALL_FILES} and [append|add] the [result|line] to {file}`,
    `[note|record|list|keep] the sha256sum of ${ALL_FILES} in {file}`,
  ],
  s: [
    `{file} [has|gets|needs|collects|holds|lists] the sha256 [sum|] of ${ALL_FILES}`,
    `the sha256 [sum|] of ${ALL_FILES} [goes|belongs|comes|is kept] [into|in] {file}`,
  ],
  np: [`the sha256 [sum|] of ${ALL_FILES} in {file}`, `{file} with a sha256 line for ${ALL_FILES}`],
};

export const ABOUT_BLOCK: Clauses = {
  imp: [
    `[add|put|write|include] {time}, {author} and {state} under {under} ${TO_NEW} ${NEW_FILE}, {state} [being|is|as] one of {states}`,
    `[let|have] ${A_NEW_FILE} hold {under} with {time}, {author} and {state}; {state} [is|may be|can be] {states}`,
  ],
  s: [
    `${A_NEW_FILE} [has|needs|gets|carries|holds] {under} with {time}, {author} and {state}, one of {states}`,
    `{under} in ${NEW_FILE} [has|holds|says|lists] {time}, {author} and {state} ({states})`,
  ],
  np: [
    `{under} with {time}, {author} and {state} ({states}) in ${NEW_FILE}`,
    `{time}, {author} and {state} under {under}, {state} one of {states}`,
  ],
};

export const NAMED_BY: Clauses = {
  imp: [
    `[call|name] ${NEW_FILE} by date and words, {date} and {words}`,
    `[use|write|put] {date} for the date and {words} for the words in [a name|names] for ${NEW_FILE}`,
    `[build|make|compose] [a name|names] for ${NEW_FILE} from {date} and {words}`,
  ],
  s: [
    'the date in a file name is {date}, its words are in {words}',
    `${A_NEW_FILE} is [called|named] by {date} and {words}`,
    `dates in [file names|names of files] are {date}, [words|the words] are {words}`,
  ],
  np: [
    `{date} for the date and {words} for the words of a file name`,
    `[a name|names] with {date} and {words} for ${NEW_FILE}`,
  ],
};

/** A line in another file, at a time that `{when}` names. */
export const STEP_LINE: Clauses = {
  imp: [
    '[append|add|write|put|enter] {line} [to|into] {file} {when}',
    '[leave|note|record] {line} in {file}, {when}',
  ],
  s: [
    '{file} [gets|has|receives|needs|must have] [the line|a line|one more line,] {line} {when}',
    '{when}, {file} [gets|receives|needs] {line}',
    '[a line|the line] {line} [goes|belongs|comes] [into|to] {file} {when}',
  ],
  np: ['{line} in {file}, {when}', '[a line|the line] {line} in {file}, {when}'],
};

/** The words of a file name. */
export const NAME_JOINT: Clauses = {
  imp: [
    '[join|connect|link|separate] the words of @n [by|with] {sign}',
    '[put|write|use|type] {sign} between the words of @n',
  ],
  s: [
    'the words of @n are [joined|connected|separated] [by|with] {sign}',
    '{sign} [stands|goes|comes|belongs] between the words of @n',
    '@s has {sign} between its words',
  ],
  np: ['{sign} between the words of @n', '@n with {sign} between its words'],
};

export const NAME_TURNED: Clauses = {
  imp: [
    '[turn round|reverse] the words of @n',
    '[put|write] the kind of document first in @n, then the [topic|rest]',
    '[start|begin] @n with the kind of document',
  ],
  s: [
    'the kind of document [comes|stands|goes] first in @n, [the topic|then the topic] [last|behind it]',
    'the words of @n [stand|come|go] in the opposite order',
  ],
  np: ['@n with the kind of document first', '@n with its words in the opposite order'],
};

export const SUBFOLDER: Clauses = {
  imp: [
    '[put|place|store|keep|file] new files [one level deeper, in|into a folder] {folder} [inside the folder that was named|of the folder that was named|below the given folder]',
    '[use|take|make] a subfolder {folder} for new files',
  ],
  s: [
    'new files [go|belong|live|are kept] in the subfolder {folder} of the [given folder|folder that was named]',
    'the place of a new file is a folder {folder} inside the [given one|one that was named]',
  ],
  np: ['a subfolder {folder} for new files', 'new files one level deeper, in {folder}'],
};

export const ENDING: Clauses = {
  imp: [
    '[use|take|write|give] {ending} as the file ending of new files[, not .json|]',
    '[change|turn] the ending .json of new files [to|into] {ending}',
  ],
  s: [
    'the [file ending|extension] of a new file is {ending}[, not .json| and not .json]',
    'new files have the [file ending|extension] {ending} in place of .json',
  ],
  np: ['{ending} as the file ending of new files', 'the extension {ending} in place of .json'],
};

export const COPY_OLD: Clauses = {
  imp: [
    'copy the old file [to|into] [the folder |]{folder}{name} before [a change|an edit|you change it]',
    '[save|keep|store|put] the old version of a file in [the folder |]{folder}{name}, before [you change it|the edit]',
  ],
  s: [
    'the old version of a file [goes|belongs] into [the folder |]{folder}{name}, before it is [changed|edited]',
    '[the folder |]{folder} [gets|has|needs] a copy of the file before it is [changed|edited]{name}',
  ],
  np: [
    'a copy of the old file in [the folder |]{folder}{name}',
    'the old version in [the folder |]{folder}{name}, first',
  ],
};

export const EDIT_MARK: Clauses = {
  imp: [
    'set {key} to {what} in the same file after a change',
    '[note|write|put|set] {what} as {key} in every JSON file that you change',
    '[mark|stamp] a changed file: {key} is {what}',
  ],
  s: [
    'a JSON file that you change [gets|has|carries|needs] {key} with {what}',
    'an edited file says {what} under {key}',
    'with [each|every] change in a file goes another: {key} [becomes|is set to] {what}',
  ],
  np: ['{key} with {what} in each file that you change', '{what} under {key} in edited files'],
};
