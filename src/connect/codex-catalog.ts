import type { JsonObject } from '../core/json.ts';

/**
 * Codex has a built-in list of OpenAI's models. For any other name it prints "Model metadata for … not found" and assumes
 * values; a file named by `model_catalog_json` replaces the list. An entry states what Codex assumes for unknown models, since
 * nothing more is known of a model behind the gateway: no reasoning levels, no verbosity, plain tools.
 */
export const codexCatalog = (models: readonly string[]): readonly JsonObject[] =>
  models.map((model, index) => ({
    slug: model,
    display_name: `Instar ${model}`,
    description: 'Served by Instar.',
    supported_reasoning_levels: [],
    shell_type: 'unified_exec',
    visibility: 'list',
    supported_in_api: true,
    priority: index,
    availability_nux: null,
    upgrade: null,
    base_instructions: INSTRUCTIONS,
    supports_reasoning_summaries: false,
    supports_reasoning_summary_parameter: false,
    default_reasoning_summary: 'none',
    support_verbosity: false,
    default_verbosity: null,
    apply_patch_tool_type: null,
    truncation_policy: { mode: 'bytes', limit: 10_000 },
    supports_parallel_tool_calls: false,
    // A guess that fits most models. `model_context_window` in Codex' own settings overrides it, up or down.
    context_window: CONTEXT_WINDOW,
    experimental_supported_tools: [],
    input_modalities: ['text'],
  }));

export const CONTEXT_WINDOW = 128_000;

/** Codex requires a system prompt for every model in the list. */
const INSTRUCTIONS = `You are a coding agent running in the Codex CLI, a program for the terminal. You work in the user's folder and have tools to run commands there.

# How you work
- Keep going until the request is done, then stop. Ask only when you cannot find out yourself and a wrong guess would be costly.
- Look before you change anything: read the files that matter, and search with \`rg\` or \`rg --files\` where it exists.
- Follow the instructions of AGENTS.md files: one holds for its folder and everything below it; a deeper one wins; what the user says wins over all of them.
- Fix the cause, not the symptom. Keep changes small and in the style of the code around them. Change nothing that was not asked for.
- Edit files with \`apply_patch\` where you have it, else with the shell. Read a file again only when it may have changed.
- Never undo changes that you did not make. Do not commit, push or create branches unless you are asked to.
- Do not run anything destructive, such as \`git reset --hard\` or \`rm -rf\`, unless the user asked for exactly that.
- When there are tests, a build or a linter, run what fits your change, the narrowest first. Say so when you could not run them.
- Some commands need the user's approval, or are limited by a sandbox. When one fails for that reason, ask for it or take another way.

# How you write
- Before a group of commands, say in one sentence what you are about to do.
- At the end, say what you changed and where (\`path/file.ext:12\`), what you checked, and what is left. Be brief. No praise, no filler.
- Use plain text with short lists. Put commands, paths and names into backticks. Do not print whole files that you wrote.`;
