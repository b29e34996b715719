/** The server's instructions for the model. */
export const INSTRUCTIONS = `Instar remembers what worked and what did not, and hands it on to later work.

- At the beginning of a task that takes more than one step: start_episode with the task in the user's words. It answers with lessons from earlier work. Follow them where they fit; what the user says comes first.
- After each try that could have gone otherwise, and after every error: log_attempt with what was done, what came of it, and whether it worked. Failures are worth the most.
- When the task is over: end_episode, once, with the outcome as it really is. A false success helps nobody.
- pull_experiences looks up lessons in the middle of the work, without an episode.
- give_feedback passes on what the user thinks of the work. It is not for judging your own.

Leave passwords, keys and private data out of everything you report.`;

export const START = `Begins an episode: one task, from its start to its outcome. Call it before the first step of a task that takes several. Answers with the episode's id, which the other calls need, and with the lessons from earlier work that fit the task.`;

export const ATTEMPT = `Reports one try within an episode: what was done, what came of it, whether it worked. Call it after each command, edit or approach that could have gone otherwise, above all when it failed. Give the error itself, not the whole output.`;

export const END = `Ends an episode with its outcome. Call it once, when the task is done, given up or handed back. What failed and then worked becomes a lesson for later work.`;

export const PULL = `Looks up the lessons from earlier work that fit a task, as they would be shown. Changes nothing. Use it when you are stuck, or before a step of a new kind. No lessons is an answer too: then nothing is known yet.`;

export const LIST = `Lists what has been learned, by name, with its state: proposed (waits for a person), trial (shown and measured), live, retired, rejected. Changes nothing. For the user's questions about what was learned; to get advice for a task use pull_experiences.`;

export const FEEDBACK = `Passes on what the user thinks of the work: a score from -1 (wrong) over 0 to 1 (right), best with the user's words as a note. Name what it is about by exactly one of episode, turn or session. Only when the user has said so; not to judge your own work.`;
