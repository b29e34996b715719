"""What MetaClaw 0.4.1 puts into a prompt, by its own code: python3 metaclaw.py WHEEL_FOLDER < persons.json > answers.json

WHEEL_FOLDER: the unpacked wheel of aiming-metaclaw. In: [{"sessions": [{"id", "turns": [{"prompt", "reply"}]}], "questions": []}],
and where they are known "lessons": [{"name", "description", "content"}], and the "most" skills of an answer.
Out, for each person: {"skills": [text], "memory": [text]}, a text for each question.

Skills: each lesson is a skill file, or each message that was typed, as if a model had written it down word for word; found by
keywords, at most six unless "most" says otherwise.
Memory: what its patterns extract from the sessions, without a model; at most 24 units.
"""
import json
import logging
import pathlib
import sys
import tempfile
import types

logging.disable(logging.CRITICAL)
root = pathlib.Path(sys.argv[1]) / "metaclaw"
# The package itself imports a training stack that none of this needs.
package = types.ModuleType("metaclaw")
package.__path__ = [str(root)]
sys.modules["metaclaw"] = package

from metaclaw.memory.manager import MemoryManager  # noqa: E402
from metaclaw.memory.policy import MemoryPolicy  # noqa: E402
from metaclaw.memory.store import MemoryStore  # noqa: E402
from metaclaw.skill_manager import SkillManager  # noqa: E402

SKILLS = 6
UNITS = 24
ROOM = 3000


def write_skill(folder, number, lesson):
    line = " ".join(lesson["description"].split())
    place = folder / f"s{number:05d}"
    place.mkdir()
    head = f"---\nname: {lesson['name']}\ndescription: {line}\ncategory: general\n---\n"
    (place / "SKILL.md").write_text(f"{head}\n{lesson['content']}\n", encoding="utf-8")


def answer(person, folder):
    skills_folder = folder / "skills"
    skills_folder.mkdir()
    typed = [turn["prompt"] for session in person["sessions"] for turn in session["turns"]]
    said = [{"name": f"s{number:05d}", "description": text, "content": text} for number, text in enumerate(typed)]
    for number, lesson in enumerate(person.get("lessons", said)):
        write_skill(skills_folder, number, lesson)
    skills = SkillManager(str(skills_folder))
    policy = MemoryPolicy()
    policy.max_injected_units = UNITS
    policy.max_injected_tokens = ROOM
    memory = MemoryManager(MemoryStore(str(folder / "memory.db")), policy=policy, retrieval_mode="hybrid")
    for session in person["sessions"]:
        turns = [{"prompt_text": turn["prompt"], "response_text": turn["reply"]} for turn in session["turns"]]
        memory.ingest_session_turns(session["id"], turns)
    found = {"skills": [], "memory": []}
    for question in person["questions"]:
        found["skills"].append(skills.format_for_conversation(skills.retrieve_relevant(question, person.get("most", SKILLS))))
        found["memory"].append(memory.render_for_prompt(memory.retrieve_for_prompt(question)))
    return found


answers = []
for person in json.load(sys.stdin):
    with tempfile.TemporaryDirectory() as name:
        answers.append(answer(person, pathlib.Path(name)))
json.dump(answers, sys.stdout)
