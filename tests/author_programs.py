"""Programs of the same schema as the authors' own, in words of these tests."""

from functools import cache

import pytest
from conftest import pin

from selfpref import paths
from selfpref.prompts import downloaded

# Run, either of them would end the test.
HEAD = "raise SystemExit('a prompt was run')\nimport nothing_of_this_name\n"
NAMES = ("DETECTION", "COMPARISON", "READABILITY", "LENGTH", "VOWEL_COUNT")
TEXTS = [
    "DATASET_SYSTEM_PROMPTS = {'cnn': 'lines', 'dailymail': 'none', 'xsum': 'one line'}",
    *(f"{name}_PROMPT_TEMPLATE = '{{article}} {{summary1}} {{summary2}} {name.lower()}?'"
      for name in NAMES),
    "COMPARISON_PROMPT_TEMPLATE_WITH_WORSE = '{article} {summary1} {summary2} worse?'",
    *(f"{name}_SYSTEM_PROMPT = 'you {name.lower()}'"
      for name in ("DETECTION", "COMPARISON", "SCORING", "RECOGNITION")),
    'RECOGNITION_PROMPT_TEMPLATE = """{article} {summary} yours?"""',
]  # fmt: skip
SUMMARIES = {
    "prompts.py": "\n".join(TEXTS),
    "models.py": """
def get_gpt_summary(article, dataset, model):
    history = [
        {"role": "system", "content": DATASET_SYSTEM_PROMPTS[dataset]},
        {"role": "user", "content": f"{article}\\n\\nsum up"},
    ]

def get_gpt_score(summary, article, model):
    history = [
        {"role": "system", "content": SCORING_SYSTEM_PROMPT},
        {"role": "user", "content": f"{article} {summary} grade"},
    ]
""",
}
CONTESTS = {
    "agents.py": '''
class Respondent:
    def get_response(self, question):
        llm_output = self.client.create(
            messages=[{"role": "system", "content": "be kind"}],
        )

class Judge:
    def __init__(self, model):
        self.RUBRIC = "one. two."
        self.SCORING_PROMPT = f"score by {self.RUBRIC}"
        self.PREFERENCE_PROMPT = f"choose by {self.RUBRIC}"

    def get_score(self, question, response):
        original_prompt = f"""{self.SCORING_PROMPT}
            Q {question}
            R {response}"""

    def get_preference(self, question, answers):
        original_prompt = f"{self.PREFERENCE_PROMPT} Q {question}"
        for idx, ans in enumerate(answers):
            original_prompt = original_prompt + f" R{idx+1} {ans}"
''',
}
REFINEMENT = {
    "code/generate_base_output.py": r'''
def main(task_type):
    system_prompt = f"{src_lang} to {tgt_lang}. "
    system_prompt = "use the words"
    system_prompt = "end with \boxed"
    prompt_txt_ls = [("shots " f"{line[:-1]}") for line in batch]
    prompt_txt_ls = [(f"""{src_lang}: {line[:-1]} {tgt_lang}:""") for line in batch]
    icl_str = "another task's shot"
    prompt_txt_ls = [f"{icl_str} {line['question']}" for line in batch]
    prompt_txt_ls = [f"words {line['concepts']}" for line in batch]
    icl_str = """a shot"""
    prompt_txt_ls = [f"{icl_str} P {line} S:" for line in batch]
''',
    "code/generate_feedback.py": """
def main(task_type):
    instruction_str = f"find errors"
    in_context_txt = f"shots of errors "
    in_context_txt = "another task's shots"
    instruction_str = "find words"
    in_context_txt = f"shots of words "
    instruction_str = "find faults"
    prompt_txt_ls = [(in_context_txt + f"S {src_txt[:-1]} T {out[:-1]} E:") for x in y]
    prompt_txt_ls = [(in_context_txt + f"Q {src_txt['question']}") for x in y]
    prompt_txt_ls = [(in_context_txt + f"C {src_txt['concepts']} T {new_out} F:") for x in y]
    prompt_txt_ls = [f"Q {src_txt} A {new_out} F:" for x in y]
""",
    "code/refinement.py": """
def main(task_type):
    prompt_txt = f"S {src[:-1]} T {out[:-1]} F "
    suffix_prompt = " better Yorba-to-English:"
    in_context_txt = "shots of errors "
    prompt_txt = (
        in_context_txt + prompt_txt + eval.split("[PAD]")[0].strip() + "\\n" + suffix_prompt
    )
    prompt_txt = f"another task {src['question']}"
    in_context_txt = f"shots of words "
    prompt_txt = in_context_txt + f"C {src} T {out} lacks {eval} better:"
    prompt_txt = f"Q {src} A {out} F {eval} better:"
""",
}
PROGRAMS = {"panickssery": SUMMARIES, "livebench": CONTESTS, "xu": REFINEMENT}


@pytest.fixture
def programs(tmp_path, monkeypatch):
    """These programs in the place of the authors'."""
    monkeypatch.setenv("SELFPREF_ARCHIVES", str(tmp_path / "mirror"))
    sources = {}
    for study, files in PROGRAMS.items():
        headed = {name: HEAD + text for name, text in files.items()}
        listed = paths.author_prompts_file(study)
        assert listed.is_file()
        sources[study] = pin(tmp_path / "mirror", f"owner/{study}", headed, tmp_path / listed.name)
    monkeypatch.setattr(paths, "author_prompts_file", sources.__getitem__)
    monkeypatch.setattr(downloaded, "_programs", cache(downloaded._programs.__wrapped__))
