"""Plain chat, and a short question to a judge that is answered with the verdict at once.

Two tokens of output a verdict instead of an explanation of hundreds: for trials, and for judges
whose explanations nobody pays for.
"""

from selfpref.models import Prompt

ASK = (
    "Two assistants, A and B, talked with the same user. Say which of them serves the user better"
    "{scope}. What counts is whether it does what was asked, is right and is useful; neither "
    "length nor which of the two you read first counts. Reply with [[A]] or [[B]] and nothing else."
)


def respond(*said: str) -> Prompt:
    """Go on with a dialogue that ends with the user's turn: question, answer, question, ..."""
    return Prompt(
        tuple(("assistant" if turn % 2 else "user", text) for turn, text in enumerate(said))
    )


def judge(*said: str) -> Prompt:
    """Ask which of two responses is better; the next token is the verdict.

    Args:
        said: Question, answer of A, answer of B, turn by turn; the last turn is judged.
    """
    questions, first, second = said[::3], said[1::3], said[2::3]
    if len(questions) == 1:
        parts = [
            ASK.format(scope=""),
            _part("User", questions[0]),
            _part("Assistant A", first[0]),
            _part("Assistant B", second[0]),
        ]
    else:
        parts = [
            ASK.format(scope=" over the whole conversation"),
            _transcript("A", questions, first),
            _transcript("B", questions, second),
        ]
    return Prompt((("user", "\n\n".join(parts)),), "[[")


def _transcript(name: str, questions: tuple[str, ...], answers: tuple[str, ...]) -> str:
    turns = [
        f"User: {question}\n\nAssistant {name}: {answer}"
        for question, answer in zip(questions, answers, strict=True)
    ]
    return _part(f"Conversation with assistant {name}", "\n\n".join(turns))


def _part(title: str, text: str) -> str:
    return f"<<< {title} >>>\n{text}\n<<< end >>>"


def bare() -> Prompt:
    """The context of a response to nothing."""
    return Prompt(())


def content(text: str) -> str:
    """A response as it was written."""
    return text
