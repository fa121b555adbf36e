"""Writes test/fixtures/family-tokenizers.json: what Python's tokenizers and transformers make of tokenizers and templates of published shapes.

    python bench/peers/family_tokenizers.py test/fixtures
"""

import json
import sys
from pathlib import Path

import tokenizers
import transformers
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import PreTrainedTokenizerFast

CORPUS = [
    "The quick brown fox booked a table for two people at seven in the evening, and they're happy.",
    "Book a room in Oslo for 2024; it's 12345 kroner! the tool returned the room, the table and the price.",
    "function name description parameters properties type object string integer required city rooms",
    "你好，世界。 Grüße, naïve café. The weather in Oslo is fine.  \n\n  indented\n",
] * 3
TEXTS = [
    "They're here, aren't THEY? WE'LL see", "in 12345 days: 7 8, 90", "e\u0301 cafe\u0301 naïve 你好，世界", "a  b   c\n\n\n  d \t e\r\n f ",
    "function(x){return x+1;} // the end .", "🙂👩‍👩‍👧 ok", "roomstable the  table", " leading and trailing ", "to Bergen, Bergen",
]  # fmt: skip
# The split of Qwen/Qwen3-0.6B and meta-llama/Llama-3.1-8B-Instruct, which differ in how many digits stay together.
SPLIT = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}%s| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
DAY = "26 Jul 2024"

BOOK = {
    "type": "function",
    "function": {
        "name": "Book",
        "description": "Book a <room>",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string", "enum": ["Oslo", "Århus"]}, "rooms": {"type": "integer", "default": 1}},
            "required": ["city"],
        },
    },
}
ARGUMENTS = {"city": "Oslo", "rooms": 2, "note": 'it\'s "fine"', "nested": {"list": [1, 2.5, None, True]}}


def conversations(arguments, words):
    """Arguments are an object where Python's libraries read them, and text on the wire; an answer that only calls has `words`."""
    calls = [{"id": "c1", "type": "function", "function": {"name": "Book", "arguments": arguments}}]
    system, user = {"role": "system", "content": "Be brief."}, lambda text: {"role": "user", "content": text}
    call = {"role": "assistant", "content": words, "tool_calls": calls}
    tool = lambda text: {"role": "tool", "content": text, "tool_call_id": "c1"}
    says = lambda text: {"role": "assistant", "content": text}
    return {
        "a question": ([user("  Book Oslo ")], None),
        "instructions, an answer and a question": ([system, user("Hi"), says("Hello, you're in Oslo."), user("Book 2 rooms")], None),
        "a call and its result": (
            [system, user("Book Oslo"), call, tool('{"ok": true}'), says("Done."), user("Thanks"), call, tool("full")],
            [BOOK],
        ),
        "thoughts of answers": (
            [
                user("Hi"),
                says("<think>\nA greeting.\n</think>\n\nHello."),
                user("Book Oslo"),
                {**call, "content": "<think>\n\nOslo\n</think>\n\n"},
                tool("full"),
                says("Bare</think>\nFull."),
            ],
            [BOOK],
        ),
    }


def train(digits, normalizer, trim_offsets):
    tokenizer = Tokenizer(models.BPE())
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False, trim_offsets=trim_offsets, use_regex=False)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(SPLIT % digits), "isolated"), byte_level])
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer.train_from_iterator(CORPUS, trainers.BpeTrainer(vocab_size=400, initial_alphabet=alphabet, show_progress=False))
    return tokenizer


def qwen():
    tokenizer = train("", normalizers.NFC(), trim_offsets=False)
    for literal in ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|vision_pad|>"]:
        tokenizer.add_special_tokens([AddedToken(literal, special=True, normalized=False)])
    for name in ["tool_call", "tool_response", "think"]:
        for literal in [f"<{name}>", f"</{name}>"]:
            tokenizer.add_tokens([AddedToken(literal, special=False, normalized=False)])
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    config = dict(tokenizer_class="Qwen2Tokenizer", bos_token=None, eos_token="<|im_end|>", pad_token="<|endoftext|>", unk_token=None,
                  add_bos_token=False, add_prefix_space=False, clean_up_tokenization_spaces=False, split_special_tokens=False,
                  errors="replace", model_max_length=131072)  # fmt: skip
    return json.loads(tokenizer.to_str()), config


def llama():
    tokenizer = train("{1,3}", None, trim_offsets=True)
    literals = ["begin_of_text", "end_of_text", "reserved_special_token_0", "start_header_id", "end_header_id", "eot_id", "python_tag",
                "reserved_special_token_1", "reserved_special_token_10"]  # fmt: skip
    content = json.loads(tokenizer.to_str())
    content["model"]["ignore_merges"] = True
    content["model"]["vocab"]["ĠBergen"] = 400  # no merges build it: it is taken whole
    content["model"]["merges"] = [" ".join(merge) for merge in content["model"]["merges"]]  # the older form
    tokenizer = Tokenizer.from_str(json.dumps(content))
    tokenizer.add_special_tokens([AddedToken(f"<|{literal}|>", special=True, normalized=False) for literal in literals])
    begin = "<|begin_of_text|>"
    template = processors.TemplateProcessing(
        single=f"{begin} $A", pair=f"{begin} $A {begin}:1 $B:1", special_tokens=[(begin, tokenizer.token_to_id(begin))]
    )
    tokenizer.post_processor = processors.Sequence([processors.ByteLevel(trim_offsets=False), template])
    made = json.loads(tokenizer.to_str())
    made["model"]["merges"] = content["model"]["merges"]
    config = dict(tokenizer_class="PreTrainedTokenizerFast", bos_token=begin, eos_token="<|eot_id|>", clean_up_tokenization_spaces=True,
                  model_input_names=["input_ids", "attention_mask"], model_max_length=131072)  # fmt: skip
    return made, config


def family(content, config, template):
    tokenizer = Tokenizer.from_str(json.dumps(content))
    named = {key: value for key, value in config.items() if key.endswith("_token") and isinstance(value, str)}
    chat = PreTrainedTokenizerFast(tokenizer_object=tokenizer, chat_template=template, **named)
    encode = lambda text: tokenizer.encode(text, add_special_tokens=False).ids
    wire = conversations(json.dumps(ARGUMENTS), None)
    cases = []
    for what, (messages, tools) in conversations(ARGUMENTS, "").items():
        for opens in (True, False):
            text = chat.apply_chat_template(messages, tools=tools, add_generation_prompt=opens, tokenize=False, date_string=DAY)
            cases.append(dict(what=what, messages=wire[what][0], tools=tools, addGenerationPrompt=opens, text=text, ids=encode(text)))
    return dict(tokenizer=content, config=config, texts=[dict(text=text, ids=encode(text)) for text in TEXTS], conversations=cases)


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    made = {
        name: family(*make(), (folder / f"templates/{name}.jinja").read_text()) for name, make in {"qwen": qwen, "llama": llama}.items()
    }
    origin = f"bench/peers/family_tokenizers.py, tokenizers {tokenizers.__version__}, transformers {transformers.__version__}"
    text = json.dumps(dict(origin=origin, **made), ensure_ascii=False, separators=(",", ":"))
    (folder / "family-tokenizers.json").write_text(text)
