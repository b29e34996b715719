"""Makes a Qwen3 so small that two cores train it, with random weights and one token for each word.

    python tiny_model.py FOLDER

Needs torch, transformers and tokenizers.
"""

import sys

import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM

WORDS = 32

folder = sys.argv[1]
torch.manual_seed(0)
words = Tokenizer(models.WordLevel({f"w{i}": i for i in range(WORDS)}, unk_token="w0"))
words.pre_tokenizer = pre_tokenizers.Whitespace()
tokenizer = PreTrainedTokenizerFast(tokenizer_object=words, unk_token="w0", eos_token="w1", pad_token="w0")
tokenizer.save_pretrained(folder)
model = Qwen3ForCausalLM(
    Qwen3Config(
        vocab_size=WORDS,
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=16,
        max_position_embeddings=512,
        tie_word_embeddings=False,
        pad_token_id=0,
        eos_token_id=1,
        bos_token_id=2,
        dtype="float32",
        # As wide as the layers are. With the usual 0.02 and a head that is not trained, no word can become likelier than one in nine.
        initializer_range=0.125,
    )
).float()
model.save_pretrained(folder)
print(f"{sum(p.numel() for p in model.parameters()):,} parameters")
