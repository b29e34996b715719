"""Makes test/policy/models and test/policy/vectors.json: small tokenizers, and what transformers writes with them.

    python3 -m venv v && v/bin/pip install transformers==5.22.2 tokenizers==0.23.3 jinja2
    v/bin/python test/policy/make-vectors.py && npx biome check --write test/policy
"""

import json
import pathlib

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

HERE = pathlib.Path(__file__).parent
CORPUS = [
    "The quick brown fox jumps over the lazy dog. You are a helpful assistant, and you may call functions.",
    "system user assistant tool ipython Hello there, how are you today? I am fine, thank you for asking.",
    'run_command {"name": "run_command", "arguments": {"command": "ls -la"}} "parameters" "type": "object" "string"',
    "for i in range(10):\n    print(i)\n\nThe file has 120 lines; 45 were changed on 2026-11-15.",
    "Environment: ipython Today Date: 15 Nov 2026 <tools></tools> <tool_response> Answer with a JSON object",
    "Größe, naïve café, 東京, привет мир, emoji 🙂 and a tab\there.",
] * 4
SPLIT = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)


def byte_level(special, plain, size):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Split(Regex(SPLIT), "isolated"), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]
    )
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    tokenizer.train_from_iterator(CORPUS, trainers.BpeTrainer(vocab_size=size, initial_alphabet=alphabet, show_progress=False))
    tokenizer.add_special_tokens([AddedToken(text, normalized=False) for text in special])
    tokenizer.add_tokens([AddedToken(text, normalized=False) for text in plain])
    return tokenizer


def metaspace(size):
    """As SentencePiece does it: spaces are a sign of their own, and a text begins with one."""
    tokenizer = Tokenizer(models.BPE(byte_fallback=True, unk_token="<unk>", fuse_unk=True))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="first", split=False)
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    special = ["<unk>", "<s>", "</s>"] + [f"<0x{byte:02X}>" for byte in range(256)]
    tokenizer.train_from_iterator(CORPUS, trainers.BpeTrainer(vocab_size=size, special_tokens=special, show_progress=False))
    data = json.loads(tokenizer.to_str())
    # Bytes are words of the model, not tokens that structure a text.
    data["added_tokens"] = [one for one in data["added_tokens"] if not one["content"].startswith("<0x")]
    return Tokenizer.from_str(json.dumps(data))


TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "run_command",
            "description": "Runs a command & returns what it printed.",
            "parameters": {
                "type": "object",
                "properties": {"command": {"type": "string"}, "timeout": {"type": "integer", "minimum": 1}},
                "required": ["command"],
            },
        },
    }
]
system = {"role": "system", "content": "You are a helpful assistant."}


def user(text):
    return {"role": "user", "content": text}


def said(text, *calls):
    message = {"role": "assistant", "content": text}
    if calls:
        message["tool_calls"] = [
            {"id": id, "type": "function", "function": {"name": "run_command", "arguments": arguments}} for id, arguments in calls
        ]
    return message


def told(id, text):
    return {"role": "tool", "tool_call_id": id, "name": "run_command", "content": text}


listing = [user("List the files."), said("", ("c1", {"command": "ls -la", "timeout": 5})), told("c1", 'total 0\n"a".txt')]
CONVERSATIONS = {
    "one question": ([user("Hello there, how are you?")], None),
    "system and several turns": ([system, user("Hi"), said("Hello!"), user("Größe? 東京 🙂\n\n\ttab  two"), said("  spaced  "), user("2026-11-15 12345")], None),
    "a tool is offered": ([system, user("What is in this folder?")], TOOLS),
    "a call and its result": ([system, *listing], TOOLS),
    "a call, its result, an answer, a question": ([*listing, said("One file."), user("Thanks, and now?")], TOOLS),
    "text before a call": ([user("Go"), said("I look.", ("c1", {"command": 'grep "x\\n" é'})), told("c1", "")], TOOLS),
    "two calls at once": ([user("Go"), said("", ("c1", {"command": "ls"}), ("c2", {"command": "pwd"})), told("c1", "a"), told("c2", "/b")], TOOLS),
    "thoughts of an earlier turn": ([user("Go"), said("<think>\nhm\n</think>\n\nDone."), user("Sure?")], None),
}
QWEN_MARKS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
LLAMA_MARKS = ["<|begin_of_text|>", "<|end_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eom_id|>", "<|eot_id|>", "<|python_tag|>"]
MODELS = {
    "qwen": (byte_level(QWEN_MARKS, ["<tool_call>", "</tool_call>", "<think>", "</think>"], 420), None, "<|im_end|>", ["<|im_end|>", "<|endoftext|>"]),
    "llama": (byte_level(LLAMA_MARKS, [], 400), "<|begin_of_text|>", "<|eot_id|>", ["<|end_of_text|>", "<|eom_id|>", "<|eot_id|>"]),
    "metaspace": (metaspace(440), "<s>", "</s>", ["</s>"]),
}

vectors = {}
for name, (tokenizer, bos, eos, stops) in MODELS.items():
    template = (HERE / "templates" / f"{name}.jinja").read_text().rstrip("\n")
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token=bos, eos_token=eos, chat_template=template)
    rows = []
    for title, (messages, tools) in CONVERSATIONS.items():
        kwargs = {"date_string": "15 Nov 2026"} if name == "llama" else {}
        for extra in [{}, {"enable_thinking": False}] if name == "qwen" else [{}]:
            try:
                text = fast.apply_chat_template(messages, tools=tools, add_generation_prompt=True, tokenize=False, **kwargs, **extra)
            except Exception as refusal:
                rows.append({"title": title, "messages": messages, "tools": tools, "variables": extra, "refusal": str(refusal)})
                continue
            ids = tokenizer.encode(text, add_special_tokens=False).ids
            taken = fast.apply_chat_template(messages, tools=tools, add_generation_prompt=True, return_dict=False, **kwargs, **extra)
            assert list(taken) == ids, title
            rows.append({"title": title, "messages": messages, "tools": tools, "variables": extra, "ids": ids})
    texts = CORPUS[:6] + ["", " ", "\n\n  x", "a  b   c", "e\u0301", "1234567", "I'll WE'RE", "<|im_end|> in a text", "\u200b🙂🏽"]
    vectors[name] = {
        "conversations": rows,
        "texts": [{"text": text, "ids": tokenizer.encode(text, add_special_tokens=False).ids} for text in texts],
    }
    folder = HERE / "models" / name
    folder.mkdir(parents=True, exist_ok=True)
    config = {"tokenizer_class": "PreTrainedTokenizerFast", "eos_token": eos, "clean_up_tokenization_spaces": name == "llama"}
    if bos is not None:
        config["bos_token"] = {"content": bos, "special": True}
    if name == "llama":
        (folder / "chat_template.jinja").write_text(template)
    else:
        config["chat_template"] = template
    (folder / "tokenizer.json").write_text(tokenizer.to_str())
    (folder / "tokenizer_config.json").write_text(json.dumps(config))
    if name != "metaspace":
        generation = {"eos_token_id": [tokenizer.token_to_id(text) for text in stops], "max_new_tokens": 512}
        (folder / "generation_config.json").write_text(json.dumps(generation))
(HERE / "vectors.json").write_text(json.dumps(vectors, ensure_ascii=False))
for name, rows in vectors.items():
    refused = sum("refusal" in row for row in rows["conversations"])
    print(name, len(rows["conversations"]), "conversations,", refused, "refused,", len(rows["texts"]), "texts")
