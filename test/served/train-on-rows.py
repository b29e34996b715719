"""Reads exported rows as training programs do: `datasets` loads them, TRL trains one step on them, ART takes its trajectories."""

import json
import os
import sys

os.environ["CUDA_VISIBLE_DEVICES"] = ""
trl_file, art_file, folder = sys.argv[1:4]

from datasets import load_dataset

rows = load_dataset("json", data_files=trl_file, split="train", cache_dir=folder)
told = {
    "rows": [[row["label"], row["reward"], row["completion"][0]["content"], row["prompt"][-1]["role"]] for row in rows]
}


def train() -> float:
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast
    from trl import KTOConfig, KTOTrainer

    words = sorted({word for row in rows for word in json.dumps(row).replace('"', " ").split()})
    vocabulary = {word: at for at, word in enumerate(["<unk>", "<pad>", "<eos>", *words])}
    inner = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    inner.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=inner, unk_token="<unk>", pad_token="<pad>", eos_token="<eos>", bos_token="<eos>"
    )
    tokenizer.chat_template = (
        "{% for message in messages %}{{ message['role'] + ' : ' + (message['content'] or '') + ' <eos> ' }}{% endfor %}"
        "{% if add_generation_prompt %}{{ 'assistant : ' }}{% endif %}"
    )
    shape = GPT2Config(vocab_size=len(vocabulary), n_positions=512, n_embd=16, n_layer=1, n_head=2)
    model = os.path.join(folder, "model")
    GPT2LMHeadModel(shape).save_pretrained(model)
    trainer = KTOTrainer(
        model=GPT2LMHeadModel.from_pretrained(model),
        args=KTOConfig(
            output_dir=folder, max_steps=1, per_device_train_batch_size=2, report_to=[], use_cpu=True, bf16=False
        ),
        train_dataset=rows,
        processing_class=tokenizer,
    )
    return trainer.train().training_loss


def trajectories() -> list:
    import art

    with open(art_file) as lines:
        return [art.Trajectory.model_validate_json(line).reward for line in lines if line.strip()]


for name, read in [("loss", train), ("art", trajectories)]:
    try:
        told[name] = read()
    except ImportError:
        pass
print(json.dumps(told))
